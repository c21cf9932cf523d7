package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// together makes the steps of a round at once, each on connections of its own.
func (v *survey) together(ctx context.Context, steps []diagnose.Step) (made []*measure.Result, err error) {
	under := make([]stepUnderWay, len(steps))
	var all sync.WaitGroup
	for i, s := range steps {
		u := &under[i]
		u.ended = v.session.beginStep(s.Name, v.target, s.Why)
		if u.prober, u.err = v.proberOf(s); u.prober != nil && u.err == nil {
			all.Go(func() { u.result, u.err = u.prober.Do(ctx) })
		}
	}
	all.Wait()
	for i, s := range steps {
		u := &under[i]
		if s.NeedsResponder() && u.disturbed(under) && ctx.Err() == nil {
			u.again(ctx)
		}
		r, one := v.take(ctx, s, u.result, u.err)
		if u.ended(r, one); r != nil {
			made = append(made, r)
		}
		err = cmp.Or(err, one)
	}
	return made, err
}

// stepUnderWay is a step of a round, and what came of it.
type stepUnderWay struct {
	prober measure.Prober // nil: the step is not made
	ended  func(*measure.Result, error)
	result *measure.Result
	err    error
}

// disturbed reports whether a step may have failed because others of its round were made at the same time: a far end that is older answers one test at
// a time, and trains that went well fill a way of some kbit/s for seconds.
func (u *stepUnderWay) disturbed(round []stepUnderWay) bool {
	wentWell := slices.ContainsFunc(round, func(o stepUnderWay) bool { return o.result != nil && o.err == nil })
	return errors.Is(u.err, iperf3.ErrBusy) || wentWell && (errors.Is(u.err, iperf3.ErrUDPBlocked) || errors.Is(u.err, iperf3.ErrPeerSilent))
}

// again makes a step once more. A far end that is busy with what was left of the first try says nothing new.
func (u *stepUnderWay) again(ctx context.Context) {
	r, err := u.prober.Do(ctx)
	if !errors.Is(err, iperf3.ErrBusy) || errors.Is(u.err, iperf3.ErrBusy) {
		u.result, u.err = r, err
	}
}
