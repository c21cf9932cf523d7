package analysis

import (
	"flag"
	"maps"
	"math"
	"slices"
	"sync"
	"testing"
	"time"
)

// delays are what differences of a delay in ms are worth.
var delays = Worth{Least: 0.1, Share: 0.02}

// moreSeeds is how many series of each kind are tried, for figures that are printed with -v.
var moreSeeds = flag.Int("seeds", 5, "how many series of each kind are tried; of losses four times as many")

// ofSeeds counts the seeds of which something holds, some at the same time.
func ofSeeds(seeds int, holds func(seed uint64) bool) (n int) {
	var group sync.WaitGroup
	found := make([]bool, seeds)
	next := make(chan int, seeds)
	for seed := range seeds {
		next <- seed
	}
	close(next)
	for range 4 {
		group.Go(func() {
			for seed := range next {
				found[seed] = holds(uint64(seed))
			}
		})
	}
	group.Wait()
	for _, f := range found {
		if f {
			n++
		}
	}
	return n
}

// Of two weeks in which nothing changed, at most one in a hundred is said to have a change, and of no kind of runs more than six. How many
// of how many:
//
//	go test ./analysis -run TestFalseAlarms -v -seeds 100
func TestFalseAlarms(t *testing.T) {
	seeds := *moreSeeds
	all, wrong := 0, 0
	for _, c := range []struct {
		spacing time.Duration
		days    float64
	}{{20 * time.Minute, 14}, {time.Hour, 14}, {6 * time.Hour, 14}, {5 * time.Minute, 2}} {
		for _, name := range slices.Sorted(maps.Keys(calm)) {
			n := ofSeeds(seeds, func(seed uint64) bool {
				return len(Changes(calm[name].make(seed, c.days, c.spacing, nil), delays)) > 0
			})
			t.Logf("every %v for %g days, %-24s %3d of %d", c.spacing, c.days, name+":", n, seeds)
			all, wrong = all+seeds, wrong+n
			if n > max(2, seeds*6/100) {
				t.Errorf("every %v for %g days, %s: %d of %d calm series are said to change", c.spacing, c.days, name, n, seeds)
			}
		}
	}
	t.Logf("all: %d of %d", wrong, all)
	if wrong*100 > all {
		t.Errorf("%d of %d calm series are said to change", wrong, all)
	}
}

// finds says whether a series is said to change once, in a shape, at an hour to within some, by a height to within a fifth.
func finds(changes []Change, shape Shape, hour, within, by float64) bool {
	return slices.ContainsFunc(changes, func(c Change) bool {
		at := c.From.Add(c.To.Sub(c.From) / 2).Sub(begin).Hours()
		rose := c.After.Value - c.Before.Value
		return c.Shape == shape && math.Abs(at-hour) <= within && math.Abs(rose-by) <= 0.35*math.Abs(by)
	})
}

// Steps of the stated sizes are found, at their time; -v prints how many of how many. Of few series one more may be missed.
func TestPower(t *testing.T) {
	seeds := *moreSeeds
	for _, c := range []struct {
		noise  string
		what   string
		plant  plant
		shape  Shape
		hour   float64 // at which it is looked for
		within float64
		by     float64
		least  float64 // share of the seeds
	}{
		{"normal", "2 spreads for good", stepAt(300, 2), Step, 300, 6, 2, 0.9},
		{"normal", "a fall of 2 spreads", stepAt(200, -2), Step, 200, 6, -2, 0.9},
		{"normal", "4 spreads, for the last 3 hours", stepAt(333, 4), Step, 333, 1, 4, 0.6},
		{"normal", "4 spreads for 6 hours, up", episode(250, 256, 4), Step, 250, 1, 4, 0.9},
		{"normal", "4 spreads for 6 hours, down", episode(250, 256, 4), Step, 256, 1, -4, 0.9},
		{"exponential", "1.5 ms of 40", stepAt(300, 1.5), Step, 300, 6, 1.5, 0.9},
		{"heavy tail", "5 ms of 40", stepAt(300, 5), Step, 300, 2, 5, 0.9},
		{"spikes", "1 ms under spikes of 200", stepAt(300, 1), Step, 300, 3, 1, 0.9},
		{"daily wave", "10 ms, as much as the wave", stepAt(300, 10), Step, 300, 3, 10, 0.9},
		{"weekday wave", "10 ms on a weekend", stepAt(290, 10), Step, 290, 3, 10, 0.8},
		{"alike beside each other", "5 spreads", stepAt(300, 5), Step, 300, 3, 5, 0.8},
		{"busy hours", "20 ms", stepAt(300, 20), Step, 300, 2, 20, 0.9},
		{"normal", "a creep of 1 spread a day for the last 7 days", creepFrom(168, 336, 1), Creep, 252, 30, 7, 0.8},
		{"normal", "a creep of half a spread a day, all the time", creepFrom(0, 336, 0.5), Creep, 168, 40, 6.5, 0.8},
		{"daily wave", "a creep of 3 ms a day for the last 7 days", creepFrom(168, 336, 3), Creep, 252, 30, 21, 0.8},
		{"heavy tail", "a creep of 2 ms a day in 3 days, then high", creepFrom(150, 222, 2), Creep, 186, 24, 6, 0.8},
	} {
		n := ofSeeds(seeds, func(seed uint64) bool {
			return finds(Changes(calm[c.noise].make(seed, 14, 20*time.Minute, c.plant), delays), c.shape, c.hour, c.within, c.by)
		})
		t.Logf("%-24s %-48s %2d of %d", c.noise+",", c.what+":", n, seeds)
		if float64(n) < math.Floor(c.least*float64(seeds)) {
			t.Errorf("%s, %s: found in %d of %d", c.noise, c.what, n, seeds)
		}
	}
}
