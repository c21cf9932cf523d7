package analysis

import (
	"math/rand/v2"
	"testing"
	"time"
)

// counting draws pings of ten packets, each lost by the chance of its hour; a run of burst loses half of them besides.
func counting(seed uint64, chance func(hour float64) float64, burst float64) []Count {
	random := rand.New(rand.NewPCG(seed, 9))
	var counts []Count
	for h := 0.0; h < 14*24; h += 1.0 / 3 {
		c := Count{At: begin.Add(time.Duration(h * float64(time.Hour))), All: 40}
		bursts := random.Float64() < burst
		for range int(c.All) {
			if p := random.Float64(); p < chance(h) || bursts && p < 0.5 {
				c.Of++
			}
		}
		counts = append(counts, c)
	}
	return counts
}

func is(chance float64) func(float64) float64 { return func(float64) float64 { return chance } }

// Of two weeks in which nothing changed, at most one in a hundred is said to lose otherwise than before.
func TestFalseAlarmsOfLoss(t *testing.T) {
	seeds := 4 * *moreSeeds
	all, tried := 0, 0
	for _, c := range []struct {
		what   string
		chance func(float64) float64
		burst  float64
	}{
		{"no loss", is(0), 0},
		{"one in a thousand", is(0.001), 0},
		{"one in fifty", is(0.02), 0},
		{"bursts in one run of fifty", is(0), 0.02},
		{"bursts and losses", is(0.002), 0.05},
		{"more by day", func(h float64) float64 { return 0.001 + 0.02*workday(h, always) }, 0},
		{"more by day of the week", func(h float64) float64 { return 0.001 + 0.02*workday(h, weekdays) }, 0},
	} {
		n := ofSeeds(seeds, func(seed uint64) bool { return len(CountChanges(counting(seed, c.chance, c.burst))) > 0 })
		t.Logf("%-28s %d of %d", c.what+":", n, seeds)
		all, tried = all+n, tried+seeds
		if n > max(1, seeds*3/100) {
			t.Errorf("%s: %d of %d calm series are said to change", c.what, n, seeds)
		}
	}
	if all > tried/100 {
		t.Errorf("%d of %d calm series are said to change", all, tried)
	}
}

// Loss that began is found with its time and both ratios.
func TestPowerOfLoss(t *testing.T) {
	const seeds = 50
	for _, c := range []struct {
		what                string
		before, after, from float64
		burst               float64
		least               int
	}{
		{"one in a hundred, where there was none", 0, 0.01, 300, 0, 44},
		{"one in ten for the last 3 hours", 0, 0.1, 333, 0, 48},
		{"one in a thousand to one in fifty", 0.001, 0.02, 250, 0, 42},
		{"one in fifty, and none any more", 0.02, 0, 250, 0, 48},
		{"all for the last 3 hours", 0, 1, 333, 0, 50},
		{"one in twenty among bursts", 0.001, 0.05, 300, 0.02, 22},
	} {
		n := ofSeeds(seeds, func(seed uint64) bool {
			chance := func(h float64) float64 {
				if h >= c.from {
					return c.after
				}
				return c.before
			}
			for _, found := range CountChanges(counting(seed, chance, c.burst)) {
				late := found.To.Sub(begin).Hours() - c.from
				if late > -3 && late < 3 && found.Rises() == (c.after > c.before) && found.Confidence > 0.95 &&
					found.After.Low <= found.After.Value && found.After.Value <= found.After.High {
					return true
				}
			}
			return false
		})
		t.Logf("%-44s %d of %d", c.what+":", n, seeds)
		if n < c.least {
			t.Errorf("%s: found in %d of %d", c.what, n, seeds)
		}
	}
}
