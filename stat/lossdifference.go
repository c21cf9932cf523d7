package stat

import "math"

// LossDifference is how much more the second of two samples loses than the first.
type LossDifference struct {
	First, Second LossInterval
	Difference    float64 // of the ratios, second less first
	Low, High     float64 // the 95 % interval of it
}

// LossInterval is a ratio of losses with its 95 % interval (Wilson); 0 to 1 of no packet.
type LossInterval struct{ Ratio, Low, High float64 }

// Differs says whether one of the two loses more, which of samples that are alike 5 of 100 comparisons say.
func (d LossDifference) Differs() bool { return d.Low > 0 || d.High < 0 }

// CompareLosses says which of two samples of packets, true for a lost one, in the order of sending, loses more, and by how much: the difference of the
// ratios, with the interval that Newcombe (1998, method 10) makes of Wilson's of each. Of few losses in long bursts it is somewhat too narrow: with some ten
// bursts in each sample 7 of 100 comparisons of samples that are alike differ.
func CompareLosses(first, second []bool) LossDifference {
	d := LossDifference{First: lossInterval(first), Second: lossInterval(second)}
	a, b := d.First, d.Second
	d.Difference = b.Ratio - a.Ratio
	d.Low = d.Difference - math.Hypot(b.Ratio-b.Low, a.High-a.Ratio)
	d.High = d.Difference + math.Hypot(b.High-b.Ratio, a.Ratio-a.Low)
	return d
}

// lossInterval is the interval of the ratio of losses. Losses in bursts say less than as many that come by chance: if whether a packet is lost depends on
// the one before it alone (Gilbert, 1960), the ratio spreads as that of 2 B - 1 times fewer packets, where B is the BurstRatio.
func lossInterval(lost []bool) LossInterval {
	if len(lost) == 0 {
		return LossInterval{0, 0, 1}
	}
	losses := 0.0
	for _, run := range LossRuns(lost) {
		losses += float64(run)
	}
	l := LossInterval{Ratio: losses / float64(len(lost))}
	trials := float64(len(lost)) / (2*max(1, BurstRatio(lost)) - 1)
	l.Low, l.High = wilson(l.Ratio, trials)
	return l
}
