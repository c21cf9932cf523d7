package probe

import (
	"cmp"
	"context"
	"errors"
	"maps"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/sock"
)

// Capacity measures the capacity of the narrowest link on the way to, or from, a Pathwise responder, by the dispersion
// of packet trains: datagrams that leave back to back arrive spaced by the time that the narrowest link takes for
// each (Dovrolis, Ramanathan, Moore, "Packet-Dispersion Techniques and a Capacity-Estimation Methodology", 2004).
// Capacity is of the IP layer. Other traffic in between makes it come out low. A sender that cannot send faster than the
// path gives no capacity.
type Capacity struct {
	Target  string
	Family  sock.Family // zero: the first of the target's addresses that answers, as RFC 8305 orders
	Port    int         // 0: iperf3's, 5201
	Reverse bool        // from Target to this host
	Length  int         // bytes of UDP payload in each packet; 0: what fits an Ethernet packet of either family
	Small   int         // of every second packet, to see whether small ones overtake; 0: all are of Length. Such trains tell no capacity

	Cookie string // as in iperf3.Config
}

// Validate reports the first parameter that cannot be.
func (p *Capacity) Validate() error {
	return cmp.Or(checkTarget(p.Target, p.Family), checkRange("port", p.Port, 0, 65535), checkRange("length", p.Length, 0, trainPayload),
		checkRange("small", p.Small, 0, cmp.Or(p.Length, trainPayload)))
}

// ErrNoTrains means that the target does not report when packets arrived, as only a Pathwise responder does.
var ErrNoTrains = errors.New("the target does not report packet trains; run `pathwise respond` there")

// The trains. A first, short set finds the order of magnitude: 32 packets spread over 0.4 s at 1 Mbit/s. Where that
// is soon over, longer trains follow, so that the receiver's own lateness of tens of microseconds is small beside
// the dispersion: 256 packets take 3 ms at 1 Gbit/s. Where too few of them arrive, as before a queue of some packets, many trains
// follow that such a queue holds.
var (
	shortTrains = iperf3.Train{Packets: 32, Size: trainPayload, Trains: 5, Gap: 0.05}
	longTrains  = iperf3.Train{Packets: 256, Size: trainPayload, Trains: 5, Gap: 0.05}
	headTrains  = iperf3.Train{Packets: 5, Size: trainPayload, Trains: 40, Gap: 0.02}
)

const (
	trainPayload = 1452 // bytes: with UDP and IPv6 headers the MTU of Ethernet, so that neither family fragments it
	// leastTrainPayload is room for what iperf3 writes into a datagram: when it left, and its number.
	leastTrainPayload = 16
	// longAbove is the rate in bit/s above which a short train is over within 40 ms.
	longAbove = 10e6
	// headMost is the most, in bit/s, that so few packets tell: they come 60 µs apart then, and receivers are late by tens of those.
	headMost = 200e6
)

// Do makes the measurement.
func (p *Capacity) Do(ctx context.Context) (*measure.Result, error) {
	r, watch := newResult("capacity", p.Target), startWatch()
	r.Parameters = recorded(capacityFields(), p)
	r.Way = measure.WayOf(r.Kind, r.Parameters)
	if p.Small > 0 {
		err := p.run(ctx, r, shortTrains)
		watch.stop(r)
		r.Fail(err)
		return r, err
	}
	err := p.run(ctx, r, shortTrains)
	if errors.Is(err, errTrainsSlow) || r.Metrics[measure.Capacity] > longAbove && err == nil {
		err = p.run(ctx, r, longTrains)
	}
	if errors.Is(err, errTrainsLost) {
		err = p.tryHeads(ctx, r)
	}
	watch.stop(r)
	r.Fail(err)
	return r, err
}

// tryHeads sends trains that a queue of some packets holds, where longer ones were lost. That these tell nothing either, or too high a
// rate, changes nothing.
func (p *Capacity) tryHeads(ctx context.Context, r *measure.Result) error {
	err := p.run(ctx, r, headTrains)
	if ctx.Err() == nil && (err != nil || r.Metrics[measure.Capacity] > headMost) {
		delete(r.Metrics, measure.Capacity)
		return errTrainsLost
	}
	return err
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

// run sends one set of trains and replaces what the Result holds with what it showed.
func (p *Capacity) run(ctx context.Context, r *measure.Result, train iperf3.Train) error {
	setDefault(&p.Length, trainPayload)
	train.Size, train.Small = p.Length, p.Small
	config := iperf3.Config{Proto: iperf3.UDP, Reverse: p.Reverse, Train: &train, MSS: p.segment(), Cookie: p.Cookie}
	report, err := runIperf3(ctx, p.Target, p.Family, p.Port, config)
	r.TargetClock = cmp.Or(peerClock(report), r.TargetClock) // the first set's, if the second did not get as far
	if err != nil {
		return err
	}
	r.Source.Address, r.Target.Address = report.Local.Addr().String(), report.Remote.Addr().String()
	if report.Peer == nil { // a stock server that sends takes no notice of the trains
		return ErrNoTrains
	}
	total := report.Total(string(r.Way))
	r.Metrics[measure.ReceivedPackets], r.Metrics[measure.ReorderedPackets] = float64(len(report.Arrivals)), float64(total.Reordered)
	if len(report.Arrivals) > 0 {
		r.Metrics[measure.ReorderingRatio] = float64(total.Reordered) / float64(len(report.Arrivals))
	}
	if p.Small > 0 {
		return nil
	}
	packet := train.Size + udpHeader + ipHeader(report.Remote.Addr())
	r.Samples.Trains = dispersions(report.Arrivals, train, packet)
	maps.Copy(r.Parameters, map[string]any{"packets": train.Packets, "trains": train.Trains, "size": packet})
	delete(r.Metrics, measure.Capacity)
	capacity, err := capacityOf(r.Samples.Trains)
	if err == nil {
		r.Metrics[measure.Capacity] = capacity
	}
	return err
}

func capacityKind() Kind {
	return newKind(declaration[Capacity]{
		kind:   Kind{Name: "capacity", Meaning: "capacity of the narrowest link, by packet trains to a Pathwise responder"},
		target: func(p *Capacity) *string { return &p.Target },
		fields: capacityFields(),
	})
}

func capacityFields() []field[Capacity] {
	return []field[Capacity]{
		{Name: "port", Short: "p", Outward: true, Default: "5201", Meaning: "the responder's; a host of a mesh opens one of its own",
			binding: whole(func(p *Capacity) *int { return &p.Port }, 1, 65535)},
		{Name: "reverse", Short: "R", Default: "false", Meaning: "from the target to this host",
			binding: yesOrNo(func(p *Capacity) *bool { return &p.Reverse })},
		{Name: "length", Default: "what fits an Ethernet packet", Meaning: "bytes of UDP payload in each packet of the trains",
			binding: whole(func(p *Capacity) *int { return &p.Length }, leastTrainPayload, trainPayload)},
		{Name: "small", Default: "the same", Meaning: "bytes of every second packet: whether small ones overtake, and no capacity",
			binding: whole(func(p *Capacity) *int { return &p.Small }, leastTrainPayload, trainPayload)},
		familyField(func(p *Capacity) *sock.Family { return &p.Family }),
	}
}

func (p *Capacity) equip(o Options) {
	if r := iperf3Responder(o); r != nil {
		p.Port, p.Cookie = r.Port, r.Secret
	}
}

// resultBytes are those of five trains.
func (p *Capacity) resultBytes() float64 { return 580 }

func (p *Capacity) demand() measure.Demand {
	packets := float64(shortTrains.Packets*shortTrains.Trains + longTrains.Packets*longTrains.Trains + headTrains.Packets*headTrains.Trains)
	return measure.Demand{DurationSeconds: (capacityFor + iperf3Setup).Seconds(), Exclusive: true,
		Bytes:          packets * wire(p.Target, p.Family, udpHeader+trainPayload),
		Responder:      measure.ResponderIperf3,
		ResponderTests: 3, // short trains, then long ones, then the shortest
	}
}
