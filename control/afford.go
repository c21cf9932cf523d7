package control

import (
	"fmt"
	"time"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/measure"
)

// leastPart of a transfer is worth making where tests on demand took the rest of its bytes: a shorter one is over before TCP has
// found the rate of its path, and says nothing of it.
const leastPart = 0.1

// cuts counts planned runs of today that gave bytes up to tests that somebody asked for: each run once.
type cuts struct{ shorter, leftOut int }

// afford holds a planned run to what tests that somebody asked for have left of the day's bytes of its hosts and sites: a transfer
// moves less, anything else is left out. On a day of which nothing was asked for, the plan is within budgets on average, and stays.
func (f *filling) afford(m *config.Mesh, tool *config.Tool, leg config.Leg, need *measure.Demand, at time.Time) bool {
	limits := m.DailyLimits(leg.Source, leg.Target)
	if len(limits) == 0 || dayOf(at) != dayOf(f.next.Issued) {
		return true
	}
	gets, whose := need.Bytes, ""
	for _, l := range limits {
		asked, done := f.spending.taken(l.Whose, f.next.Issued)
		if left := l.Bytes - asked - done - f.used[l.Whose]; asked > 0 && left < gets {
			gets, whose = left, l.Whose
		}
	}
	if whose != "" { // the one who has least left is told of it, and nobody else
		cut, leftOut := f.cuts[whose], tool.Kind != "throughput" || gets < leastPart*need.Bytes
		if leftOut {
			cut.leftOut++
		} else {
			cut.shorter++
		}
		f.cuts[whose] = cut
		if leftOut {
			return false
		}
		need.Bytes = gets
	}
	for _, l := range limits {
		f.used[l.Whose] += need.Bytes
	}
	return true
}

// String is the sentence that warns whose day's bytes went to tests on demand.
func (c cuts) String() string {
	return fmt.Sprintf("%d planned runs of today are left out and %d are shorter, since tests on demand took their bytes",
		c.leftOut, c.shorter)
}

// pending sums what runs take that begin today and of which there is no Result yet, by whose bytes they are.
func (c *Control) pending(m *config.Mesh, runs []measure.Run, now time.Time) map[string]float64 {
	used := map[string]float64{}
	if !m.Daily() {
		return used
	}
	today, reckoned := dayOf(now), reckonings{}
	for i := range runs {
		r := &runs[i]
		if _, open := c.awaited.source(r.ID); !open || dayOf(r.Start) != today || r.Limit().Before(now) {
			continue
		}
		bytes := reckonedBytes(m, r, reckoned)
		for _, l := range limitsOf(m, r) {
			used[l.Whose] += bytes
		}
	}
	return used
}

// limitsOf are those on the bytes of the day that a run counts for.
func limitsOf(m *config.Mesh, r *measure.Run) []config.DailyLimit {
	source, one := m.Host(r.Source)
	target, two := m.Host(r.Target)
	if !one || !two {
		return nil // of a mesh file that has changed meanwhile
	}
	return m.DailyLimits(source, target)
}

// reckonedBytes is what a run takes on the wire, as far as its task and its tool say.
func reckonedBytes(m *config.Mesh, r *measure.Run, reckoned reckonings) float64 {
	need, err := reckoned.demand(r.Task)
	if err != nil {
		return 0
	}
	if tool := m.Tool(r.Tool); tool != nil {
		need = tool.Adjust(need)
	}
	return need.Bytes
}

// account counts what a planned run took of the day's bytes: what its Result says, or else what was reckoned.
func (c *Control) account(run *measure.Run, result *measure.Result) {
	m := c.Mesh()
	limits := limitsOf(m, run)
	if len(limits) == 0 {
		return
	}
	bytes, known := result.Moved()
	switch {
	case known:
		bytes = config.OnWire(run.Task.Parameters, bytes)
	case result.Status != measure.StatusFailed:
		bytes = reckonedBytes(m, run, reckonings{})
	}
	c.spending.add(limits, bytes, run.Start, c.config.Now())
}

// makeRoom asks for a new plan if what is planned for today and what was asked for are together more than somebody may move.
func (c *Control) makeRoom(m *config.Mesh, limits []config.DailyLimit) {
	if len(limits) == 0 {
		return
	}
	now := c.config.Now()
	c.mu.Lock()
	runs := c.current.Runs // never changed
	c.mu.Unlock()
	pending := c.pending(m, runs, now)
	for _, l := range limits {
		asked, planned := c.spending.taken(l.Whose, now)
		if asked > 0 && asked+planned+pending[l.Whose] > l.Bytes {
			c.mu.Lock()
			c.other = true
			c.mu.Unlock()
			c.config.Log.Info("planned runs make room for tests on demand", "of", l.Whose, "asked_bytes", int64(asked))
			return
		}
	}
}
