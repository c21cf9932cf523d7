package analysis

import (
	"math"
	"time"

	"github.com/pathwise-net/pathwise/stat"
)

// Refine narrows down when a step happened, by finer runs of the same series around it: each is of the level that it is nearer to,
// and the step is where most runs before are of the one and most after of the other. Where more than one in ten would stand on the
// wrong side the times stay as they are.
func (c *Change) Refine(runs []Run) {
	if c.Shape != Step || len(runs) < 2 {
		return
	}
	old := make([]bool, len(runs)) // of the level before
	wrong := 0
	for i, r := range runs {
		old[i] = math.Abs(r.Value-c.Before.Value) < math.Abs(r.Value-c.After.Value)
		if old[i] {
			wrong++ // all after the step, as a split before the first run has it
		}
	}
	best, least := 0, wrong
	for i := range runs {
		if old[i] {
			wrong--
		} else {
			wrong++
		}
		if wrong < least {
			best, least = i+1, wrong
		}
	}
	if best == 0 || best == len(runs) || least*10 > len(runs) {
		return
	}
	c.From, c.To = runs[best-1].At, runs[best].At
}

// leastShare is which part of the ratio of now is taken for the usual one, at the least: none at all before would make one packet everything.
const leastShare = 0.05

// mostLost is the highest ratio that is reckoned with: of a higher one a packet that came through would be impossible.
const mostLost = 0.99

// Onset is when counts came from one ratio to a higher one: the split for which they are likeliest, after Page's test (Continuous inspection
// schemes, Biometrika 41, 1954), in the order of time. false: it was before the first, or they do not say.
func Onset(counts []Count, usual, now float64) (at time.Time, known bool) {
	now = min(now, mostLost)
	usual = max(usual, leastShare*now)
	if usual >= now {
		return at, false
	}
	hit, miss := math.Log(now/usual), math.Log((1-now)/(1-usual))
	best, total, most := -1, 0.0, 0.0
	for i := len(counts) - 1; i >= 0; i-- {
		if total += counts[i].Of*hit + (counts[i].All-counts[i].Of)*miss; total > most {
			best, most = i, total
		}
	}
	if best <= 0 {
		return at, false
	}
	return counts[best].At, true
}

// Window is what a series came to over a time: one number for all its runs, and the 5th and 95th percentile of runs.
type Window struct {
	Value, Low, High float64
	Runs             int
}

// fewInWindow is how many runs a window must have to say what a pair is like then.
const fewInWindow = 3

// Differs says whether a series, as it is in a window after a time, is beyond what its runs were before, up or down.
func (w Worth) Differs(before, after Window, up bool) bool {
	if before.Runs < fewInWindow || after.Runs < fewInWindow || !w.telling(before.Value, after.Value) {
		return false
	}
	if up {
		return after.Value > max(before.High, before.Value)
	}
	return after.Value < min(before.Low, before.Value)
}

// CountsDiffer says the same of how many of how many there were before and after.
func CountsDiffer(before, after Count, up bool) bool {
	if before.All <= 0 || after.All <= 0 || max(before.Of, after.Of) < leastCounted {
		return false
	}
	k, l := before.Of/before.All, after.Of/after.All
	if !up {
		k, l = l, k
	}
	return l >= leastTimes*k && l-k >= leastRatio && stat.Fisher(before.Of, before.All, after.Of, after.All) <= together
}

// together is how unlikely the counts of another pair must be by one ratio: less is asked of it than of one that is searched for a
// time.
const together = 1e-3
