package dispersion

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Capacity is what pairs and trains tell of the narrowest link.
type Capacity struct {
	Estimate
	Span  int    // packets over which gaps were taken
	Modes []Mode // of the rates at which packets came over that span, the strongest first
	// Asymptotic is the rate at which the longest trains arrived as a whole (ADR): below the capacity, and above what is free, where others send.
	Asymptotic float64
}

// What a capacity needs.
const (
	leastGaps     = 8     // values, so that a mode is more than a chance
	leastSpans    = 4     // stretches of packets that do not overlap
	leastShare    = 0.1   // of the gaps within a mode
	mostOff       = 0.02  // error of where gaps gather, as a share
	mostBeside    = 0.01  // by which a better known span may be above the lowest
	leastSpanTime = 50e-6 // s: shorter spans are hardly longer than what receivers are late by
	mostSlowing   = 1.08  // times: links in TestDrawnPaths show 0.85 to 1.05, a bucket of 2 kB 1.1, the kernel's bucket of three packets 4 to 13
	mostWide      = 0.03  // half of the interval of a certain capacity, as a share: the rest of 5 % is for what all trains have in common
	tinyGap       = 0.2   // of the usual gap: packets that close together were handed over together
	mostTiny      = 0.3   // share of packets that may be
	groupedSpan   = 16    // packets over which gaps are taken where more are
	longestSpan   = 128
	resamples     = 40
)

// NarrowestLink is the capacity by the gaps of trains that were sent back to back. Where packets of others come in between, a gap is longer; where a host
// or an adapter hands packets over late, one is longer and the next shorter. The gaps of the link alone are a mode: the lowest of those
// over one, two, four packets and so on around which enough of them are.
func NarrowestLink(trains []Train) Capacity {
	if arrived(trains) < leastGaps {
		return Capacity{Estimate: Estimate{Doubt: Few}}
	}
	over := gapsOf(trains)
	least, grouped := 1, tiny(over(1)) > mostTiny
	if grouped {
		least = groupedSpan
	}
	best := choose(over, least)
	if best.span == 0 {
		doubt := Slow
		if mean := meanOf(over(1)); mean > 0 && mean < leastSpanTime/8 {
			doubt = Clock
		} else if grouped {
			doubt = Grouped
		} else if lostOf(trains) > 0.5 {
			doubt = Few
		}
		return Capacity{Estimate: Estimate{Doubt: doubt}}
	}
	bits := float64(trains[0].Size) * 8
	c := Capacity{Span: best.span, Asymptotic: asymptotic(trains)}
	c.BitsPerSecond = bits / best.at
	c.Low, c.High = resample(over(best.span), bits, c.BitsPerSecond)
	for _, m := range modes(slices.Concat(over(best.span)...)) {
		c.Modes = append(c.Modes, Mode{bits / m.Value, m.Share})
	}
	switch {
	case c.share() < leastShare:
		c.Doubt = Scattered
	case c.slowing(trains) > mostSlowing:
		c.Doubt = Slowing
	case c.width() > mostWide:
		c.Doubt = Wide
	}
	return c
}

// share is which part of all gaps is near the capacity.
func (c Capacity) share() (sum float64) {
	for _, m := range c.Modes {
		if c.near(m.Value) {
			sum += m.Share
		}
	}
	return sum
}

// near reports whether a rate is within the mode of the capacity.
func (c Capacity) near(rate float64) bool {
	return rate < c.BitsPerSecond*modeWidth && rate > c.BitsPerSecond/modeWidth
}

// slowing is the mean gap, over the span of a capacity and near it, as a multiple of that in the first half of the same packets. A link takes as long
// for each; of a token bucket that holds less than the span has, the first packets come together.
func (c Capacity) slowing(trains []Train) float64 {
	var first, whole float64
	for _, t := range trains {
		bits := float64(t.Size) * 8
		for _, w := range windows(instants(t), c.Span) {
			if g := gap(w); c.near(bits / g) {
				first, whole = first+gap(half(w)), whole+g
			}
		}
	}
	return whole / first
}

// spanPeak is where the gaps over a span gather, and the error of that, as a share.
type spanPeak struct {
	at, off float64
	span    int
}

// choose takes the span whose gaps gather lowest, of those where that is well known, or one beside it that is better known. Over more packets what
// hosts are late by matters less, and other traffic comes in between more often.
func choose(over func(span int) [][]float64, least int) (best spanPeak) {
	var all []spanPeak
	for span := least; span <= longestSpan; span *= 2 {
		each := over(span)
		values, spans := slices.Sorted(slices.Values(slices.Concat(each...))), 0
		for _, gaps := range each {
			spans += (len(gaps) + span - 1) / span
		}
		if len(values) < leastGaps || spans < leastSpans {
			break
		}
		at, wide, inside := peak(values)
		if at*float64(span) < leastSpanTime {
			continue
		}
		off := wide / math.Sqrt(math.Max(1, float64(inside*spans)/float64(len(values))))
		all = append(all, spanPeak{at, off, span})
	}
	lowest := math.Inf(1)
	for _, m := range all {
		if m.off <= mostOff {
			lowest = min(lowest, m.at)
		}
	}
	for _, m := range all {
		if m.at <= lowest*(1+max(mostBeside, m.off)) && (best.span == 0 || m.off < best.off) {
			best = m
		}
	}
	return best
}

// resample is the 90 % interval of a rate, by drawing trains anew out of those that there are (bootstrap); gaps are those of each train.
func resample(each [][]float64, bits, rate float64) (low, high float64) {
	each = slices.DeleteFunc(each, func(gaps []float64) bool { return len(gaps) == 0 })
	random := rand.New(rand.NewPCG(1, uint64(len(each))))
	var rates []float64
	for range resamples {
		var drawn []float64
		for range each {
			drawn = append(drawn, each[random.IntN(len(each))]...)
		}
		slices.Sort(drawn)
		at, _, _ := peak(drawn)
		rates = append(rates, bits/at)
	}
	e := between(rate, rates)
	return e.Low, e.High
}

// asymptotic is the median rate of the longest trains.
func asymptotic(trains []Train) float64 {
	longest := 0
	for _, t := range trains {
		longest = max(longest, len(t.Packets))
	}
	var rates []float64
	for _, t := range trains {
		if n := len(t.Packets); n > 1 && n >= longest*3/4 && t.Packets[n-1].At > t.Packets[0].At {
			rates = append(rates, float64((n-1)*t.Size)*8e9/float64(t.Packets[n-1].At-t.Packets[0].At))
		}
	}
	return median(rates)
}

func arrived(trains []Train) (n int) {
	for _, t := range trains {
		n += len(t.Packets)
	}
	return n
}

func lostOf(trains []Train) float64 {
	sent := 0
	for _, t := range trains {
		sent += t.Sent
	}
	return 1 - float64(arrived(trains))/float64(max(1, sent))
}

// median is the middle one of values; 0 without any.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(values))[len(values)/2]
}
