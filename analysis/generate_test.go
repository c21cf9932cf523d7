package analysis

import (
	"math"
	"math/rand/v2"
	"time"
)

// begin is a Monday.
var begin = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)

// noise makes values about a level, each its own kind, run by run.
type noise func(random *rand.Rand, hours []float64) []float64

// each is noise whose values do not depend on each other.
func each(draw func(random *rand.Rand, hour float64) float64) noise {
	return func(random *rand.Rand, hours []float64) []float64 {
		values := make([]float64, len(hours))
		for i, h := range hours {
			values[i] = draw(random, h)
		}
		return values
	}
}

// workday is 1 in the middle of the day, 0 at night and all of the days that do not work.
func workday(hour float64, works func(day int) bool) float64 {
	if !works(int(hour/24) % 7) {
		return 0
	}
	return max(0, math.Sin(math.Pi*(math.Mod(hour, 24)-8)/12))
}

func always(int) bool       { return true }
func weekdays(day int) bool { return day < 5 }

// calm are series without a change, in ms: a level of 40, and about 1 of spread.
var calm = map[string]noise{
	"normal":      each(func(r *rand.Rand, _ float64) float64 { return 40 + r.NormFloat64() }),
	"exponential": each(func(r *rand.Rand, _ float64) float64 { return 40 + r.ExpFloat64() }),
	"heavy tail":  each(func(r *rand.Rand, _ float64) float64 { return 39 + math.Pow(1-r.Float64(), -1/1.5) }),
	"spikes": each(func(r *rand.Rand, _ float64) float64 {
		if r.Float64() < 0.05 {
			return 40 + 200*r.Float64()
		}
		return 40 + 0.3*r.NormFloat64()
	}),
	"ticks": each(func(r *rand.Rand, _ float64) float64 { return 40 + math.Round(r.NormFloat64()*0.7) }),
	"daily wave": each(func(r *rand.Rand, h float64) float64 {
		return 40 + 10*workday(h, always) + (0.5+3*workday(h, always))*r.ExpFloat64()
	}),
	"weekday wave": each(func(r *rand.Rand, h float64) float64 {
		return 40 + 10*workday(h, weekdays) + (0.5+3*workday(h, weekdays))*r.ExpFloat64()
	}),
	"weekday queue": each(func(r *rand.Rand, h float64) float64 { return 40 + (0.2+5*workday(h, weekdays))*r.ExpFloat64() }),
	"alike beside each other": func(r *rand.Rand, hours []float64) []float64 {
		values, now := make([]float64, len(hours)), 0.0
		for i := range hours {
			now = 0.9*now + math.Sqrt(1-0.81)*r.NormFloat64()
			values[i] = 40 + now
		}
		return values
	},
	"busy hours": func(r *rand.Rand, hours []float64) []float64 { // each working day has one or two, of any length, at any time
		values := make([]float64, len(hours))
		var from, to [14]float64
		for d := range from {
			from[d] = 24*float64(d) + 8 + 8*r.Float64()
			to[d] = from[d] + 0.5 + 2.5*r.Float64()
		}
		for i, h := range hours {
			values[i] = 40 + 0.5*r.ExpFloat64()
			if d := int(h / 24); d < len(from) && h >= from[d] && h < to[d] {
				values[i] += 20 * r.Float64()
			}
		}
		return values
	},
	"days of their own": func(r *rand.Rand, hours []float64) []float64 { // how busy a day is differs from day to day
		values := make([]float64, len(hours))
		var busy [15]float64
		for d := range busy {
			busy[d] = 2 + 8*r.Float64()
		}
		for i, h := range hours {
			values[i] = 40 + busy[int(h/24)]*workday(h, always)*(0.7+0.6*r.Float64()) + 0.5*r.ExpFloat64()
		}
		return values
	},
}

// plant is what is added to a calm series from an hour on.
type plant func(hour float64) float64

// stepAt rises at an hour, for good.
func stepAt(from, by float64) plant { return episode(from, math.Inf(1), by) }

// episode rises at an hour and falls back at another.
func episode(from, to, by float64) plant {
	return func(h float64) float64 {
		if h >= from && h < to {
			return by
		}
		return 0
	}
}

// creepFrom rises by so much a day between two hours.
func creepFrom(from, to, perDay float64) plant {
	return func(h float64) float64 { return perDay * (min(max(h, from), to) - from) / 24 }
}

// make draws runs over some days, one for each spacing with the times shaken, and with gaps if asked.
func (n noise) make(seed uint64, days float64, spacing time.Duration, planted plant) []Run {
	random := rand.New(rand.NewPCG(seed, 7))
	var hours []float64
	for at := 0.0; at < days*24; at += spacing.Hours() {
		if random.Float64() < 0.03 { // was missed
			continue
		}
		hours = append(hours, at+spacing.Hours()*0.6*random.Float64())
	}
	values := n(random, hours)
	runs := make([]Run, len(hours))
	for i, h := range hours {
		runs[i] = Run{begin.Add(time.Duration(h * float64(time.Hour))), values[i]}
		if planted != nil {
			runs[i].Value += planted(h)
		}
	}
	return runs
}
