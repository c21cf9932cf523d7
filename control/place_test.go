package control

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/fleet"
)

// obedient is a Hub whose hosts do what they are told, and of whose runs nothing comes.
type obedient struct {
	*messaging
	told func(fleet.Order)
}

func (o obedient) Order(_ context.Context, _ string, order fleet.Order) error {
	o.told(order)
	return nil
}

// A test on demand that is called back gives its time back, so that the next one need not wait for the end of what will not be.
// One that nobody can say has ended keeps it.
func TestDemandGivesBack(t *testing.T) {
	for name, c := range map[string]struct {
		obeys bool
		want  error
	}{"called back": {true, nil}, "not reached": {false, ErrNotFree}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, twoHosts+someTests)
			b.plan()
			request := Request{Source: "a", Target: "b", Tool: "bulk"}
			test := func() error {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				hub := &obedient{messaging: b.messaging, told: func(o fleet.Order) {
					if o.Run != nil {
						cancel()
					}
				}}
				b.config.Hub = hub
				if !c.obeys {
					b.config.Hub = deaf{hub}
				}
				return b.Test(ctx, request)
			}
			var err error
			for range 60 { // until no planned test is in the way
				if err = test(); !errors.Is(err, ErrNotFree) {
					break
				}
				b.now = b.now.Add(time.Second)
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("called off: %v", err)
			}
			b.config.Hub = &obedient{messaging: b.messaging, told: func(fleet.Order) {}}
			if _, _, err := b.accept(&request); !errors.Is(err, c.want) {
				t.Errorf("the next test: %v, want %v", err, c.want)
			}
		})
	}
}

// deaf is a Hub whose hosts begin and do not answer when they are called back.
type deaf struct{ *obedient }

func (d deaf) Order(ctx context.Context, host string, order fleet.Order) error {
	if order.Cancel != "" {
		return fleet.ErrNoAnswer
	}
	return d.obedient.Order(ctx, host, order)
}
