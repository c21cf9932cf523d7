package control

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/schedule"
)

const (
	// maxRuns bounds a plan, over all hosts: what is on disk, in memory and on the wire of it. The horizon is shorter where
	// a mesh has more.
	maxRuns = 200_000
	// leastHorizon is planned however many runs that is: less would not outlast a restart of the controller.
	leastHorizon = 2 * time.Minute
)

// planDue says whether the last plan is half over.
func (c *Control) planDue() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.config.Now()
	return c.current.Number == 0 || now.After(c.current.From.Add(c.current.Until.Sub(c.current.From)/2)) || c.planner == nil ||
		c.planner.work.mesh != c.mesh
}

// replan makes the plan from now to the horizon, keeps it on disk and sends it to every host. Runs of the last plan that
// the mesh still wants stay, under their IDs.
func (c *Control) replan(ctx context.Context) error {
	next, withdrawn, err := c.nextPlan()
	if err != nil {
		return err
	}
	if err := next.write(c.config.Data); err != nil {
		return err
	}
	c.mu.Lock()
	before := c.current.Hosts
	c.current = *next
	c.mu.Unlock()
	c.ledger.withdraw(withdrawn)
	c.ledger.expect(next.Runs)
	c.watchers.tell(Event{Plan: next.Number})
	return c.send(ctx, next, before)
}

// send gives each host its part of a plan, an empty one to hosts that have none any more.
func (c *Control) send(ctx context.Context, p *plan, before []string) error {
	plans := deal(p.Runs, p.Number, p.Issued, p.From, p.Until, c.peer)
	var failed []error
	for _, host := range union(before, p.Hosts) {
		one := plans[host]
		if one == nil {
			one = &fleet.Plan{Host: host, Number: p.Number, Issued: p.Issued, From: p.From, Until: p.Until}
		}
		if err := c.config.Hub.Plan(ctx, *one); err != nil {
			failed = append(failed, fmt.Errorf("send plan to %s: %w", host, err))
		}
	}
	return errors.Join(failed...)
}

// nextPlan works out a plan, and names the runs of the last one that will not take place.
func (c *Control) nextPlan() (next *plan, withdrawn []string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.config.Now().UTC()
	changed, err := c.renew(now)
	if err != nil {
		return nil, nil, err
	}
	next = &plan{Number: max(c.current.Number+1, uint64(now.Unix())), Issued: now, From: now}
	from := c.planner.taken
	c.ports.free(now)
	for _, r := range c.current.Runs {
		switch {
		case r.Limit().Before(now):
		case changed && !r.Start.Before(from):
			withdrawn = append(withdrawn, r.ID)
		default:
			next.Runs = append(next.Runs, r)
		}
	}
	until := now.Add(c.mesh.Controller.Horizon)
	c.skipped = map[string]bool{}
	for planned := range c.planner.Runs(from, until) {
		if len(next.Runs) >= maxRuns && planned.Begin().After(now.Add(leastHorizon)) {
			until = planned.Begin()
			break
		}
		if err := c.addRun(next, &planned); err != nil {
			return nil, nil, err
		}
	}
	c.planner.taken, next.Until, next.Schedule = until, until, c.planner.State(now)
	slices.SortStableFunc(next.Runs, func(a, b measure.Run) int { return a.Start.Compare(b.Start) })
	for _, h := range c.mesh.Hosts {
		if h.Reach != config.ReachResponder && !h.Offline {
			next.Hosts = append(next.Hosts, h.Name)
		}
	}
	c.warn()
	return next, withdrawn, nil
}

// addRun makes a planned run one that hosts can do, unless they said that they cannot.
func (c *Control) addRun(next *plan, planned *schedule.Run) error {
	w := c.planner.work
	if planned.Test < 0 {
		return nil // on demand: its hosts were told already
	}
	test := &w.mesh.Tests[w.tests[planned.Test]]
	tool := w.mesh.Tool(test.Tool)
	source, target := w.ends[planned.Source][0], w.ends[planned.Target][0]
	leg, err := w.mesh.Leg(test, source, target)
	if err != nil {
		return fmt.Errorf("plan %s: %w", test.Name, err)
	}
	d, err := need(w.mesh, tool, leg)
	if err != nil {
		return fmt.Errorf("plan %s: %w", test.Name, err)
	}
	if why := c.cannot(leg, tool.Kind, d); why != "" {
		c.skipped[why] = true
		return nil
	}
	at := turn{planned.Begin(), planned.Slot, planned.Slot + limitOf(tool, d)}
	if d.Exclusive { // whatever it does, it is over before another one is on its interfaces
		at.limit = min(at.limit, planned.Slot+planned.Duration+schedule.DefaultGuard)
	}
	run, err := prepare(w.mesh, tool, leg, d, at, c.ports)
	if err != nil {
		c.skipped[err.Error()] = true
		return nil
	}
	run.Test, run.Tries = test.Name, test.Schedule.Tries
	next.Runs = append(next.Runs, run)
	return nil
}

// cannot says why the hosts of a run said that they cannot do it; "" if they did not.
func (c *Control) cannot(leg config.Leg, kind string, d measure.Demand) string {
	lacks := func(host int, matches func(fleet.Lack) bool) string {
		name := c.mesh.Hosts[host].Name
		status, _, _ := c.roster.last(name)
		for _, l := range status.Lacks {
			if matches(l) {
				return fmt.Sprintf("%s does no %s: %s", name, kind, l.Why)
			}
		}
		return ""
	}
	six := strings.Contains(leg.TargetAddress, ":")
	why := lacks(leg.Source, func(l fleet.Lack) bool {
		return l.Kind == kind && !strings.HasPrefix(l.What, "program ") || six && l.What == "ipv6"
	})
	if why == "" && d.Far != "" {
		why = lacks(leg.Target, func(l fleet.Lack) bool { return l.What == "target" })
	}
	return why
}

// warn puts what the planner could not do as asked into words.
func (c *Control) warn() {
	c.warnings = c.warnings[:0]
	for _, f := range c.planner.Findings() {
		c.warnings = append(c.warnings, FindingText(f))
	}
	for why := range c.skipped {
		c.warnings = append(c.warnings, why)
	}
	slices.Sort(c.warnings)
}

// FindingText says in words what the planner could not do as asked.
func FindingText(f schedule.Finding) string {
	where := ""
	if f.Where != "" {
		where = " at " + f.Where
	}
	return fmt.Sprintf("test %s: %s%s: needs %v, has %v, and is planned for the longer",
		f.Test, f.Kind, where, roundSeconds(f.NeedsSeconds), roundSeconds(f.HasSeconds))
}

func roundSeconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Second)
}

// peer is the address that a run's source comes from, as far as the mesh file says: "" if it has several to choose from, is
// known by name only, or is on the same machine, whose kernel chooses.
func (c *Control) peer(r *measure.Run) string {
	m := c.Mesh()
	i, known := m.Host(r.Source)
	if !known || len(m.Hosts[i].Interfaces) > 1 || len(m.Hosts[i].Interfaces[0].Addresses) > 1 {
		return ""
	}
	address, err := netip.ParseAddr(m.Hosts[i].Interfaces[0].Addresses[0])
	if err != nil || address.IsLoopback() {
		return ""
	}
	return address.String()
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
