package agent

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/respond"
)

// lookAgain is how often an agent looks again what it lacks: an address may come, a program be installed.
const lookAgain = time.Minute

// report sends the status every fleet.StatusEvery, and when the plan is new.
func (a *Agent) report(ctx context.Context) {
	var looked time.Time
	for {
		if time.Since(looked) >= lookAgain {
			looked = time.Now()
			missing := look(a.policy, probe.Kinds())
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
	return &fleet.Abilities{Protocol: fleet.Protocol, Results: measure.ResultSchema, Kinds: probe.ParameterNames(),
		Values: probe.ParameterValues(), Sealed: respond.Sealed()}
}

const (
	// showRate is how much a second people see of a run; what comes faster is left out, and stands in the Result.
	showRate = 10
	// lastWithin is how long the last word of a run may take.
	lastWithin = time.Second
)

// show streams what a run on demand does, without holding it up: what the link does not take at once is left out. A nil
// show is of a run that nobody watches.
type show struct {
	run  string
	link fleet.Link
	ctx  context.Context
	ch   chan fleet.Progress
	done chan struct{}

	mu     sync.Mutex
	ended  bool
	room   float64 // that may pass now
	filled time.Time
}

// newShow begins to stream; end ends it.
func newShow(ctx context.Context, link fleet.Link, run string) *show {
	s := &show{run: run, link: link, ctx: ctx, ch: make(chan fleet.Progress, showRate), done: make(chan struct{}),
		room: showRate, filled: time.Now()}
	go func() {
		defer close(s.done)
		for p := range s.ch {
			_ = link.Live(ctx, p) // lost, if nobody is there
		}
	}()
	return s
}

// watch makes a probe tell the show.
func (s *show) watch(o *probe.Options) {
	if s == nil {
		return
	}
	o.Interval = func(i measure.Interval) { s.tell(fleet.Progress{Interval: &i}) }
	o.Echo = func(e measure.Echo) { s.tell(fleet.Progress{Echo: &e}) }
	o.Rounds = func(r measure.RoundsSample) { s.tell(fleet.Progress{Rounds: &r}) }
	o.Line = func(line string) { s.tell(fleet.Progress{Line: line}) }
}

func (s *show) tell(p fleet.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.room = min(showRate, s.room+showRate*now.Sub(s.filled).Seconds())
	s.filled = now
	if s.room < 1 || s.ended {
		return
	}
	s.room--
	p.Run = s.run
	select {
	case s.ch <- p:
	default:
	}
}

// end sends the Result, behind everything else.
func (s *show) end(r *measure.Result) {
	s.mu.Lock()
	s.ended = true
	close(s.ch)
	s.mu.Unlock()
	<-s.done
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), lastWithin)
	defer cancel()
	_ = s.link.Live(ctx, fleet.Progress{Run: s.run, Result: r})
}
