package control

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/schedule"
)

// planner is what plans the mesh in force.
type planner struct {
	*schedule.Planner
	work    *work
	taken   time.Time // runs that begin before this are in plans
	changed bool      // runs of the last plan that begin later may be otherwise: of another planner or mesh, or of hosts that changed
}

// firstRunAfter is when the runs of the very first plan may begin: when it has reached every host that is there.
const firstRunAfter = 5 * time.Second

// renew brings the planner up to date with a mesh and with what was measured. c.planning is held.
func (c *Control) renew(m *config.Mesh, last *plan, now time.Time) error {
	c.mu.Lock()
	lately := c.planRates(m)
	c.mu.Unlock()
	if c.planner != nil && c.planner.work.mesh == m && c.planner.work.rates == lately {
		return nil
	}
	w, err := translate(m, lately.Among(m))
	if err != nil {
		return err
	}
	w.rates = lately
	next := &planner{work: w, taken: now.Add(schedule.DefaultFreeze), changed: true}
	switch {
	case c.planner != nil && c.planner.work.schedule.Fingerprint() == w.schedule.Fingerprint():
		next.Planner = c.planner.Planner // all times stay; what runs do then may not
	case c.planner != nil:
		next.Planner, err = c.planner.Change(w.schedule, now)
	case last.Number == 0:
		next.Planner, err = schedule.New(w.schedule, c.config.Seed)
		next.taken = now.Add(firstRunAfter)
	default:
		next.Planner, err = schedule.Resume(w.schedule, last.Schedule, now, lastRuns(last.Runs))
	}
	if err != nil {
		return fmt.Errorf("plan mesh: %w", err)
	}
	c.planner = next
	return nil
}

// lastRuns says when a pair of a test last had a run, by what was planned for it.
func lastRuns(runs []measure.Run) schedule.Last {
	last := map[[3]string]time.Time{}
	for _, r := range runs {
		key := [3]string{r.Test, r.Source, r.Target}
		if r.Start.After(last[key]) {
			last[key] = r.Start
		}
	}
	host := func(iface string) string { // as addHost names them
		name, _, _ := strings.Cut(iface, " ")
		return name
	}
	return func(test, source, target string) time.Time { return last[[3]string{test, host(source), host(target)}] }
}

// demand is a test that somebody asked for.
type demand struct {
	mesh *config.Mesh // that the rest is of
	tool *config.Tool
	leg  config.Leg
	says measure.Demand // without what is inferred
	need measure.Demand

	placed schedule.Run         // by place
	filed  chan *measure.Result // holds its Result once that was filed; by place
}

// ErrNotReady says that the controller has no plan yet, which takes it a moment after its start and after the mesh file
// changed.
var ErrNotReady = errors.New("the controller is only making its plan; try again in a moment")

// place gives a demand its time, its run and what it needs at the target, until unplace.
func (c *Control) place(d demand, patience time.Duration) (*measure.Run, error) {
	c.planning.Lock()
	defer c.planning.Unlock()
	if c.planner.work.mesh != d.mesh {
		return nil, ErrNotReady
	}
	w, now := c.planner.work, c.config.Now()
	pair := schedule.Pair{
		Source: w.number[[2]int{d.leg.Source, d.leg.SourceInterface}], Target: w.number[[2]int{d.leg.Target, d.leg.TargetInterface}],
	}
	placed, err := c.planner.Fit(now, pair, d.need, patience)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotFree, err)
	}
	if d.need.Exclusive {
		c.planner.Commit(placed)
	}
	c.ports.free(now)
	at := turn{placed.Begin(), startSlack, startSlack + limitOf(d.tool, d.need)}
	d.need.Sealed = d.need.Sealed && c.seal(d.mesh, d.leg, d.need)
	run, err := prepare(d.mesh, d.tool, d.leg, d.need, at, c.ports.take)
	if err != nil {
		c.planner.Release(placed)
		return nil, err
	}
	d.placed, d.filed = placed, make(chan *measure.Result, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.demands[run.ID] = d
	return &run, nil
}

// unplace forgets a demand. One that is over gives its time back; of another nobody knows whether packets still flow.
func (c *Control) unplace(id string, over bool) {
	c.planning.Lock()
	defer c.planning.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if over {
		c.planner.Release(c.demands[id].placed)
	}
	delete(c.demands, id)
}

// Planned lists the runs of a host, as source or target, that are not over, or of all hosts if host is "": of the plan and
// those that somebody asked for, soonest first, at most limit.
func (c *Control) Planned(host string, limit int) ([]PlannedRun, error) {
	m, now := c.Mesh(), c.config.Now()
	if _, known := m.Host(host); !known && host != "" {
		return nil, badRequest("host", host, "a host of the mesh file")
	}
	c.mu.Lock()
	runs := c.current.Runs // sorted by start, and never changed
	list := []PlannedRun{}
	for id, d := range c.demands {
		list = append(list, d.planned(id))
	}
	c.mu.Unlock()
	list = slices.DeleteFunc(list, func(r PlannedRun) bool { return !r.of(host) })
	reckoned := reckonings{}
	for i, found := 0, 0; i < len(runs) && found < limit; i++ {
		r := &runs[i]
		if r.Limit().Before(now) || host != "" && r.Source != host && r.Target != host {
			continue
		}
		if r := named(m, r, reckoned); r.End.After(now) {
			list = append(list, r)
			found++
		}
	}
	slices.SortStableFunc(list, func(a, b PlannedRun) int { return a.Start.Compare(b.Start) })
	return list[:min(limit, len(list))], nil
}

// of says whether a run is of a host; of "" all are.
func (r *PlannedRun) of(host string) bool { return host == "" || r.Source == host || r.Target == host }

// named is a run of a plan with its end as it is reckoned. A program whose end nobody knows has its limit.
func named(m *config.Mesh, r *measure.Run, reckoned reckonings) PlannedRun {
	lasts := time.Duration(r.LimitSeconds * float64(time.Second))
	if d, err := reckoned.demand(r.Task); err == nil {
		if tool := m.Tool(r.Tool); tool != nil {
			d = tool.Adjust(d)
		}
		if d.DurationSeconds > 0 {
			lasts = min(lasts, time.Duration(d.DurationSeconds*float64(time.Second)))
		}
	}
	return PlannedRun{Run: r.ID, Test: r.Test, Tool: r.Tool, Source: r.Source, Target: r.Target, Start: r.Start,
		End: r.Start.Add(lasts), Exclusive: r.Exclusive}
}

// planned is a test that somebody asked for.
func (d *demand) planned(id string) PlannedRun {
	hosts := d.mesh.Hosts
	return PlannedRun{Run: id, Tool: d.tool.Name, Source: hosts[d.leg.Source].Name, Target: hosts[d.leg.Target].Name,
		Start: d.placed.Begin(), End: d.placed.End(), Exclusive: d.need.Exclusive}
}
