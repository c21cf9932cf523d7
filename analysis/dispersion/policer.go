package dispersion

import (
	"cmp"
	"math"
	"slices"
)

// What losses of a policer are.
const (
	leastDropped = 5    // packets of streams, so that they are no chance
	droppedEarly = 0.5  // of the wait at the end of short trains, which the queue held
	leastTail    = 0.02 // share of a stream's packets that are lost where a policer holds it
	policedBelow = 0.9  // of the capacity: a policer above that is hardly one
	leastTails   = 4    // streams that one held
	mostShared   = 0.08 // half of the interval of a certain rate, as a share
	bendsLeast   = 0.5  // of the squares that are left without one, which those with one may be
)

// early reports whether streams lost packets while the queue before the link was not full, as before a policer: the packets ahead of those had
// waited less than what the queue is known to hold, by short trains.
func early(shorts, streams []Train) bool {
	var held []float64
	for _, t := range shorts {
		if n := len(t.Packets); n > 2 && n <= shortTrain {
			held = append(held, float64(t.Packets[n-1].delay()))
		}
	}
	waits := lossWaits(streams)
	return len(waits) >= leastDropped && median(waits) < droppedEarly*median(held)
}

// lossWaits are how long packets waited after which one was lost, in ns, for each that was.
func lossWaits(streams []Train) (waits []float64) {
	for _, t := range streams {
		packets := sorted(t)
		for i := 1; i < len(packets); i++ {
			for range packets[i].Index - packets[i-1].Index - 1 {
				waits = append(waits, float64(packets[i-1].delay()))
			}
		}
	}
	return waits
}

// sorted are the packets of a train that arrived, in the order of sending.
func sorted(t Train) []Packet {
	return slices.SortedFunc(slices.Values(t.Packets), func(a, b Packet) int { return cmp.Compare(a.Index, b.Index) })
}

// tail is what came of a stream from its first loss on: a policer's bucket is empty then. head are the packets before.
func tail(t Train) (r Response, head []Packet, ok bool) {
	packets := sorted(t)
	for i := 1; i < len(packets); i++ {
		if packets[i].Index > packets[i-1].Index+1 {
			t.Packets = packets[i-1:]
			r, ok = respond(t)
			return r, packets[:i], ok && r.Lost >= leastTail
		}
	}
	return r, nil, false
}

// throttle is the token bucket that streams show which lost packets, and what others leave of it. Of two rates the higher loses more, and in which
// measure tells what others send through the same bucket, as far as it drops from all alike:
//
//	sent / arrived = (sent + others) / rate
//
// A rate as high as the capacity is that of the link itself. Near, if there are any, are streams about as fast as what is free, which tell that better; of the
// rate the fastest tell most, beside which others get little.
func throttle(capacity float64, shorts, streams, near []Train) (b Bucket, free Estimate) {
	tails := tailsOf(streams)
	rate, others := share(tails)
	if len(tails) < leastTails || rate == 0 || rate > policedBelow*capacity || !bends(capacity, rate, others, tails) {
		return b, free
	}
	b.Drops = early(shorts, streams)
	free = Estimate{BitsPerSecond: math.Max(0, rate-others), Doubt: Few}
	for range 2 { // each is made of the other
		b.Rate = fastest(tails, others)
		if len(near) > 0 {
			free = Available(b.Rate.BitsPerSecond, responses(near))
			others = math.Max(0, b.Rate.BitsPerSecond-free.BitsPerSecond)
		}
	}
	if free.Doubt == "" && b.Rate.Doubt != "" {
		free.Doubt = b.Rate.Doubt
	}
	for _, t := range streams {
		_, head, _ := tail(t)
		if n := len(head); n > 0 {
			passed := float64(n*t.Size) - (b.Rate.BitsPerSecond-others)/8*float64(head[n-1].Sent-head[0].Sent)/1e9
			if !b.Drops { // what waits has not passed
				passed -= b.Rate.BitsPerSecond / 8 * float64(head[n-1].delay()) / 1e9
			}
			b.hold(passed, n)
		}
	}
	return b, free
}

// fastest is the rate of a bucket by the streams that were far above it, between what these got and that with twice the share that others have if
// the bucket takes from all alike.
func fastest(tails []Response, others float64) Estimate {
	top := 0.0
	for _, r := range tails {
		top = max(top, r.Rate)
	}
	var got, all []float64
	one := 0.0 // packet of those that came, as a share
	for _, r := range tails {
		if r.Rate > 0.8*top {
			one = max(one, 1/float64(r.Came))
			out := r.Rate / (1 + r.Strain)
			got, all = append(got, out), append(all, out*(1+others/r.Rate))
		}
	}
	slices.Sort(got)
	e := Estimate{BitsPerSecond: median(all)}
	e.Low, e.High = min(got[0], e.BitsPerSecond)*(1-one), got[len(got)-1]*(1+2*others/top+one)
	if e.width() > mostShared {
		e.Doubt = Shared
	}
	return e
}

// responses are those of streams of which enough arrived.
func responses(streams []Train) (all []Response) {
	for _, t := range streams {
		if r, ok := respond(t); ok {
			all = append(all, r)
		}
	}
	return all
}

// bends reports whether a rate of its own, beside that of others, explains streams much better than the capacity does.
func bends(capacity, rate, others float64, tails []Response) bool {
	mean, weight := 0.0, 0.0
	for _, r := range tails {
		mean, weight = mean+r.Seconds*(capacity*(1+r.Strain)-r.Rate), weight+r.Seconds
	}
	link := math.Max(0, mean/weight) // what others would send if the link alone held the streams
	with, without := 0.0, 0.0
	for _, r := range tails {
		a, b := 1+r.Strain-(r.Rate+others)/rate, 1+r.Strain-(r.Rate+link)/capacity
		with, without = with+r.Seconds*a*a, without+r.Seconds*b*b
	}
	return with < bendsLeast*without
}

// tailsOf are the tails of streams that lost packets.
func tailsOf(streams []Train) (all []Response) {
	for _, t := range streams {
		if r, _, ok := tail(t); ok {
			all = append(all, r)
		}
	}
	return all
}

// between is an estimate with the interval in which 90 % of those by drawing anew are.
func between(value float64, drawn []float64) Estimate {
	slices.Sort(drawn)
	e := Estimate{BitsPerSecond: value, Low: value, High: value}
	if n := len(drawn); n > 0 {
		e.Low, e.High = min(value, drawn[n/20]), max(value, drawn[n-1-n/20])
	}
	return e
}

// share fits a line to how many times faster streams were sent than they arrived, over the rates at which they were sent, each by its duration: the rate
// that all share, and that of others in it. Zero: nothing fits.
func share(tails []Response) (rate, others float64) {
	var w, x, y, xx, xy float64
	for _, r := range tails {
		ratio := 1 + r.Strain
		w, x, y = w+r.Seconds, x+r.Seconds*r.Rate, y+r.Seconds*ratio
		xx, xy = xx+r.Seconds*r.Rate*r.Rate, xy+r.Seconds*r.Rate*ratio
	}
	if w == 0 {
		return 0, 0
	}
	slope := (w*xy - x*y) / (w*xx - x*x)
	if intercept := (y - slope*x) / w; slope > 0 && intercept > 0 {
		return 1 / slope, intercept / slope
	}
	if slope <= 0 || math.IsNaN(slope) {
		return 0, 0
	}
	return xx / xy, 0 // the best line through the origin: others send nothing
}
