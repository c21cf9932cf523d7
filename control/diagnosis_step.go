package control

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"time"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// outcome is what came of a step.
type outcome struct {
	step   diagnose.Step // as it was made at last
	run    string        // ID of its test; "": it had no turn
	result *measure.Result
	err    error
}

// do makes a step, and shows what came of it. What goes wrong is shown, and ends nothing.
func (d *diagnosis) do(ctx context.Context, s diagnose.Step) (*measure.Result, error) {
	if s.Locates() && !d.mayLocate(s) {
		return nil, nil
	}
	return d.over(ctx, d.make(ctx, s)), nil
}

// make makes a step, in less time if the caller may not have it as it is planned, and once more if it came to nothing for what may have been a moment's trouble.
func (d *diagnosis) make(ctx context.Context, s diagnose.Step) outcome {
	o := outcome{step: s}
	o.result, o.err = d.try(ctx, s, &o.run)
	for shorter, ok := o.step.Shorter(); ok && tooLong(o.err); shorter, ok = o.step.Shorter() {
		o.step = shorter
		o.result, o.err = d.try(ctx, o.step, &o.run)
	}
	if ctx.Err() == nil && passing(o.step, o.result, o.err) {
		o.result, o.err = d.try(ctx, o.step, &o.run)
	}
	return o
}

// over shows what came of a step, and returns its Result; nil: it left none.
func (d *diagnosis) over(ctx context.Context, o outcome) *measure.Result {
	line, err := DiagnosisLine{Step: o.step.Name, State: StepDone, Run: o.run}, o.err
	if o.result != nil && o.result.Error != nil {
		err = errors.New(*o.result.Error)
	}
	if err != nil {
		line.Error = err.Error()
	}
	if err != nil && (o.result == nil || o.result.Status == measure.StatusFailed) {
		line.State = StepFailed
		d.failed = append(d.failed, o.step.Name+": "+line.Error)
	}
	if o.step.Transfer() {
		d.why = cmp.Or(d.why, err)
	}
	if ctx.Err() == nil {
		d.show(line)
	}
	if o.result == nil && err != nil && o.step.Transfer() {
		return unmeasured(o.step, d.config.Now(), err)
	}
	return o.result
}

// mayLocate says whether both hosts are known to be able to make a step that a diagnosis can do without: the source has what the step takes, and the
// target opens what answers it, or, where it runs no agent, has that open. Where an agent's build is too old for it, that is told as what was not measured.
func (d *diagnosis) mayLocate(s diagnose.Step) bool {
	asked, err := d.reckoned(d.ask(s))
	if err != nil || d.cannot(asked.mesh, asked.tool, asked.leg, asked.need) != "" {
		return false
	}
	if why := d.outdated(asked.mesh, asked.tool, asked.leg, asked.need); why != "" {
		d.failed = append(d.failed, s.Name+": left out: "+why)
		return false
	}
	target := &asked.mesh.Hosts[asked.leg.Target]
	return target.Reach != config.ReachResponder || target.Ports.Fixed[asked.need.Responder] != 0
}

// unmeasured is a Result of a transfer that could not begin, for the diagnosis alone: a way of which nothing is known is not healthy. It
// has no ID, since it is not filed.
func unmeasured(s diagnose.Step, now time.Time, why error) *measure.Result {
	r := measure.NewResult(s.Kind, now)
	r.ID = ""
	maps.Copy(r.Parameters, s.Parameters)
	r.Fail(why)
	return r
}

// passing says whether what a step failed for may be gone: a host was too busy to answer in time, or a transfer says nothing, without
// which nothing is known of its way.
func passing(s diagnose.Step, result *measure.Result, err error) bool {
	if result == nil {
		return errors.Is(err, fleet.ErrNoAnswer) || errors.Is(err, errNoResult)
	}
	return s.Transfer() && !diagnose.Measured([]*measure.Result{result})
}

// try makes a step's test. The Result is nil if none came.
func (d *diagnosis) try(ctx context.Context, s diagnose.Step, run *string) (result *measure.Result, err error) {
	if s.NeedsResponder() {
		if err := wait(ctx, d.rests); err != nil {
			return nil, err
		}
	}
	asked := d.config.Now()
	r := d.ask(s)
	r.Placed = func(id string, begins time.Time) {
		d.left = max(0, d.left-max(0, begins.Sub(asked)))
		*run = id
		d.show(DiagnosisLine{Step: s.Name, State: StepWaiting, Run: id, Begins: &begins})
	}
	r.Began = func() { d.show(DiagnosisLine{Step: s.Name, State: StepRunning}) }
	r.Progress = func(p fleet.Progress) {
		if p.Result != nil {
			result = p.Result
			p.Result = bare(p.Result)
		}
		d.show(DiagnosisLine{Step: s.Name, Progress: &p})
	}
	err = d.Test(ctx, r)
	return result, err
}

// ask is a step's test.
func (d *diagnosis) ask(s diagnose.Step) Request {
	source, target := d.ends(s)
	parameters := map[string]any{}
	maps.Copy(parameters, s.Parameters)
	for _, dispensable := range []string{diagnose.Brief, diagnose.PathRate, diagnose.Narrow} { // the newest first
		if d.roster.notUnderstood(source, measure.Task{Kind: s.Kind, Parameters: parameters}) != "" {
			delete(parameters, dispensable)
		}
	}
	if d.request.Family != "" {
		parameters["family"] = d.request.Family
	}
	return Request{Source: source, Target: target, Tool: s.Kind, Parameters: parameters, probe: true, Patience: d.left,
		Caller: d.request.Caller, role: measure.DiagnosisRole(d.id, s.Name), unasked: d.request.trouble != ""}
}

// ends are the host that makes a step and the one that it measures, which are one where a host measures itself.
func (d *diagnosis) ends(s diagnose.Step) (source, target string) {
	switch {
	case s.Far:
		return d.request.Target, d.request.Target
	case (probe.Catalogue{}).Itself(s.Kind):
		return d.request.Source, d.request.Source
	}
	return d.request.Source, d.request.Target
}

// tooLong says whether a shorter test may be allowed where this one was not.
func tooLong(err error) bool {
	var denial *Denial
	return errors.As(err, &denial) && (denial.Limit == "duration" || denial.Limit == "daily_bytes" || denial.Limit == config.LimitDaily)
}
