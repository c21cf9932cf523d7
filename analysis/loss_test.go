package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
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

// An episode of hours has its beginning and its end, of a day that is known and of two weeks, also where loss comes again later.
func TestEpisodesOfLossEnd(t *testing.T) {
	for _, c := range []struct {
		what        string
		every, last time.Duration
		episodes    [][2]float64 // hours
	}{
		{"of a day", 10 * time.Minute, 24 * time.Hour, [][2]float64{{16.5, 18.5}}},
		{"of a day, and again", 10 * time.Minute, 24 * time.Hour, [][2]float64{{12, 14}, {21, 24}}},
		{"of two weeks", 20 * time.Minute, 14 * 24 * time.Hour, [][2]float64{{300, 312}}},
	} {
		found, seeds := 0, 20
		for seed := range seeds {
			random := rand.New(rand.NewPCG(uint64(seed), 10))
			var counts []Count
			for at := time.Duration(0); at < c.last; at += c.every {
				one := Count{At: begin.Add(at), All: 20}
				for _, e := range c.episodes {
					for range int(one.All) {
						if at.Hours() >= e[0] && at.Hours() < e[1] && random.Float64() < 0.08 {
							one.Of++
						}
					}
				}
				counts = append(counts, one)
			}
			var want, got []float64
			for _, e := range c.episodes {
				want = append(want, e[0])
				if e[1] < c.last.Hours() {
					want = append(want, e[1])
				}
			}
			for i, change := range CountChanges(counts) {
				got = append(got, change.To.Sub(begin).Hours())
				if change.Rises() != (i%2 == 0) {
					got = append(got, math.NaN())
				}
			}
			const off = 1 // hour
			if slices.EqualFunc(want, got, func(a, b float64) bool { return math.Abs(a-b) <= off }) {
				found++
			}
		}
		t.Logf("%-22s %d of %d", c.what+":", found, seeds)
		if found < seeds*8/10 {
			t.Errorf("%s: found whole in %d of %d", c.what, found, seeds)
		}
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
