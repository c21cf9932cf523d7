package probe

import (
	"cmp"
	"errors"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/stat"
)

// dispersions works out each train from the arrivals; packet is the size of one in bytes, at the IP layer. What arrived over a
// span of a train, over the time it took, is the rate of the narrowest link, lost packets or not, as long as the link was busy
// throughout: see instants. Of all such spans the median is taken: where the receiver, or anything on the way, stops for a moment
// and then hands on at once what has gathered, most spans do not see it.
func dispersions(arrivals []iperf3.Arrival, train iperf3.Train, packet int) []measure.Train {
	out := make([]measure.Train, train.Trains)
	times := make([][]iperf3.Arrival, train.Trains)
	for _, a := range arrivals {
		if k := (a.Sequence - 1) / int64(train.Packets); a.Sequence >= 1 && k < int64(train.Trains) {
			times[k] = append(times[k], a)
		}
	}
	least := leastTransit(arrivals)
	for k, at := range times {
		out[k] = measure.Train{SentPackets: train.Packets, ReceivedPackets: len(at)}
		if len(at) < min(leastArrivals, train.Packets) {
			continue
		}
		slices.SortFunc(at, func(a, b iperf3.Arrival) int { return cmp.Compare(a.At, b.At) })
		out[k].DispersionSeconds = float64(at[len(at)-1].At-at[0].At) / 1e9
		if gap := typicalGap(instants(at, least), len(at)); gap > 0 && busyThroughout(out[k], gap, at) {
			out[k].BitsPerSecond = float64(packet) * 8 / gap
		}
	}
	return out
}

// leastArrivals is how many packets must arrive to tell the rate at which they came: a quarter of a short train. Of shorter ones all must.
const leastArrivals = 8

// leastTransit is the time that the fastest packet took, in ns plus what the clocks of the two ends differ by. Packets whose
// sender did not say when they left all seem to leave at once, so that this is the time of the first.
func leastTransit(arrivals []iperf3.Arrival) int64 {
	if len(arrivals) == 0 {
		return 0
	}
	first := slices.MinFunc(arrivals, func(a, b iperf3.Arrival) int { return cmp.Compare(a.At-a.Sent, b.At-b.Sent) })
	return first.At - first.Sent
}

// instant is when packets arrived: one, or several that were handed over at once.
type instant struct {
	at      int64 // ns
	packets int   // that arrived then
	sum     int   // of the train that have arrived by then
	queued  bool  // these came right behind those before them
}

// instants are the arrivals of a train, in order of time. Packets queued if they left so early that they could have been here
// before the ones ahead of them: something held them up until those were through. What did not queue tells when it was sent, and
// nothing about the link.
func instants(train []iperf3.Arrival, leastTransit int64) (all []instant) {
	for i, a := range train {
		if i > 0 && a.At == train[i-1].At {
			all[len(all)-1].packets++
			all[len(all)-1].sum++
			continue
		}
		all = append(all, instant{a.At, 1, i + 1, i > 0 && a.Sent+leastTransit <= train[i-1].At})
	}
	return all
}

// typicalGap is the time from one packet to the next at the narrowest link, in seconds, by the longest spans of which there are
// enough in which all packets queued; 0: there are not.
func typicalGap(all []instant, packets int) float64 {
	quarter := max(1, packets/4)
	for span := quarter; span >= min(quarter, leastSpan); span /= 2 {
		var gaps []float64
		begun := 0 // packets with which a span begins
		for from, to := 0, 0; to < len(all); {
			switch {
			case !all[to].queued: // no span reaches across it
				from, to = to, to+1
			case all[to].sum-all[from].sum < span:
				to++
			default:
				gaps = append(gaps, float64(all[to].at-all[from].at)/1e9/float64(all[to].sum-all[from].sum))
				begun += all[from].packets
				from++
			}
		}
		if begun >= span {
			return stat.Summarize(gaps).Median
		}
	}
	return 0
}

// leastSpan is the shortest span of a long train, in packets: receivers are late by tens of microseconds, and so are its ends.
const leastSpan = 16

// busyThroughout reports whether the narrowest link was busy from a train's first arrival to its last, as it is where the rest
// was lost before a full queue: the whole train then came as slowly as its parts, gap being the typical time from one packet
// to the next. A limit on bursts lets a train's head pass as it comes, and single packets after that. Of a train that lost few
// packets nothing like that can be said, and it may be a receiver that stopped for a moment. The last of the arrivals, which are in
// order of time, are left out: some packets may have come another, longer way.
func busyThroughout(t measure.Train, gap float64, arrivals []iperf3.Arrival) bool {
	if float64(t.SentPackets-t.ReceivedPackets) <= fewLost*float64(t.SentPackets) {
		return true
	}
	last := len(arrivals) - 1 - int(fewLate*float64(len(arrivals)))
	return float64(arrivals[last].At-arrivals[0].At)/1e9 <= mostIdle*gap*float64(last)
}

const (
	fewLost  = 0.1  // of a train: errors on a link lose fewer
	fewLate  = 0.03 // of what arrived; of the 30 or so that a limit on bursts lets pass, none
	mostIdle = 1.5  // times what the packets take on the link
)

// errTrainsLost and errTrainsSlow mean that no train tells how fast the narrowest link is.
var (
	errTrainsLost = errors.New("too few packets of the trains arrived to tell the capacity, as before a short queue or a limit on bursts")
	errTrainsSlow = errors.New("the path passed the trains on as fast as they were sent: " +
		"the sender is too slow, or too busy, to tell the capacity")
)

// capacityOf is the median of the trains: other traffic makes a train slow, a receiver that stalls may make it fast. One train
// alone is not believed.
func capacityOf(trains []measure.Train) (float64, error) {
	var rates []float64
	whole := 0
	for _, t := range trains {
		if t.BitsPerSecond > 0 {
			rates = append(rates, t.BitsPerSecond)
		}
		if t.ReceivedPackets >= min(leastArrivals, t.SentPackets) && float64(t.SentPackets-t.ReceivedPackets) <= fewLost*float64(t.SentPackets) {
			whole++
		}
	}
	switch {
	case len(rates) >= max(1, min(2, len(trains))):
		return stat.Summarize(rates).Median, nil
	case whole > len(trains)/2:
		return 0, errTrainsSlow
	default:
		return 0, errTrainsLost
	}
}
