package dispersion

import "math"

// Bucket is a token bucket on the way: so many bytes pass at the rate of the link, and what follows at a lower one. A shaper holds the rest back, a policer
// drops it.
//
//	bytes ^            .-'  at the lower rate
//	      |  bytes  .-'
//	      |       /     <- knee
//	      |      /  at the rate of the link
//	      +------------> time
type Bucket struct {
	Rate   Estimate // of what passes for long
	Bytes  float64  // what passes at once beyond that, after a rest in which the bucket filled; 0: not known
	Drops  bool     // it is a policer
	Passed int      // packets of a train until the knee
}

// Known reports whether there is one.
func (b Bucket) Known() bool { return b.Rate.Known() }

// What a bucket must show.
const (
	headPackets = 5    // with which a train begins, which most buckets let pass
	tailPackets = 16   // of a train's second half, at least, which most buckets do not
	faster      = 1.15 // times that the first pass faster
	bentFit     = 0.3  // of the squares that a straight line leaves, which a line with a knee may leave
)

// shaper is the token bucket that shows where short trains came faster than the second half of long ones, and the capacity of the link by the short ones.
//
// Rested says that the short ones came after rests: then no long one need have begun with a full bucket.
func shaper(short, long []Train, rested bool) (Bucket, Capacity) {
	var heads, tails []Train
	for _, t := range short {
		heads = append(heads, t.part(0, headPackets))
	}
	for _, t := range long {
		if n := len(t.Packets); n >= 2*tailPackets {
			tails = append(tails, t.part(n/2, n))
		}
	}
	link, rest := NarrowestLink(heads), NarrowestLink(tails)
	if !link.Certain() || !rest.Certain() || link.BitsPerSecond < faster*rest.BitsPerSecond {
		return Bucket{}, Capacity{}
	}
	link.Asymptotic = asymptotic(long)
	b := Bucket{Rate: rest.Estimate}
	for _, t := range long {
		if len(t.Packets) < 2*tailPackets {
			continue
		}
		if k, fits := knee(t, link.BitsPerSecond, rest.BitsPerSecond); fits {
			b.hold(float64((k+1)*t.Size)-rest.BitsPerSecond*float64(k*t.Size)/link.BitsPerSecond, k+1)
		}
	}
	if b.Passed == 0 && rested {
		b.Passed = headPackets
	}
	if b.Passed == 0 {
		return Bucket{}, Capacity{}
	}
	return b, link
}

// hold notes how many bytes, and packets, a bucket held: at least, as it may not have been full.
func (b *Bucket) hold(bytes float64, packets int) {
	b.Bytes, b.Passed = max(b.Bytes, bytes), max(b.Passed, packets)
}

// knee is the place in a train from which on packets come at the lower of two rates; fits is false where a straight line is hardly worse.
func knee(t Train, before, after float64) (place int, fits bool) {
	n := len(t.Packets)
	at := make([]float64, n)
	for i, p := range t.Packets {
		at[i] = float64(p.At-t.Packets[0].At) / 1e9
	}
	bits := float64(t.Size) * 8
	least := math.Inf(1)
	for k := 1; k < n-headPackets; k++ {
		if off := squares(at, func(i int) float64 { return bits * (float64(min(i, k))/before + float64(max(0, i-k))/after) }); off < least {
			place, least = k, off
		}
	}
	slope := (at[n-1] - at[0]) / float64(n-1)
	straight := squares(at, func(i int) float64 { return slope * float64(i) })
	return place, least < bentFit*straight
}

// squares is the sum of the squares of what values are off a curve that may begin earlier or later.
func squares(at []float64, curve func(i int) float64) (sum float64) {
	mean := 0.0
	for i := range at {
		mean += (at[i] - curve(i)) / float64(len(at))
	}
	for i := range at {
		d := at[i] - curve(i) - mean
		sum += d * d
	}
	return sum
}
