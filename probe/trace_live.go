package probe

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
)

// LiveTrace asks every hop of a route again and again: each round sends one packet to each hop, all of one flow as a Trace has it. What came of
// them it keeps in memory that does not grow. Any goroutine may look on by State, and pause it or clear its figures.
//
// Of Trace, Queries, NewFlow, Multipath and Progress are of no use here. With Protocol "" it sends ICMP echo, which targets answer as often as they are asked, and UDP
// where this host does not let it: Linux limits how often it says that a port is closed.
type LiveTrace struct {
	Trace // Rounds 0: until ctx ends, which is no error then

	mu   sync.Mutex
	plan *livePlan
	wake chan struct{} // something was changed from outside
	note string        // why UDP was taken
}

// LiveState is how far a LiveTrace has come.
type LiveState struct {
	Hops   []measure.Hop // with their latest round trips
	Rounds measure.RoundsSample
	Paused bool
}

// Limits of LiveTrace.
const (
	liveEvery    = time.Second
	livePatience = 10 * time.Second // for one answer, so that no more are on their way than can be told apart
)

// LiveFastest is the least time from one round to the next: ten packets a second to each router, which answer seldom anyway.
const LiveFastest = 100 * time.Millisecond

// Validate says what is wrong with the parameters, as an input.Error, or returns nil.
func (l *LiveTrace) Validate() error {
	if l.Rounds < 0 {
		return &input.Error{Field: "count", Value: fmt.Sprint(l.Rounds), Remedy: "give a whole number from 1"}
	}
	once := l.Trace
	once.Rounds, once.Every = 0, 0
	return cmp.Or(once.Validate(), checkDuration("every", l.Every, LiveFastest, maxTimeout), checkDuration("timeout", l.Timeout, time.Millisecond, livePatience))
}

// Do traces until all rounds are over, or ctx ends. The Result is of kind "trace" with Samples.Rounds; its metrics are of the packets to the
// target, and there are none where that never answered.
func (l *LiveTrace) Do(ctx context.Context) (*measure.Result, error) {
	return measured(ctx, "trace", l.Target, l.measure)
}

func (l *LiveTrace) measure(ctx context.Context, result *measure.Result) error {
	if err := l.Validate(); err != nil {
		return err
	}
	ways, err := waysTo(ctx, nil, l.Target, l.Family)
	if err != nil {
		return err
	}
	return tryWays(result, ways, func(w way, last bool) error {
		t, wire, flow, err := l.open(ctx, w)
		if err != nil {
			return err
		}
		l.mu.Lock()
		setDefault(&l.Every, liveEvery)
		l.plan, l.wake = newLivePlan(t, l.Every, l.Rounds), make(chan struct{}, 1)
		l.mu.Unlock()
		err = l.run(ctx, wire)
		wire.close()
		if !last && l.plan.number == 0 && isUnreachable(err) {
			return &unreachableError{err.Error()}
		}
		result.Parameters = recorded(traceFields(), &t)
		delete(result.Parameters, "queries")
		delete(result.Parameters, "new-flow") // as every LiveTrace is
		result.Parameters["every"] = l.Every.Seconds()
		l.report(result, wire.by(), flow.bytes())
		switch {
		case ctx.Err() != nil && l.Rounds == 0:
			return nil
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("trace %s: %w", l.Target, err)
		}
		return nil
	})
}

// open opens what sends by the protocol that was asked for, or by the one that this host allows.
func (l *LiveTrace) open(ctx context.Context, w way) (t Trace, wire traceWire, flow *traceFlow, err error) {
	protocols := []string{l.Protocol}
	if l.Protocol == "" {
		protocols = []string{traceICMP, traceUDP}
		if l.Port != 0 {
			protocols = protocols[1:]
		}
	}
	for _, protocol := range protocols {
		t = l.Trace
		t.Protocol, t.NewFlow = protocol, true // it lasts: other traces shall have the flow that they share
		t = t.withDefaults()
		flow = newTraceFlow(t, w)
		if wire, err = openWire(ctx, t, flow); !isPermission(err) {
			break
		}
		l.note = "this host does not allow ICMP echo without root: the packets are of UDP, and a target that limits its ICMP answers looks as if the path lost them"
	}
	if err == nil && t.Protocol != traceUDP {
		l.note = ""
	}
	return t, wire, flow, err
}

// run sends what is due, and hears what comes back.
func (l *LiveTrace) run(ctx context.Context, wire traceWire) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		wait, over, err := l.step(wire)
		if over || err != nil {
			return err
		}
		timer.Reset(wait)
		select {
		case event := <-wire.heard():
			if err := l.hear(event); err != nil {
				return err
			}
		case <-timer.C:
		case <-l.wake:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// step sends the next packet if it is due, and says how long there is nothing to do unless something comes; over: nothing will.
func (l *LiveTrace) step(wire traceWire) (wait time.Duration, over bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, now := l.plan, time.Now()
	p.expire(now)
	ttl, at, more := p.due(now)
	if more && !now.Before(at) {
		before, err := wire.send(p.number%liveOnWay, ttl, p.distinct)
		switch {
		case err == nil:
			p.sent(ttl, before)
		case p.number == 0:
			return 0, false, err
		default: // this host's own link went, and may come back
			p.unsent(ttl, now)
		}
		return p.gap, false, nil
	}
	until := p.until()
	if more && (until.IsZero() || at.Before(until)) {
		until = at
	}
	switch {
	case !until.IsZero():
		return time.Until(until), false, nil
	case p.paused:
		return time.Hour, false, nil // until it is woken
	}
	return 0, true, nil
}

func (l *LiveTrace) hear(event any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return deliver(event, l.plan)
}

// State is how far it has come.
func (l *LiveTrace) State() LiveState {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.plan == nil {
		return LiveState{}
	}
	return l.plan.state()
}

// Pause stops it, or has it go on.
func (l *LiveTrace) Pause(on bool) { l.change(func(p *livePlan) { p.pause(on, time.Now()) }) }

// Reset clears the figures.
func (l *LiveTrace) Reset() { l.change((*livePlan).reset) }

func (l *LiveTrace) change(f func(*livePlan)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.plan == nil {
		return
	}
	f(l.plan)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}
