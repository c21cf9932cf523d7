package window

import (
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// burstOutline is what became of bursts: the packets that open windows, sent without waiting.
type burstOutline struct {
	burst  float64 // bit/s at which they came back
	fast   int     // bursts that left faster than that, and so met a queue
	passed float64 // share of these that passes before the first loss
	tail   float64 // share that is lost of what follows the first loss
}

const (
	burstLeast = 4    // packets that tell the rate of a burst
	burstFast  = 1.5  // times as fast as it comes back leaves a burst that must wait or be lost
	fastLeast  = 3    // such bursts tell a queue
	tailCut    = 0.65 // from here on of the tail is lost what a link or a bucket does not take: 0.7 to 1 in plays, beside 0.2 to 0.6 by collisions
)

// burstsOf needs windows with the size of a packet in bits.
func burstsOf(steps []measure.WindowSample, bits float64) (b burstOutline) {
	var rates []float64
	for _, s := range steps {
		if s.InFlight >= burstLeast && s.Burst.BitsPerSecond > 0 {
			rates = append(rates, s.Burst.BitsPerSecond)
		}
	}
	if len(rates) == 0 {
		return b
	}
	slices.Sort(rates)
	b.burst = stat.Quantile(rates, 0.75) // hosts that stall while they send bring less
	fast := slices.DeleteFunc(slices.Clone(steps), func(s measure.WindowSample) bool {
		return s.InFlight < burstLeast || float64(s.InFlight-1)*bits <= burstFast*b.burst*s.Burst.LeftSeconds
	})
	b.fast = len(fast)
	b.passed = median(fast, func(s measure.WindowSample) float64 { return float64(s.Burst.Passed) / float64(s.InFlight) })
	lost, after := 0, 0
	for _, s := range fast[len(fast)/2:] { // in shorter ones collisions meet all that follows
		if s.Burst.Lost > 0 {
			lost, after = lost+s.Burst.Lost-1, after+s.InFlight-s.Burst.Passed-1
		}
	}
	b.tail = float64(lost) / float64(max(1, after))
	return b
}
