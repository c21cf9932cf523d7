package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pathwise-net/pathwise/analysis/dispersion"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/sock"
)

// Capacity measures the capacity of the narrowest link on the way to, or from, a Pathwise responder, by the dispersion of pairs and trains of
// packets: datagrams that leave back to back arrive spaced by the time that the narrowest link takes for each. With Available it
// measures what other traffic leaves free, too, by streams that load the path. How that is done, and what it cannot tell, is in package
// analysis/dispersion; here is what sends and receives. Rates are of the IP layer.
type Capacity struct {
	Target    string
	Family    sock.Family // zero: the first of the target's addresses that answers, as RFC 8305 orders
	Port      int         // 0: iperf3's, 5201
	Reverse   bool        // from Target to this host
	Length    int         // bytes of UDP payload in each packet; 0: what fits an Ethernet packet of either family
	Small     int         // of every second packet, to see whether small ones overtake; 0: all are of Length. Such trains tell no capacity
	Available bool        // what is free, too
	Light     bool        // capacity, and what is free, as well as a second allows
	Brief     bool        // by no more trains than tell, where they agree
	Hops      bool        // in place of all that, what each link on the way can carry: see capacity_hops.go

	Cookie string            // as in iperf3.Config
	Say    func(line string) // called with what is sent next, from the goroutine of Do; may be nil
}

// Validate reports the first parameter that cannot be.
func (p *Capacity) Validate() error {
	return cmp.Or(p.checkHops(), checkTarget(p.Target, p.Family), checkRange("port", p.Port, 0, 65535), checkRange("length", p.Length, 0, trainPayload),
		checkRange("small", p.Small, 0, cmp.Or(p.Length, trainPayload)))
}

// ErrNoTrains means that the target does not report when packets arrived, as only a Pathwise responder does.
var ErrNoTrains = errors.New("the target does not report packet trains; run `pathwise respond` there")

const (
	trainPayload = 1452 // bytes: with UDP and IPv6 headers the MTU of Ethernet, so that neither family fragments it
	// leastTrainPayload is room for what iperf3 writes into a datagram: when it left, and its number.
	leastTrainPayload = 16
	// availableFor is how long a measurement with Available takes at most: 7 s where nothing is odd, and up to four times that where others share a
	// token bucket.
	availableFor = 30 * time.Second
)

// Do makes the measurement.
func (p *Capacity) Do(ctx context.Context) (*measure.Result, error) {
	if p.Hops {
		return measured(ctx, "capacity", p.Target, p.measureHops)
	}
	r, watch := newResult("capacity", p.Target), startWatch()
	setDefault(&p.Length, trainPayload)
	r.Parameters = recorded(capacityFields(), p)
	r.Way = measure.WayOf(r.Kind, r.Parameters)
	run := capacityRun{Capacity: p, result: r, until: time.Now().Add(p.longest())}
	do := run.study
	if p.Small > 0 {
		do = run.mixed
	}
	err := do(ctx)
	watch.stop(r)
	r.Fail(err)
	return r, err
}

// longest is how long the trains and streams may take.
func (p *Capacity) longest() time.Duration {
	if p.Available || p.Light {
		return availableFor
	}
	return capacityFor
}

// goal is what the trains and streams are to tell.
func (p *Capacity) goal() dispersion.Goal {
	return dispersion.Goal{Free: p.Available || p.Light, Light: p.Light, Brief: p.Brief}
}

// segment is the MSS of the control connection: the kernel's choice (0), or, where packets of less than the usual size are asked
// for, such as pass where larger ones vanish, no larger packets than those.
func (p *Capacity) segment() int {
	if p.Length >= trainPayload {
		return 0
	}
	return max(p.Length+udpHeader-model.TCPHeader, leastSegment)
}

// leastSegment is the smallest MSS in bytes that Linux takes (include/net/tcp.h, TCP_MIN_MSS).
const leastSegment = 88

// capacityRun is one measurement under way.
type capacityRun struct {
	*Capacity
	result   *measure.Result
	until    time.Time // no set of trains begins that would not be over by then
	received int       // packets, of all sets
	late     int       // that came behind later ones
}

// study sends what the study of the path asks for, until that knows enough, or time is up.
func (c *capacityRun) study(ctx context.Context) error {
	study := dispersion.Study{Goal: c.goal()}
	for first := true; ; first = false {
		steps := study.Next()
		if !first && time.Now().Add(time.Duration(dispersion.Seconds(steps)*float64(time.Second))).After(c.until) {
			study.Stopped = len(steps) > 0
			break
		}
		if len(steps) == 0 {
			break
		}
		if c.Say != nil {
			c.Say(fmt.Sprintf("%d trains and streams, %.1f s", len(steps), dispersion.Seconds(steps)))
		}
		report, err := c.send(ctx, iperf3.StepTrain(c.Length, trainSteps(steps)))
		if err != nil {
			return err
		}
		study.Size = c.Length + udpHeader + ipHeader(report.Remote.Addr())
		study.Add(trainsOf(report.Arrivals, steps, study.Size))
		if c.Reverse && !report.Peer.Steps {
			c.result.Note("the responder is older than this program, and sent one train alone; update it")
			break
		}
	}
	return c.reduce(&study)
}

// mixed sends large and small packets in turn, and counts what came behind later ones.
func (c *capacityRun) mixed(ctx context.Context) error {
	_, err := c.send(ctx, iperf3.Train{Packets: 32, Size: c.Length, Small: c.Small, Trains: 5, Gap: 0.05})
	return err
}

// send sends one set of trains, and counts what came of it.
func (c *capacityRun) send(ctx context.Context, train iperf3.Train) (*iperf3.Report, error) {
	r := c.result
	config := iperf3.Config{Proto: iperf3.UDP, Reverse: c.Reverse, Train: &train, MSS: c.segment(), Cookie: c.Cookie}
	report, err := runIperf3(ctx, c.Target, c.Family, c.Port, config)
	r.TargetClock = cmp.Or(peerClock(report), r.TargetClock) // an earlier set's, if this one did not get as far
	if err != nil {
		return nil, err
	}
	r.Source.Address, r.Target.Address = report.Local.Addr().String(), report.Remote.Addr().String()
	if report.Peer == nil { // a stock server that sends takes no notice of the trains
		return nil, ErrNoTrains
	}
	total := report.Total(string(r.Way))
	c.received, c.late = c.received+len(report.Arrivals), c.late+int(total.Reordered)
	r.Metrics[measure.ReceivedPackets], r.Metrics[measure.ReorderedPackets] = float64(c.received), float64(c.late)
	if c.received > 0 {
		r.Metrics[measure.ReorderingRatio] = float64(c.late) / float64(c.received)
	}
	return report, nil
}

// trainSteps are the steps of a study as iperf3's trains have them.
func trainSteps(steps []dispersion.Step) (all []iperf3.Step) {
	for _, s := range steps {
		all = append(all, iperf3.Step{Packets: s.Packets, Spacing: s.Spacing, Rest: s.Rest})
	}
	return all
}

// trainsOf are what arrived of each step, packets of size bytes at the IP layer. Of copies of a packet the first counts.
func trainsOf(arrivals []iperf3.Arrival, steps []dispersion.Step, size int) []dispersion.Train {
	var of []int // the train of each packet
	all, first := make([]dispersion.Train, len(steps)), make([]int, len(steps))
	for k, s := range steps {
		first[k] = len(of)
		all[k] = dispersion.Train{Sent: s.Packets, Size: size, Paced: s.Spacing > 0}
		for range s.Packets {
			of = append(of, k)
		}
	}
	seen := make([]bool, len(of))
	for _, a := range arrivals {
		i := a.Sequence - 1
		if i < 0 || i >= int64(len(of)) || seen[i] {
			continue
		}
		seen[i] = true
		k := of[i]
		all[k].Packets = append(all[k].Packets, dispersion.Packet{Index: int(i) - first[k], Sent: a.Sent, At: a.At})
	}
	return all
}
