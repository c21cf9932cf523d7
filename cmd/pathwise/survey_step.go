package main

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"time"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// step makes one measurement, and shows it. What goes wrong ends the survey only if all that follows would, too.
func (v *survey) step(ctx context.Context, s diagnose.Step) (*measure.Result, error) {
	of := v.target
	if s.Kind == "audit" && !s.Far {
		of = "this host"
	}
	ended := v.session.beginStep(s.Name, of, s.Why)
	r, err := v.makeStep(ctx, s)
	ended(r, err)
	return r, err
}

func (v *survey) makeStep(ctx context.Context, s diagnose.Step) (*measure.Result, error) {
	switch {
	case s.Kind == "sockets":
		return v.watch(ctx, s)
	case s.Kind == "owd":
		return v.idle(ctx, s)
	}
	p, err := v.proberOf(s)
	if err != nil || p == nil {
		return nil, err
	}
	r, err := v.again(ctx, p)
	return v.take(ctx, s, r, err)
}

// proberOf is what makes the measurement of a step; nil: it would say nothing, as where the far end does not answer it.
func (v *survey) proberOf(s diagnose.Step) (measure.Prober, error) {
	switch {
	case s.Kind == "transact":
		return v.transactProber(s)
	case v.cannot(s):
		return nil, nil
	}
	return v.prober(s)
}

// take is what came of a step, as a diagnosis takes it. The Result is nil where the step could not be made.
func (v *survey) take(ctx context.Context, s diagnose.Step, r *measure.Result, err error) (*measure.Result, error) {
	switch {
	case r == nil:
		return nil, err
	case s.Kind == "transact":
		return v.takeTransactions(ctx, s, r, err)
	}
	return v.takeTest(ctx, s, r, err)
}

// cannot reports whether a step would say nothing here.
func (v *survey) cannot(s diagnose.Step) bool {
	return s.Parameters["middlebox"] == true && !mayTraceSYNs() ||
		s.NeedsResponder() && v.responder == responderAway ||
		s.Compares() && v.options.Source != nil // which is read once, by the transfer
}

// takeTest is what came of a step, as a diagnosis takes it: an error ends the diagnosis.
func (v *survey) takeTest(ctx context.Context, s diagnose.Step, r *measure.Result, err error) (*measure.Result, error) {
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil && (!s.Transfer() || s.Compares()):
		r.Note(s.Name + " failed: " + err.Error())
	}
	v.session.measured(r)
	r.Role = measure.DiagnosisRole(v.id, s.Name)
	switch {
	case ctx.Err() != nil:
		return r, err
	case s.Compares() && err != nil: // as where a host has no other congestion control
		return r, nil
	case input.Bad(err):
		return r, err
	case s.NeedsResponder() && notThere(err):
		v.responder, v.failed = responderAway, cmp.Or(v.failed, err)
	case v.fetch != nil && s.Transfer():
		v.failed = cmp.Or(v.failed, err)
	case s.Transfer():
		v.responder, v.failed = responderThere, cmp.Or(v.failed, err)
	case s.NeedsResponder():
		v.responder = responderThere
	}
	return r, nil
}

// mayTraceSYNs reports whether this process may open raw sockets for TCP.
func mayTraceSYNs() bool {
	for _, kind := range probe.Kinds() {
		for _, need := range kind.Needs {
			if need.What == "raw-tcp" {
				return need.Try() == nil
			}
		}
	}
	return false
}

// responderState is what is known of the far end of tests.
type responderState int

const (
	responderUnknown responderState = iota
	responderThere
	responderAway // it answers no tests
)

// prober is what makes a step's measurement, a transfer with what the command line says of it. It is nil where the far end does not answer the step.
func (v *survey) prober(s diagnose.Step) (measure.Prober, error) {
	task := measure.Task{Kind: s.Kind, Target: v.target, Parameters: maps.Clone(s.Parameters)}
	if _, planned := task.Parameters["family"]; !planned {
		task.Parameters["family"] = string(v.family)
	}
	options := probe.Options{}
	switch {
	case s.Far:
		options.Audit = v.far.audit
	case (probe.Catalogue{}).Itself(s.Kind):
		task.Target = ""
	}
	if s.Transfer() && v.fetch == nil {
		options = v.options
		v.ask(task.Parameters)
		if s.File {
			options.Files = v.files
		}
	} else if port, given := v.asked["port"]; given && s.NeedsResponder() {
		task.Parameters["port"] = port
	} else if s.Locates() && v.far != nil && !v.far.tellPort(task) { // else it answers at the usual ports
		return nil, nil
	}
	options.TripsKnown = true // by the pings of the plan
	v.session.figures(s.Kind, &options)
	return probe.New(task, options)
}

// ask adds to the parameters of a transfer what the command line says of it, but for what the step is about and what the budget leaves it.
// How a program writes is the step's to say only where the command line does not.
func (v *survey) ask(parameters map[string]any) {
	for name, value := range v.asked {
		if _, planned := parameters[name]; !planned || name == "length" || name == "event-loop" {
			parameters[name] = value
		}
	}
}

const (
	// surveyPatience is how long a step is tried again whose far end is not ready: a server ends a test within a second as a rule.
	surveyPatience = 2 * time.Second
	surveyPause    = 100 * time.Millisecond // between tries
)

// again makes a measurement, and makes it again while the far end is not ready for it: after a test that worked, an iperf3 server
// opens its port anew, and a responder may still be ending that test.
func (v *survey) again(ctx context.Context, p measure.Prober) (*measure.Result, error) {
	patience := time.After(surveyPatience)
	for {
		r, err := p.Do(ctx)
		if v.responder != responderThere || !notThere(err) {
			return r, err
		}
		select {
		case <-patience:
			return r, err
		case <-ctx.Done():
			return r, err
		case <-time.After(surveyPause):
		}
	}
}

// notThere says whether the far end answers no test, or not now.
func notThere(err error) bool {
	return errors.Is(err, iperf3.ErrBusy) || errors.Is(err, iperf3.ErrRefused) || errors.Is(err, iperf3.ErrNoAnswer)
}
