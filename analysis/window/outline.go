package window

import (
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// outline is what tells shapes apart. Rates are in bit/s at the IP layer, times in seconds.
type outline struct {
	bits    float64 // a packet
	windows int
	kept    int // windows that this host kept full
	last    int // packets in flight in the last window

	least, wait float64 // of all round trips; what packets waited beyond that in the windows with the most in flight

	top, plateau float64 // the most that came back, but for one window; the median from the knee on
	spread       float64 // how far off the plateau half of those windows are, as a share of it
	knee         int     // packets in flight that fill the path
	pipe, queued float64 // packets that the empty path holds, and that waited

	burstOutline
	lossOutline
}

const (
	// missingMost is what may be missing of the packets in flight for a window to count for the rate, which then is as much too low.
	missingMost = 0.15
	// filled is the share of the highest rate from which on a window fills the path. Rates of single windows are up to a tenth off.
	filled = 0.85
)

// outlineOf needs windows of at least fewestWindows.
func outlineOf(steps []measure.WindowSample, bits float64) outline {
	o := outline{bits: bits, windows: len(steps), last: steps[len(steps)-1].InFlight}
	var kept, answered []measure.WindowSample
	for _, s := range steps {
		if s.RTTMinSeconds > 0 && (o.least == 0 || s.RTTMinSeconds < o.least) {
			o.least = s.RTTMinSeconds
		}
		if s.BitsPerSecond > 0 {
			answered = append(answered, s)
		}
		if s.BitsPerSecond > 0 && s.MissingRatio < missingMost {
			kept = append(kept, s)
		}
	}
	o.kept = len(kept)
	if len(answered) < fewestWindows {
		return o
	}
	if o.busy() {
		kept = answered // they tell what is lost, if not the rate
	}
	o.top = second(answered)
	o.rates(kept)
	o.wait = median(steps[len(steps)-third(steps):], func(s measure.WindowSample) float64 { return s.RTTP95Seconds - o.least })
	o.pipe, o.queued = o.plateau*o.least/bits, o.wait*o.plateau/bits
	o.burstOutline = burstsOf(steps, bits)
	o.lossOutline = lossesOf(steps)
	o.begins = lossBegins(kept, o.least) / max(1e-9, o.wait)
	return o
}

// rates fills in what windows brought that were kept full.
func (o *outline) rates(kept []measure.WindowSample) {
	reached := filled * second(kept)
	o.knee = kept[slices.IndexFunc(kept, func(s measure.WindowSample) bool { return s.BitsPerSecond >= reached })].InFlight
	o.plateau = median(from(kept, o.knee), func(s measure.WindowSample) float64 { return s.BitsPerSecond })
	o.spread = spread(from(kept, o.knee), o.plateau)
}

// second is the highest rate of windows but one, which may be by chance.
func second(steps []measure.WindowSample) float64 {
	rates := slices.Sorted(func(yield func(float64) bool) {
		for _, s := range steps {
			if !yield(s.BitsPerSecond) {
				return
			}
		}
	})
	return rates[len(rates)-2]
}

// from are the windows of at least so many packets.
func from(steps []measure.WindowSample, inFlight int) []measure.WindowSample {
	return slices.DeleteFunc(slices.Clone(steps), func(s measure.WindowSample) bool { return s.InFlight < inFlight })
}

// spread is how far off a rate half of some windows are, as a share of it.
func spread(steps []measure.WindowSample, rate float64) float64 {
	return median(steps, func(s measure.WindowSample) float64 { return max(s.BitsPerSecond/rate-1, 1-s.BitsPerSecond/rate) })
}

// third is how many windows a third of them are, at least one.
func third(steps []measure.WindowSample) int { return (len(steps) + 2) / 3 }

// median is the median of a figure of windows; 0 if there are no windows.
func median(steps []measure.WindowSample, figure func(measure.WindowSample) float64) float64 {
	if len(steps) == 0 {
		return 0
	}
	values := make([]float64, len(steps))
	for i, s := range steps {
		values[i] = figure(s)
	}
	slices.Sort(values)
	return stat.Median(values)
}
