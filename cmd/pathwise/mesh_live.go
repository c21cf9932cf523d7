package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/terminal"
)

// meshSteps shows the steps of a diagnosis that hosts of a mesh make as those of one from here are shown.
type meshSteps struct {
	*stepScreen
	target string
	why    map[string]string                       // each step is made
	ended  map[string]func(*measure.Result, error) // of the steps that were begun and are not over
	result map[string]*measure.Result              // of these, as far as one came
}

func newMeshSteps(s *session, target string) *meshSteps {
	return &meshSteps{stepScreen: s.steps, target: target, why: map[string]string{}, ended: map[string]func(*measure.Result, error){}, result: map[string]*measure.Result{}}
}

// take shows what a line tells.
func (m *meshSteps) take(s *session, l *control.DiagnosisLine) {
	for _, step := range l.Plan {
		m.why[step.Name] = step.Why
	}
	switch {
	case l.Step == "":
	case l.State == control.StepWaiting:
		m.ended[l.Step] = s.beginStep(l.Step, m.target, m.why[l.Step])
		delete(m.result, l.Step)
		m.live.Change(func() { m.begins = *l.Begins })
	case l.State == control.StepRunning:
		m.live.Change(func() { m.begins, m.began = time.Time{}, time.Now() })
	case l.State == control.StepDone, l.State == control.StepFailed:
		m.end(s, l)
	case l.Progress != nil:
		if l.Progress.Result != nil {
			m.result[l.Step] = l.Progress.Result
		}
		if text := latestOf(l.Progress); text != "" {
			m.live.Change(func() { m.latest = text })
		}
	}
}

// end shows what came of a step. One that never had its turn was not begun.
func (m *meshSteps) end(s *session, l *control.DiagnosisLine) {
	ended := m.ended[l.Step]
	if ended == nil {
		ended = s.beginStep(l.Step, m.target, "")
	}
	result, err := m.result[l.Step], error(nil)
	switch {
	case l.State == control.StepFailed:
		err = errors.New(l.Error)
	case result == nil:
		result = &measure.Result{}
	}
	ended(result, err)
	if l.Error != "" && err == nil {
		m.live.Print("  " + m.Warn("in part: "+l.Error))
	}
	delete(m.ended, l.Step)
	delete(m.result, l.Step)
}

// latestOf is the latest figure of a run; "": it has none.
func latestOf(p *fleet.Progress) string {
	switch {
	case p.Interval != nil:
		return quantity.FormatRate(p.Interval.BitsPerSecond)
	case p.Echo != nil && p.Echo.RTTSeconds != nil:
		return quantity.FormatSeconds(*p.Echo.RTTSeconds)
	case p.Rounds != nil:
		return quantity.FormatCount(p.Rounds.Rounds, "round")
	}
	return ""
}

// meshWatch shows a run between two hosts of a mesh as that kind of measurement is shown from here. What kind it is shows with the first
// thing that it tells: a mesh's tool may have any name.
type meshWatch struct {
	session *session
	what    string // is measured, and between whom
	task    measure.Task
	begins  time.Time // the run's turn; zero: it is not known yet
	live    *terminal.Live
	kind    watcher // nil: not known yet
	told    probe.Options
	rounds  string // what the rounds of a trace say of loss so far; "": it has none
}

// view is the wait, then the drawing of the kind.
func (m *meshWatch) view(columns int) []string {
	switch wait := time.Until(m.begins); {
	case m.kind != nil:
		return m.kind.view(columns)
	case wait > time.Second:
		return []string{m.session.screen().Faint(fmt.Sprintf("%s begins in %s", m.what, wait.Round(time.Second)))}
	}
	lines := []string{m.session.screen().Faint(m.what + "…")}
	if m.rounds != "" {
		lines = append(lines, m.rounds)
	}
	return lines
}

// become draws a kind from here on, where it has a drawing.
func (m *meshWatch) become(ctx context.Context, kind string) {
	if newWatcher := watchers[kind]; m.kind == nil && newWatcher != nil {
		w := newWatcher(m.session, []measure.Task{m.task})
		m.told = w.equip(ctx, 0, probe.Options{}, m.live)
		m.live.Change(func() { m.kind = w })
	}
}

// take shows what happens on the way.
func (m *meshWatch) take(ctx context.Context, p *fleet.Progress) {
	switch {
	case p.Interval != nil:
		m.become(ctx, "throughput")
		m.told.Interval(*p.Interval)
	case p.Echo != nil:
		m.become(ctx, "ping")
		m.told.Echo(*p.Echo)
	case p.Rounds != nil:
		m.live.Change(func() { m.rounds = p.Rounds.Loss.Verdict })
	case p.Line != "":
		m.live.Print(p.Line)
	}
}

// outcome takes the drawing away and prints what stands at the end.
func (m *meshWatch) outcome(ctx context.Context, w io.Writer, r *measure.Result) {
	m.become(ctx, r.Kind)
	m.live.End(false)
	if m.kind == nil {
		probe.WriteText(w, r)
		return
	}
	m.kind.finished(0, r, nil)
	m.kind.outcome(w, m.session.screen().Width())
	probe.WriteNotes(w, r)
}

// watchMesh shows a run on a terminal until it is over.
func (s *session) watchMesh(ctx context.Context, answer io.Reader, what string, task measure.Task) (*measure.Result, error) {
	m := &meshWatch{session: s, what: what, task: task}
	m.live = s.screen().Start(m.view)
	defer m.live.End(false)
	r, err := followRun(answer, func(begins time.Time) { m.live.Change(func() { m.begins = begins }) },
		func(p *fleet.Progress) { m.take(ctx, p) })
	if err == nil && ctx.Err() == nil && r.Status != measure.StatusFailed {
		m.outcome(ctx, s.out, r)
	}
	return r, err
}
