package control

import (
	"context"
	"maps"
	"time"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// besideMore is how much longer than planned a step goes on beside which a transfer runs, in seconds: the transfer waits for its turn and for what
// its target opens. Where it takes longer than that, the step says only what the idle path does.
const besideMore = 3.0

// beside makes a step while a transfer runs, and returns the Results of both. Who looks on sees the step; the transfer is a part of it.
func (d *diagnosis) beside(ctx context.Context, s diagnose.Step) (made []*measure.Result, err error) {
	began := make(chan struct{})
	over := make(chan error, 1)
	var delays *measure.Result
	go func() {
		var err error
		delays, err = d.longer(ctx, s, began)
		over <- err
	}()
	select {
	case <-began:
	case err = <-over: // it did not begin, or is over at once
		over <- err
	}
	if isClosed(began) && wait(ctx, diagnose.Lead) == nil {
		if transfer := d.load(ctx, *s.Under); transfer != nil {
			made = append(made, transfer)
		}
	}
	err = <-over
	line := DiagnosisLine{Step: s.Name, State: StepDone}
	if delays != nil {
		made, line.Run = append(made, delays), delays.ID
	}
	if err != nil {
		line.State, line.Error = StepFailed, err.Error()
		d.failed = append(d.failed, s.Name+": "+line.Error)
	}
	if ctx.Err() == nil {
		d.show(line)
	}
	return made, nil
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// longer makes the step, besideMore longer, and says when it began.
func (d *diagnosis) longer(ctx context.Context, s diagnose.Step, began chan<- struct{}) (result *measure.Result, err error) {
	s.Parameters = maps.Clone(s.Parameters)
	if apart, _ := s.Parameters["interval"].(float64); apart > 0 {
		if count, told := s.Parameters["count"].(int); told {
			s.Parameters["count"] = count + int(besideMore/apart)
		}
	}
	r := d.ask(s)
	r.Placed = func(id string, begins time.Time) {
		d.show(DiagnosisLine{Step: s.Name, State: StepWaiting, Run: id, Begins: &begins})
	}
	r.Began = func() {
		d.show(DiagnosisLine{Step: s.Name, State: StepRunning})
		close(began)
	}
	r.Progress = func(p fleet.Progress) {
		if p.Result != nil {
			result = p.Result
		}
	}
	err = d.Test(ctx, r)
	return result, err
}

// load makes the transfer; nil: nothing came of it, and the step says what it says without.
func (d *diagnosis) load(ctx context.Context, s diagnose.Step) (result *measure.Result) {
	r := d.ask(s)
	r.Progress = func(p fleet.Progress) {
		if p.Result != nil {
			result = p.Result
		}
	}
	d.attempt("move data beside "+s.Name, d.Test(ctx, r))
	return result
}
