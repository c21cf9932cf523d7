package control

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"time"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

const (
	// startSlack is how long the message to the source may take, before its run counts as late: a bad line's round trip
	// and its first retransmission.
	startSlack = 10 * time.Second
	// resultSlack is how long after its limit a run's Result may take to come.
	resultSlack = 10 * time.Second
	// cancelWithin is how long it may take to call a run back that nobody waits for any more.
	cancelWithin = time.Second
)

// Test makes one measurement between two hosts of the mesh, as soon as it disturbs no other, and returns when its Result
// was shown, which is in the archive then or soon after. Both ends are told: the target opens what the test needs, for it
// alone, and the source begins. Ended by ctx, the run is called back. Errors: bad input, *Denial, ErrNotFree,
// ErrNotReady, fleet.ErrAway, a *fleet.Refusal.
func (c *Control) Test(ctx context.Context, r Request) error {
	run, admitted, err := c.accept(&r)
	c.tell(&r, admitted, run, err)
	defer func() { c.attempt("count a caller's bytes", c.leave(admitted)) }()
	if err != nil {
		return err
	}
	run.Role = cmp.Or(r.role, measure.RoleDemand)
	over := true // it has not begun
	defer func() { c.unplace(run.ID, over) }()
	if r.Placed != nil {
		r.Placed(run.ID, run.Start)
	}
	if err := wait(ctx, run.Start.Sub(c.config.Now())); err != nil {
		return err
	}
	admitted.began()
	if r.Began != nil {
		r.Began()
	}
	over, err = c.carryOut(ctx, run, func(p fleet.Progress) {
		if p.Result != nil {
			admitted.over(p.Result)
		}
		if r.Progress != nil {
			r.Progress(p)
		}
	})
	var refusal *fleet.Refusal
	if errors.Is(err, fleet.ErrAway) || errors.As(err, &refusal) {
		admitted.refused()
	}
	return err
}

// accept says when a Request has its turn. The admission, which may be there beside an error, is to be given back.
func (c *Control) accept(r *Request) (*measure.Run, *admission, error) {
	if r.Caller != nil { // who may do nothing learns nothing
		if _, err := classOf(c.Mesh(), r.Caller); err != nil {
			return nil, nil, err
		}
	}
	d, err := c.demandOf(*r)
	if err != nil {
		return nil, nil, err
	}
	t, err := c.admit(r, &d)
	if err != nil {
		return nil, nil, err
	}
	limits := d.mesh.DailyLimits(d.leg.Source, d.leg.Target)
	if t.spent, err = c.spending.take(limits, d.need.Bytes, r.unasked, c.config.Now()); err != nil {
		return nil, t, err
	}
	run, err := c.place(d, r.Patience)
	if err == nil {
		t.task = run.Task
		c.makeRoom(d.mesh, limits)
	}
	return run, t, err
}

// demandOf says what a Request comes to, if the mesh has such hosts and tools and lets them meet, and their agents know it.
func (c *Control) demandOf(r Request) (demand, error) {
	d, err := c.reckoned(r)
	if err != nil {
		return d, err
	}
	if why := c.outdated(d.mesh, d.tool, d.leg, d.need); why != "" {
		return d, badRequest("tool", r.Tool, "one that both hosts know: "+why)
	}
	return d, nil
}

// reckoned is demandOf, whatever the agents know.
func (c *Control) reckoned(r Request) (d demand, err error) {
	m, err := c.planned()
	if err != nil {
		return d, err
	}
	d.mesh = m
	source, err := hostOf(m, "source", r.Source)
	if err != nil {
		return d, err
	}
	target, err := hostOf(m, "target", r.Target)
	if err != nil {
		return d, err
	}
	if h := m.Hosts[source]; h.Reach == config.ReachResponder {
		return d, badRequest("source", r.Source, "a host that runs an agent; this one only answers")
	}
	if d.tool, err = toolOf(m, r); err != nil {
		return d, err
	}
	now := c.config.Now()
	if x := m.Excluded(d.tool.Name, source, target, now, now.Add(r.Patience)); x != nil {
		return d, badRequest("tool", r.Tool, "one that the mesh file lets these hosts use: see "+x.At)
	}
	if d.leg, err = m.Leg(nil, d.tool, source, target); err != nil {
		return d, err
	}
	if (source == target) != d.tool.Itself {
		return d, badRequest("target", r.Target, "another host than the source, or, of a tool that measures its host, the same")
	}
	c.mu.Lock()
	reckoning := reckon(m, c.rates.Among(m))
	c.mu.Unlock()
	if d.says, err = reckoning.Says(d.tool, d.leg); err != nil {
		return d, err
	}
	d.need, err = reckoning.Need(d.tool, d.leg)
	return d, err
}

// planned is the mesh that the planner has: a moment after the mesh file changed it is still the one before, and what a
// demand says by numbers must be of the same mesh as what it is fitted into.
func (c *Control) planned() (*config.Mesh, error) {
	c.planning.Lock()
	defer c.planning.Unlock()
	if c.planner == nil {
		return nil, ErrNotReady
	}
	return c.planner.work.mesh, nil
}

func hostOf(m *config.Mesh, field, name string) (int, error) {
	i, known := m.Host(name)
	switch {
	case !known:
		return 0, badRequest(field, name, "a host of the mesh file")
	case m.Hosts[i].Offline:
		return 0, badRequest(field, name, "a host that the mesh file has online")
	}
	return i, nil
}

// toolOf is the tool of a Request, with the Request's parameters over its own: the mesh's, or a kind of probe as it is.
func toolOf(m *config.Mesh, r Request) (*config.Tool, error) {
	tool := &config.Tool{Name: r.Tool, Kind: r.Tool, Itself: (probe.Catalogue{}).Itself(r.Tool)}
	named := m.Tool(r.Tool)
	if named != nil && !r.probe {
		copied := *named
		tool = &copied
	}
	switch program := tool.Kind == config.KindCommand; {
	case program && named == nil:
		return nil, badRequest("tool", r.Tool, "a tool of the mesh file, or a kind of probe: only programs that the mesh file names are run")
	case program && len(r.Parameters) > 0:
		return nil, badRequest("parameters", r.Tool, "none for a tool that is a program: the mesh file has its command")
	case r.Caller != nil && r.role == "": // a diagnosis knows what it does
		if err := settable(tool.Kind, r.Parameters); err != nil {
			return nil, err
		}
	}
	parameters := map[string]any{}
	maps.Copy(parameters, tool.Parameters)
	maps.Copy(parameters, r.Parameters)
	tool.Parameters = parameters
	if tool.Command == nil {
		if err := probe.Validate(measure.Task{Kind: tool.Kind, Parameters: parameters}); err != nil {
			return nil, badRequest("tool", r.Tool, "a tool of the mesh file, or a probe with parameters that it has: "+err.Error())
		}
	}
	return tool, nil
}
