package window

import (
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// Figures is what came of the echoes of one window, of bytes at the IP layer each.
func Figures(inFlight int, echoes []measure.Echo, bytes int) measure.WindowSample {
	s := measure.WindowSample{InFlight: inFlight, Sent: len(echoes)}
	var rtts, arrivals []float64
	for _, e := range echoes {
		if e.RTTSeconds == nil {
			s.Lost++
			continue
		}
		rtts, arrivals = append(rtts, *e.RTTSeconds), append(arrivals, e.SentSeconds+*e.RTTSeconds)
	}
	if len(rtts) == 0 {
		return s
	}
	slices.Sort(rtts)
	slices.Sort(arrivals)
	s.RTTMinSeconds, s.RTTMedianSeconds = rtts[0], stat.Median(rtts)
	begin, took := arrivals[0], arrivals[len(arrivals)-1]-arrivals[0]
	rate := func(from, to float64) float64 {
		first, _ := slices.BinarySearch(arrivals, begin+from*took)
		after, _ := slices.BinarySearch(arrivals, begin+to*took)
		return float64(8*bytes*(after-first)) / max(1e-9, (to-from)*took)
	}
	if took > 0 {
		s.EarlyBits, s.BitsPerSecond = rate(0, 0.25), rate(0.5, 1)
	}
	return s
}
