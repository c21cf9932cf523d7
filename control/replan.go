package control

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

const (
	// maxRuns bounds a plan, over all hosts: what is on disk, in memory and on the wire of it. The horizon is shorter where
	// a mesh has more.
	maxRuns = 200_000
	// leastHorizon is planned however many runs that is: less would not outlast a restart of the controller.
	leastHorizon = 2 * time.Minute
	// settles is how long after a plan hosts that changed wait for another: when a mesh starts, they come one after another.
	settles = 10 * time.Second
)

// planDue says whether the last plan is half over.
func (c *Control) planDue() bool {
	c.planning.Lock()
	defer c.planning.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	now, p := c.config.Now(), &c.current
	if (c.other || c.resend) && now.Sub(p.Issued) >= settles {
		return true
	}
	return p.Number == 0 || p.ahead(now) || now.After(p.From.Add(p.Until.Sub(p.From)/2)) || c.planner == nil ||
		c.planner.work.mesh != c.mesh || c.planner.work.rates != c.planRates(c.mesh)
}

// replan makes the plan from now to the horizon, keeps it on disk and sends it to every host. Runs of the last plan that
// the mesh still wants stay, under their IDs.
func (c *Control) replan(ctx context.Context) error {
	next, withdrawn, err := c.nextPlan()
	if err == nil {
		err = next.write(c.config.Data)
	}
	if err != nil {
		c.drop(next)
		return err
	}
	before := c.adopt(next, withdrawn)
	c.watchers.tell(Event{Plan: next.Number})
	return c.send(ctx, next, before)
}

// adopt takes a plan that is on disk for the one in force, and returns who had a part in the last one.
func (c *Control) adopt(next *plan, withdrawn []*measure.Run) (before []string) {
	var ids []string
	c.planning.Lock()
	for _, r := range withdrawn {
		ids = append(ids, r.ID)
		c.ports.release(r)
	}
	c.planner.taken, c.planner.changed = next.Until, false
	c.planning.Unlock()
	c.mu.Lock()
	before = c.current.Hosts
	c.current = *next
	c.mu.Unlock()
	c.awaited.withdraw(ids)
	c.awaited.expect(next.Runs)
	return before
}

// drop gives up a plan that could not be completed or kept: the one before stays, and the next attempt begins where it ends.
func (c *Control) drop(next *plan) {
	c.planning.Lock()
	defer c.planning.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	stays := map[string]bool{}
	for i := range c.current.Runs {
		stays[c.current.Runs[i].ID] = true
	}
	for i := range next.Runs {
		if !stays[next.Runs[i].ID] {
			c.ports.release(&next.Runs[i])
		}
	}
}

// toldAtOnce is how many failures one line of the log tells.
const toldAtOnce = 3

// send gives each host its part of a plan, an empty one to hosts that have none any more. Those that it cannot be left for,
// such as one that has no keys yet, cause another plan when they report.
func (c *Control) send(ctx context.Context, p *plan, before []string) error {
	plans := deal(p.Runs, p.Number, p.Issued, p.From, p.Until, c.peer)
	var failed []error
	unsent := map[string]bool{}
	for _, host := range union(before, p.Hosts) {
		one := plans[host]
		if one == nil {
			one = &fleet.Plan{Host: host, Number: p.Number, Issued: p.Issued, From: p.From, Until: p.Until}
		}
		if err := c.config.Hub.Plan(ctx, *one); err != nil {
			failed = append(failed, fmt.Errorf("send plan to %s: %w", host, err))
			unsent[host] = true
		}
	}
	c.mu.Lock()
	c.unsent = unsent
	c.mu.Unlock()
	if more := len(failed) - toldAtOnce; more > 0 {
		failed = append(failed[:toldAtOnce], fmt.Errorf("and to %d others", more))
	}
	return errors.Join(failed...)
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
