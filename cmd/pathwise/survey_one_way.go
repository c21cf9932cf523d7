package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/proto/stamp"
)

// oneWay makes a step of one-way delays. Where nothing reflects, as at an iperf3 server, the diagnosis goes on without: there is
// no Result then, nor an error.
func (v *survey) oneWay(ctx context.Context, s diagnose.Step) (*measure.Result, error) {
	for len(v.reflectors) > 0 {
		parameters := maps.Clone(s.Parameters)
		parameters["family"], parameters["port"] = string(v.family), v.reflectors[0]
		p, err := probe.New(measure.Task{Kind: s.Kind, Target: v.target, Parameters: parameters}, probe.Options{})
		if err != nil {
			return nil, err
		}
		r, err := p.Do(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err == nil && r.Metrics[measure.ReceivedPackets] > 0:
			v.reflectors = v.reflectors[:1]
			r.Role = measure.DiagnosisRole(v.id, s.Name)
			return r, nil
		case err == nil: // it is silent, now at least
			return nil, nil
		default:
			v.session.log().Info("no reflector", "port", v.reflectors[0], "error", err)
			v.reflectors = v.reflectors[1:]
		}
	}
	return nil, nil
}

// idle makes a step of one-way delays on the idle path. What is silent then is not asked again.
func (v *survey) idle(ctx context.Context, s diagnose.Step) (*measure.Result, error) {
	r, err := v.oneWay(ctx, s)
	if r == nil {
		v.reflectors = nil
		return nil, err
	}
	v.session.measured(r)
	return r, nil
}

// reflectorPorts are where STAMP reflectors answer, in the order in which they are asked.
func reflectorPorts() []int { return []int{stamp.DefaultPort, stamp.SparePort} }

// under makes a step while a transfer runs. Where nothing reflects there is no transfer either.
func (v *survey) under(ctx context.Context, s diagnose.Step) (made []*measure.Result, err error) {
	if v.responder != responderThere || v.options.Source != nil { // a source is read once, by the transfer
		return nil, nil
	}
	ended := v.session.beginStep(s.Name, v.target, s.Why)
	var delays, transfer *measure.Result
	if err = v.calm(ctx, s.Calm); err == nil && len(v.reflectors) > 0 {
		delays, transfer, err = v.both(ctx, s)
	}
	ended(delays, err)
	for _, r := range []*measure.Result{delays, transfer} {
		if r != nil {
			v.session.measured(r)
			made = append(made, r)
		}
	}
	return made, err
}

const (
	// calmWithin is how long the queue that a step has filled may take to empty: 20 kB before 20 kbit/s. On a path that others fill it never does.
	calmWithin = 8 * time.Second
	calmCount  = 3
)

// calm waits until a round trip takes no longer than so many seconds.
func (v *survey) calm(ctx context.Context, seconds float64) error {
	look := diagnose.Step{Kind: "owd", Parameters: map[string]any{"count": calmCount, "interval": surveyPause.String()}}
	for began := time.Now(); len(v.reflectors) > 0 && time.Since(began) < calmWithin; {
		r, err := v.oneWay(ctx, look)
		switch {
		case err != nil:
			return err
		case r != nil && r.Metrics[measure.RTTMin] <= seconds:
			return nil
		case r == nil && time.Since(began) > calmWithin: // what it was sent stands in no queue
			v.reflectors = nil
		}
	}
	return nil
}

// errEnough ends a transfer whose last words wait in the queue that it has filled.
var errEnough = errors.New("ended, since what it was made for was measured")

// both measures one-way delays, and makes the transfer of the step once some were measured.
func (v *survey) both(ctx context.Context, s diagnose.Step) (delays, transfer *measure.Result, err error) {
	p, err := v.prober(*s.Under)
	if err != nil {
		return nil, nil, err
	}
	moving, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	over := make(chan struct{})
	var failed error
	go func() { // ends with the step, which is awaited
		defer close(over)
		delays, failed = v.oneWay(ctx, s)
		time.AfterFunc(surveyPatience, func() { stop(errEnough) })
	}()
	select {
	case <-time.After(diagnose.Lead):
		transfer, err = v.again(moving, p)
	case <-over: // nothing reflects
	}
	<-over
	switch {
	case ctx.Err() != nil:
		return delays, transfer, context.Cause(ctx)
	case failed != nil || transfer == nil:
		return delays, nil, failed
	case err != nil:
		transfer.Note(fmt.Sprintf("%s failed: %v", s.Under.Name, err))
	}
	transfer.Role = measure.DiagnosisRole(v.id, s.Under.Name)
	return delays, transfer, nil
}
