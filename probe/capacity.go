package probe

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/sock"
	"github.com/pathwise-net/pathwise/stat"
)

// Capacity measures the capacity of the narrowest link on the way to, or from, a Pathwise responder, by the dispersion
// of packet trains: datagrams that leave back to back arrive spaced by the time that the narrowest link takes for
// each (Dovrolis, Ramanathan, Moore, "Packet-Dispersion Techniques and a Capacity-Estimation Methodology", 2004).
// Capacity is of the IP layer. Other traffic in between makes it come out low, and so does a sender that cannot send
// faster than the path: it is then the sender's.
type Capacity struct {
	Target  string
	Family  sock.Family // zero: the first of the target's addresses that answers, as RFC 8305 orders
	Port    int         // 0: iperf3's, 5201
	Reverse bool        // from Target to this host
	Length  int         // bytes of UDP payload in each packet; 0: what fits an Ethernet packet of either family

	Cookie string // as in iperf3.Config
}

// Validate reports the first parameter that cannot be.
func (p *Capacity) Validate() error {
	return firstError(checkTarget(p.Target, p.Family), checkRange("port", p.Port, 0, 65535), checkRange("length", p.Length, 0, trainPayload))
}

// ErrNoTrains means that the target does not report when packets arrived, as only a Pathwise responder does.
var ErrNoTrains = errors.New("the target does not report packet trains; run `pathwise respond` there")

// The trains. A first, short set finds the order of magnitude: 32 packets spread over 0.4 s at 1 Mbit/s. Where that
// is soon over, longer trains follow, so that the receiver's own lateness of tens of microseconds is small beside
// the dispersion: 256 packets take 3 ms at 1 Gbit/s.
var (
	shortTrains = iperf3.Train{Packets: 32, Size: trainPayload, Trains: 5, Gap: 0.05}
	longTrains  = iperf3.Train{Packets: 256, Size: trainPayload, Trains: 5, Gap: 0.05}
)

const (
	trainPayload = 1452 // bytes: with UDP and IPv6 headers the MTU of Ethernet, so that neither family fragments it
	// leastTrainPayload is room for what iperf3 writes into a datagram: when it left, and its number.
	leastTrainPayload = 16
	// longAbove is the rate in bit/s above which a short train is over within 40 ms.
	longAbove = 10e6
)

// Do makes the measurement.
func (p *Capacity) Do(ctx context.Context) (*measure.Result, error) {
	r := newResult("capacity", p.Target)
	r.Parameters = recorded(capacityFields(), p)
	r.Way = measure.WayOf(r.Kind, r.Parameters)
	err := p.run(ctx, r, shortTrains)
	if r.Metrics[measure.Capacity] > longAbove && err == nil {
		err = p.run(ctx, r, longTrains)
	}
	r.DurationSeconds = time.Since(r.Started).Seconds()
	r.Fail(err)
	return r, err
}

// run sends one set of trains and replaces what the Result holds with what it showed.
func (p *Capacity) run(ctx context.Context, r *measure.Result, train iperf3.Train) error {
	setDefault(&p.Length, trainPayload)
	train.Size = p.Length
	report, err := runIperf3(ctx, p.Target, p.Family, p.Port, iperf3.Config{Proto: iperf3.UDP, Reverse: p.Reverse, Train: &train, Cookie: p.Cookie})
	r.TargetClock = cmp.Or(peerClock(report), r.TargetClock) // the first set's, if the second did not get as far
	if err != nil {
		return err
	}
	r.Source.Address, r.Target.Address = report.Local.Addr().String(), report.Remote.Addr().String()
	if report.Peer == nil { // a stock server that sends takes no notice of the trains
		return ErrNoTrains
	}
	packet := train.Size + udpHeader + ipHeader(report.Remote.Addr())
	r.Samples.Trains = dispersions(report.Arrivals, train, packet)
	maps.Copy(r.Parameters, map[string]any{"packets": train.Packets, "trains": train.Trains, "size": packet})
	delete(r.Metrics, measure.Capacity)
	capacity, ok := capacityOf(r.Samples.Trains)
	if !ok {
		return errTrainsLost
	}
	r.Metrics[measure.Capacity] = capacity
	return nil
}

// errTrainsLost means that no train tells how fast the narrowest link is.
var errTrainsLost = errors.New("too few packets of the trains arrived to tell the capacity, as before a short queue or a limit on bursts")

// dispersions works out each train from the arrivals, pairs of sequence number (from 1) and nanoseconds; packet is the size of
// one in bytes, at the IP layer. What arrived over a span of a train, over the time it took, is the rate of the narrowest link,
// lost packets or not, as long as the link was busy. The span is a quarter of the train, and of all such spans the median is
// taken: where the receiver, or anything on the way, stops for a moment and then hands on at once what has gathered, most spans
// do not see it.
func dispersions(arrivals [][2]int64, train iperf3.Train, packet int) []measure.Train {
	out := make([]measure.Train, train.Trains)
	times := make([][]int64, train.Trains)
	for _, a := range arrivals {
		if k := (a[0] - 1) / int64(train.Packets); a[0] >= 1 && k < int64(train.Trains) {
			times[k] = append(times[k], a[1])
		}
	}
	for k, at := range times {
		out[k] = measure.Train{SentPackets: train.Packets, ReceivedPackets: len(at)}
		if len(at) < leastArrivals {
			continue
		}
		slices.Sort(at)
		out[k].DispersionSeconds = float64(at[len(at)-1]-at[0]) / 1e9
		quarter := max(1, len(at)/4)
		var spans []float64
		for i := quarter; i < len(at); i++ {
			spans = append(spans, float64(at[i]-at[i-quarter])/1e9)
		}
		if typical := stat.Summarize(spans).Median; typical > 0 && busyThroughout(out[k], typical/float64(quarter)) {
			out[k].BitsPerSecond = float64(quarter) * float64(packet) * 8 / typical
		}
	}
	return out
}

// leastArrivals is how many packets must arrive to tell the rate at which they came: a quarter of a short train.
const leastArrivals = 8

// busyThroughout reports whether the narrowest link was busy from a train's first arrival to its last, as it is where the rest
// was lost before a full queue: the whole train then came as slowly as its parts, gap being the typical time from one packet
// to the next. A limit on bursts lets a train's head pass as it comes, and single packets after that. Of a train that lost few
// packets nothing like that can be said, and it may be a receiver that stopped for a moment.
func busyThroughout(t measure.Train, gap float64) bool {
	if float64(t.SentPackets-t.ReceivedPackets) <= fewLost*float64(t.SentPackets) {
		return true
	}
	return t.DispersionSeconds <= mostIdle*gap*float64(t.ReceivedPackets-1)
}

const (
	fewLost  = 0.1 // of a train: errors on a link lose fewer
	mostIdle = 1.5 // times what the packets take on the link
)

// capacityOf is the median of the trains: other traffic makes a train slow, a receiver that stalls may make it fast.
func capacityOf(trains []measure.Train) (float64, bool) {
	var rates []float64
	for _, t := range trains {
		if t.BitsPerSecond > 0 {
			rates = append(rates, t.BitsPerSecond)
		}
	}
	if len(rates) == 0 {
		return 0, false
	}
	return stat.Summarize(rates).Median, true
}
