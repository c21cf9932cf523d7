package agent

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// lookAgain is how often an agent looks again what it lacks: an address may come, a program be installed.
const lookAgain = time.Minute

// report sends the status every fleet.StatusEvery, and when the plan is new.
func (a *Agent) report(ctx context.Context) {
	var looked time.Time
	for {
		if time.Since(looked) >= lookAgain {
			looked = time.Now()
			missing := look(a.policy)
			if a.exposed != nil && len(a.policy.AllPrograms()) > 0 {
				missing = append(missing, fleet.MissingCapability{Kind: "command", What: "programs", Why: a.exposed.Error()})
			}
			a.mu.Lock()
			a.missing = missing
			a.mu.Unlock()
		}
		if err := a.config.Link.Report(ctx, a.status()); err != nil && ctx.Err() == nil {
			a.log.Debug("the status did not reach the controller", "error", err)
		}
		if !a.reporter.wait(ctx, fleet.StatusEvery) {
			return
		}
	}
}

func (a *Agent) status() fleet.Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	state := a.spool.State()
	s := fleet.Status{Host: a.config.Host, At: a.now().UTC(), Version: a.config.Version, Platform: platform(), Can: a.can, Plan: a.plan.Number,
		Running: append([]string{}, slices.Sorted(maps.Keys(a.running))...), Open: []string{}, Spooled: state.Results, Clock: clock(),
		Lacks: slices.Concat(a.missing, disk(state))}
	for _, run := range slices.Sorted(maps.Keys(a.responders)) {
		switch d := a.responders[run]; {
		case d.open:
			s.Open = append(s.Open, run)
		case d.why != "":
			s.Lacks = append(s.Lacks, fleet.MissingCapability{What: "opening for run " + run, Why: d.why})
		}
	}
	return s
}

// abilities are what this build understands.
func abilities() *fleet.Abilities {
	return &fleet.Abilities{Protocol: fleet.Protocol, Results: measure.ResultSchema, Kinds: probe.ParameterNames()}
}
