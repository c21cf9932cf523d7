package main

import (
	"context"
	"sync"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
)

// made is what came of a measurement. No Result: it could not be begun.
type made struct {
	result *measure.Result
	err    error
}

// begin begins the measurements of several steps at once. Each ends with ctx at the latest; ended waits for all of them.
func (v *survey) begin(ctx context.Context, steps []diagnose.Step) (ended func()) {
	v.ahead = map[string]<-chan made{}
	var running sync.WaitGroup
	for _, s := range steps {
		p, err := v.prober(s)
		outcome := make(chan made, 1)
		v.ahead[s.Name] = outcome
		if err != nil {
			outcome <- made{nil, err}
			continue
		}
		running.Go(func() {
			r, err := p.Do(ctx)
			outcome <- made{r, err}
		})
	}
	return running.Wait
}

// measure makes the measurement of a step, or waits for it where it is under way. Without a Result it could not be begun.
func (v *survey) measure(ctx context.Context, s diagnose.Step) (*measure.Result, error) {
	if outcome, begun := v.ahead[s.Name]; begun {
		m := <-outcome
		return m.result, m.err
	}
	p, err := v.prober(s)
	if err != nil {
		return nil, err
	}
	return v.again(ctx, p)
}
