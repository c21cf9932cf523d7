package control

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/respond"
	"github.com/pathwise-net/pathwise/schedule"
)

// fillStep is how much time is planned before others may have the planner, such as a test on demand: a second's work for
// a mesh of thousands of hosts, else much less.
const fillStep = time.Minute

// nextPlan works out a plan, and names the runs of the last one that will not take place. Adopt it, or drop it, also beside
// an error.
func (c *Control) nextPlan() (next *plan, withdrawn []*measure.Run, err error) {
	now := c.config.Now().UTC()
	c.mu.Lock()
	mesh, last, other := c.mesh, c.current, c.other
	c.other, c.resend = false, false
	c.mu.Unlock()
	f := filling{Control: c, next: &plan{Number: max(last.Number+1, uint64(now.Unix())), Issued: now, From: now}}
	from, err := f.begin(mesh, &last, now, other)
	if err != nil {
		return f.next, nil, err
	}
	until, full := now.Add(mesh.Controller.Horizon), false
	for at := from; at.Before(until) && !full; at = at.Add(fillStep) {
		if full, err = f.fill(at, earlier(at.Add(fillStep), until), now.Add(leastHorizon)); err != nil {
			return f.next, nil, err
		} else if full {
			until = earlier(f.upTo, until)
		}
	}
	return f.next, f.end(mesh, until, now), nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// filling is a plan in the making.
type filling struct {
	*Control
	next    *plan
	upTo    time.Time                // of a plan that is full: where it ends
	before  map[place][]*measure.Run // runs of the last plan that may be planned again
	skipped map[string]bool          // why runs were left out
	used    map[string]float64       // bytes of today that runs to come take, by whose they are
	cuts    map[string]cuts          // of runs of today, by whose bytes were taken
}

// place tells the runs of a plan apart, whichever their ID, but those of a pair that had to wait for the same end of a test
// that filled a link.
type place struct {
	test, source, target string
	start                int64 // in Unix nanoseconds
}

func placeOf(r *measure.Run) place { return place{r.Test, r.Source, r.Target, r.Start.UnixNano()} }

// begin takes over what stays of the last plan, and says from when on there is none. other says that hosts can do more or
// less than then.
func (f *filling) begin(m *config.Mesh, last *plan, now time.Time, other bool) (from time.Time, err error) {
	f.planning.Lock()
	defer f.planning.Unlock()
	if err := f.renew(m, last, now); err != nil {
		return from, err
	}
	if soon := now.Add(schedule.DefaultFreeze); (other || last.ahead(now)) && soon.Before(f.planner.taken) {
		f.planner.taken, f.planner.changed = soon, true
	}
	from = f.planner.taken
	changed := f.planner.changed
	if late := now.Add(schedule.DefaultFreeze); changed && last.Number > 0 && from.Before(late) {
		from = late // of a plan that could not be kept before: hosts still have the last one
	} else if from.Before(now) {
		from = now
	}
	f.before, f.skipped, f.cuts = map[place][]*measure.Run{}, map[string]bool{}, map[string]cuts{}
	f.ports.free(now)
	for i := range last.Runs {
		switch r := &last.Runs[i]; {
		case r.Limit().Before(now):
		case changed && !r.Start.Before(from):
			f.before[placeOf(r)] = append(f.before[placeOf(r)], r)
		default:
			f.next.Runs = append(f.next.Runs, *r)
		}
	}
	f.used = f.pending(m, f.next.Runs, now)
	return from, nil
}

// fill adds the runs that begin from then until then. It says that the plan is full if it has maxRuns, and least is past.
func (f *filling) fill(from, until, least time.Time) (full bool, err error) {
	f.planning.Lock()
	defer f.planning.Unlock()
	for planned := range f.planner.Runs(from, until) {
		if len(f.next.Runs) >= maxRuns && planned.Begin().After(least) {
			f.upTo = planned.Begin()
			return true, nil
		}
		if err := f.add(&planned); err != nil {
			return false, err
		}
	}
	return false, nil
}

// end completes the plan. What is left of the last one will not take place.
func (f *filling) end(m *config.Mesh, until, now time.Time) (withdrawn []*measure.Run) {
	f.planning.Lock()
	defer f.planning.Unlock()
	for _, runs := range f.before {
		withdrawn = append(withdrawn, runs...)
	}
	f.next.Until, f.next.Schedule = until, f.planner.State(now)
	slices.SortStableFunc(f.next.Runs, func(a, b measure.Run) int { return a.Start.Compare(b.Start) })
	for _, h := range m.Hosts {
		if h.Reach != config.ReachResponder && !h.Offline {
			f.next.Hosts = append(f.next.Hosts, h.Name)
		}
	}
	warnings := f.warnings()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Control.warnings = warnings
	return withdrawn
}

// add makes a planned run one that hosts can do, unless they said that they cannot.
func (f *filling) add(planned *schedule.Run) error {
	w := f.planner.work
	if planned.Test < 0 {
		return nil // on demand: its hosts were told already
	}
	test := &w.mesh.Tests[w.tests[planned.Test]]
	tool := w.mesh.Tool(test.Tool)
	source, target := w.ends[planned.Source][0], w.ends[planned.Target][0]
	leg, err := w.mesh.Leg(test, tool, source, target)
	if err != nil {
		return fmt.Errorf("plan %s: %w", test.Name, err)
	}
	d, err := w.reckoning.Need(tool, leg)
	if err != nil {
		return fmt.Errorf("plan %s: %w", test.Name, err)
	}
	if why := cmp.Or(f.outdated(w.mesh, tool, leg, d), f.cannot(w.mesh, tool, leg, d)); why != "" {
		f.skipped[why] = true
		return nil
	}
	if !f.afford(w.mesh, tool, leg, &d, planned.Begin()) {
		return nil
	}
	d.Sealed = d.Sealed && f.seal(w.mesh, leg, d)
	at := turn{planned.Begin(), planned.Slot, planned.Slot + limitOf(tool, d)}
	if d.Exclusive { // whatever it does, it is over before another one is on its interfaces
		at.limit = min(at.limit, planned.Slot+planned.Duration+schedule.DefaultGuard)
	}
	prepared := func(pick picker) (measure.Run, error) {
		run, err := prepare(w.mesh, tool, leg, d, at, pick)
		run.Test, run.Tries = test.Name, test.Schedule.Tries
		return run, err
	}
	if f.again(place{test.Name, w.mesh.Hosts[source].Name, w.mesh.Hosts[target].Name, at.start.UnixNano()}, prepared) {
		return nil
	}
	run, err := prepared(f.ports.take)
	if err != nil {
		f.skipped[err.Error()] = true
		return nil
	}
	f.next.Runs = append(f.next.Runs, run)
	return nil
}

// again keeps a run of the last plan, with its ID, port and secret, if the new plan has the same one.
func (f *filling) again(at place, prepare func(picker) (measure.Run, error)) bool {
	if len(f.before[at]) == 0 {
		return false
	}
	old := f.before[at][0]
	same := func(_ string, first, last int, _, _ time.Time) (int, error) {
		if old.Responder == nil || old.Responder.Port < first || old.Responder.Port > last {
			return 0, errors.New("another port")
		}
		return old.Responder.Port, nil
	}
	run, err := prepare(same)
	if err != nil {
		return false
	}
	run.ID, run.Start = old.ID, old.Start
	if run.Responder != nil && old.Responder != nil {
		run.Responder.Secret, run.Responder.Sealed = old.Responder.Secret, old.Responder.Sealed
	}
	if !reflect.DeepEqual(&run, old) {
		return false
	}
	f.before[at] = f.before[at][1:]
	f.next.Runs = append(f.next.Runs, *old)
	return true
}

// cannot says why the hosts of a run said that they cannot do it; "" if they did not.
func (c *Control) cannot(m *config.Mesh, tool *config.Tool, leg config.Leg, d measure.Demand) string {
	lacks := func(host int, matches func(fleet.MissingCapability) bool) string {
		name := m.Hosts[host].Name
		status, _, _ := c.roster.last(name)
		for _, l := range status.Lacks {
			if matches(l) {
				return fmt.Sprintf("%s does no %s: %s", name, cmp.Or(l.Kind, tool.Kind), l.Why)
			}
		}
		return ""
	}
	six, task := strings.Contains(leg.TargetAddress, ":"), measure.Task{Kind: tool.Kind, Parameters: tool.Parameters}
	why := lacks(leg.Source, func(l fleet.MissingCapability) bool {
		return probe.Named(l.Kind, task) && !strings.HasPrefix(l.What, "program ") || six && l.What == "ipv6"
	})
	if why == "" && d.Responder != "" {
		why = lacks(leg.Target, func(l fleet.MissingCapability) bool { return l.What == respond.Lack(d.Responder) })
	}
	return why
}

// warnings puts what the planner could not do as asked into words.
func (f *filling) warnings() []string {
	all := []string{}
	for _, found := range f.planner.Findings() {
		all = append(all, found.String())
	}
	all = slices.AppendSeq(all, maps.Keys(f.skipped))
	for whose, cut := range f.cuts {
		all = append(all, whose+": "+cut.String())
	}
	slices.Sort(all)
	return all
}
