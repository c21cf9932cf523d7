package window

import (
	"cmp"
	"iter"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// Figures is what came of the echoes of one window, in the order of sending, of bytes at the IP layer each.
func Figures(inFlight int, echoes []measure.Echo, bytes int) measure.WindowSample {
	s := measure.WindowSample{InFlight: inFlight, Sent: len(echoes), Burst: burst(echoes[:min(inFlight, len(echoes))], bytes)}
	var rtts []float64
	for _, e := range echoes {
		if e.RTTSeconds == nil {
			s.Lost++
			continue
		}
		rtts = append(rtts, *e.RTTSeconds)
	}
	if len(rtts) == 0 {
		return s
	}
	slices.Sort(rtts)
	s.MissingRatio = missing(inFlight, echoes)
	s.RTTMinSeconds, s.RTTMedianSeconds, s.RTTP95Seconds = rtts[0], stat.Median(rtts), stat.Quantile(rtts, 0.95)
	at := arrivals(echoes)
	first, last := at[0], at[len(at)-1]
	if first == last {
		return s
	}
	half := (last - first) / 2
	later, _ := slices.BinarySearch(at, first+half)
	s.BitsPerSecond = float64(8*bytes*(len(at)-later)) / half
	return s
}

// burst is what became of the packets that open a window.
func burst(echoes []measure.Echo, bytes int) (b measure.WindowBurst) {
	if len(echoes) == 0 {
		return b
	}
	at := arrivals(echoes)
	b.Passed = slices.IndexFunc(echoes, func(e measure.Echo) bool { return e.RTTSeconds == nil })
	if b.Passed < 0 {
		b.Passed = len(echoes)
	}
	b.Lost = len(echoes) - len(at)
	b.LeftSeconds = echoes[len(echoes)-1].SentSeconds - echoes[0].SentSeconds
	if n := len(at); n > 1 && at[n-1] > at[0] {
		b.BitsPerSecond = float64(8*bytes*(n-1)) / (at[n-1] - at[0])
	}
	return b
}

// answer is when the answer to a packet came, and to which.
type answer struct {
	at    float64 // s
	index int
}

// answers are those to echoes, by index.
func answers(echoes []measure.Echo) iter.Seq[answer] {
	return func(yield func(answer) bool) {
		for i, e := range echoes {
			if e.RTTSeconds != nil && !yield(answer{e.SentSeconds + *e.RTTSeconds, i}) {
				return
			}
		}
	}
}

// arrivals are when answers came, in that order.
func arrivals(echoes []measure.Echo) (at []float64) {
	for a := range answers(echoes) {
		at = append(at, a.at)
	}
	slices.Sort(at)
	return at
}

// missing is the share of the packets which were to be in flight that were not, on average from the first packet to leave to the last. A packet is in
// flight until it, or one after it, is answered.
func missing(inFlight int, echoes []measure.Echo) float64 {
	answered := slices.Collect(answers(echoes))
	slices.SortFunc(answered, func(a, b answer) int { return cmp.Compare(a.at, b.at) })
	sent, done, area := 0, 0, 0.
	now := echoes[0].SentSeconds
	until := func(t float64) {
		area += (t - now) * float64(max(0, inFlight-(sent-done)))
		now = t
	}
	for _, e := range echoes {
		for len(answered) > 0 && answered[0].at <= e.SentSeconds {
			until(answered[0].at)
			done = max(done, answered[0].index+1)
			answered = answered[1:]
		}
		until(e.SentSeconds)
		sent++
	}
	return area / max(1e-9, now-echoes[0].SentSeconds) / float64(inFlight)
}
