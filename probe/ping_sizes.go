package probe

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/stat"
)

// reduceSizes makes figures of echoes of several sizes, the smallest first.
func reduceSizes(echoes []measure.Echo) (all []measure.SizeSample) {
	bySize := map[int][]measure.Echo{}
	for _, e := range echoes {
		bySize[e.Size] = append(bySize[e.Size], e)
	}
	for size, of := range bySize {
		s := measure.SizeSample{Bytes: size, Sent: len(of)}
		var rtts []float64
		for _, e := range of {
			if e.RTTSeconds == nil {
				s.Lost++
			} else {
				rtts = append(rtts, *e.RTTSeconds)
			}
		}
		if len(rtts) > 0 {
			figures := stat.Summarize(rtts)
			s.RTTMinSeconds, s.RTTMedianSeconds = &figures.Min, &figures.Median
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b measure.SizeSample) int { return a.Bytes - b.Bytes })
	return all
}

// leastSlope is how many sizes must have answers for a slope, and slopeNoise how much more than the smallest size the largest takes at least, in seconds:
// what a host's interrupts take differs by some microseconds.
const (
	leastSlope = 3
	slopeNoise = 10e-6
)

// serialization is the rate that makes the shortest round trips grow with the size as they do, in bit/s: each byte goes there and back, over each of the
// links in turn. Of links of the rates r1, r2, … it is 1/(1/r1 + 1/r2 + …) if both ways are alike. The slope is the median of those between any
// two sizes (Theil 1950, Sen 1968), which a size that never met an empty queue does not bend. It is false where sizes make no difference.
func serialization(sizes []measure.SizeSample) (rate float64, ok bool) {
	var known []measure.SizeSample
	for _, s := range sizes {
		if s.RTTMinSeconds != nil {
			known = append(known, s)
		}
	}
	var slopes []float64
	for i := range known {
		for j := i + 1; j < len(known); j++ {
			slopes = append(slopes, (*known[j].RTTMinSeconds-*known[i].RTTMinSeconds)/float64(known[j].Bytes-known[i].Bytes))
		}
	}
	if len(known) < leastSlope {
		return 0, false
	}
	slices.Sort(slopes)
	slope := stat.Median(slopes)
	if slope*float64(known[len(known)-1].Bytes-known[0].Bytes) < slopeNoise {
		return 0, false
	}
	return 2 * 8 / slope, true
}

// sizePriority says whether the path serves packets by their size: whether large ones wait longer than small ones, beyond what their length takes, or are
// lost more. Held against each other are the smaller and the larger half of the sizes, round by round.
func sizePriority(echoes []measure.Echo, sizes []measure.SizeSample) (text string) {
	least := map[int]float64{}
	for _, s := range sizes {
		if s.RTTMinSeconds != nil {
			least[s.Bytes] = *s.RTTMinSeconds
		}
	}
	var waits [2][]float64
	var lost [2][]bool
	for _, e := range echoes {
		half := 0
		if at := slices.IndexFunc(sizes, func(s measure.SizeSample) bool { return s.Bytes == e.Size }); at >= (len(sizes)+1)/2 {
			half = 1
		}
		wait := stat.Lost
		if e.RTTSeconds != nil {
			wait = *e.RTTSeconds - least[e.Size]
		}
		waits[half], lost[half] = append(waits[half], wait), append(lost[half], math.IsNaN(wait))
	}
	var all []string
	shift, enough := stat.CompareDelays(waits[0], waits[1])
	if by := math.Abs(shift.Estimate); enough && shift.Differs() && by > slopeNoise {
		who, whom := "small packets are served first: large", "small"
		if shift.Estimate < 0 {
			who, whom = "large packets are served first: small", "large"
		}
		all = append(all, fmt.Sprintf("%s ones wait %s longer than %s ones (%s to %s)", who, quantity.FormatSeconds(by), whom,
			quantity.FormatSeconds(min(math.Abs(shift.Low), math.Abs(shift.High))), quantity.FormatSeconds(max(math.Abs(shift.Low), math.Abs(shift.High)))))
	}
	if d := stat.CompareLosses(lost[0], lost[1]); d.Differs() {
		which := "large"
		if d.Difference < 0 {
			which = "small"
		}
		all = append(all, fmt.Sprintf("%s packets are lost more: %s of the small ones, %s of the large ones", which, quantity.FormatRatio(d.First.Ratio),
			quantity.FormatRatio(d.Second.Ratio)))
	}
	if len(all) == 0 {
		return "no size is served before another"
	}
	return strings.Join(all, "; ")
}

// reportSizes fills in what sizes tell.
func (r *pingRun) reportSizes(result *measure.Result) {
	if r.Sizes == "" || len(result.Samples.Echoes) == 0 {
		return
	}
	result.Samples.Sizes = reduceSizes(result.Samples.Echoes)
	if rate, ok := serialization(result.Samples.Sizes); ok {
		result.Metrics[measure.Serialization] = rate
	}
	result.Parameters["priority"] = sizePriority(result.Samples.Echoes, result.Samples.Sizes)
}

// sizesText writes a row for each size, and what they mean.
func sizesText(w io.Writer, r *measure.Result) {
	rows := [][]string{{"bytes", "sent", "lost", "least", "median"}}
	for _, s := range r.Samples.Sizes {
		row := []string{fmt.Sprint(s.Bytes), fmt.Sprint(s.Sent), quantity.FormatRatio(float64(s.Lost) / float64(max(1, s.Sent))), "-", "-"}
		if s.RTTMinSeconds != nil && s.RTTMedianSeconds != nil {
			row[3], row[4] = quantity.FormatSeconds(*s.RTTMinSeconds), quantity.FormatSeconds(*s.RTTMedianSeconds)
		}
		rows = append(rows, row)
	}
	fmt.Fprintln(w, strings.Join(chart.Table(rows, -1), "\n"))
	if rate, known := r.Get(measure.Serialization); known {
		fmt.Fprintf(w, "each byte takes as long as over one link of %s each way\n", quantity.FormatRate(rate))
	} else {
		fmt.Fprintln(w, "sizes make no difference that can be seen")
	}
	if text, _ := r.Parameters["priority"].(string); text != "" {
		fmt.Fprintln(w, text)
	}
}
