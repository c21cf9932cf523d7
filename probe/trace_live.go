package probe

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
)

// LiveTrace asks every hop of a route again and again: each round sends one packet to each hop, all of one flow as a Trace has it. What came of
// them it keeps in memory that does not grow. Any goroutine may look on by State, and pause it or clear its figures. With Multipath it finds all equal-cost paths first,
// and then has rounds of as many flows as together pass every router and link that was found, 64 at most: see liveFlows.
//
// Of Trace, Queries, NewFlow and Progress are of no use here. With Protocol "" it sends ICMP echo, which targets answer as often as they are asked, and UDP
// where this host does not let it: Linux limits how often it says that a port is closed.
type LiveTrace struct {
	Trace // Rounds 0: until ctx ends, which is no error then

	mu        sync.Mutex
	rounds    *liveFlows
	searching string        // how far the search of all paths is; "": it is over, or there is none
	wake      chan struct{} // something was changed from outside
	note      string        // why UDP was taken
}

// LiveState is how far a LiveTrace has come.
type LiveState struct {
	Hops   []measure.Hop // with their latest round trips
	Rounds measure.RoundsSample
	Paused bool
	// Searching is how far the search of all paths is; "": it is over, or there is none.
	Searching string
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
		cover := livePaths{flows: []int{0}}
		if t.Multipath {
			wire, flow, cover, err = l.findPaths(ctx, t, w, wire, flow)
			cover.report(result)
			if err != nil {
				return err
			}
		}
		l.mu.Lock()
		setDefault(&l.Every, liveEvery)
		l.rounds, l.wake, l.searching = newLiveFlows(t, l.Every, l.Rounds, cover.flows, time.Now()), make(chan struct{}, 1), ""
		l.rounds.share, l.rounds.tossed = cover.share, cover.tossed
		l.mu.Unlock()
		err = l.run(ctx, wire, flow)
		wire.close()
		if !last && l.rounds.count == 0 && isUnreachable(err) {
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
		t.Protocol, t.NewFlow = protocol, !l.Multipath // it lasts: other traces shall have the flow that they share
		t = t.withDefaults()
		if flow = newTraceFlow(t, w); t.Multipath {
			flow.ports = make([]atomic.Uint32, multipathProbes)
		}
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
func (l *LiveTrace) run(ctx context.Context, wire traceWire, flow *traceFlow) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		wait, over, err := l.step(wire, flow)
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
func (l *LiveTrace) step(wire traceWire, flow *traceFlow) (wait time.Duration, over bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, now := l.rounds, time.Now()
	f.expire(now)
	plan, ttl, at, more := f.due(now)
	if p := f.plans[plan]; more && !now.Before(at) {
		number := f.number(plan)
		if flow.ports != nil {
			flow.ports[number].Store(uint32(flow.flowMark(f.flows[plan])))
		}
		before, err := wire.send(number, ttl, p.distinct)
		switch {
		case err == nil:
			f.sent(plan, ttl, before)
		case f.count == 0:
			return 0, false, err
		default: // this host's own link went, and may come back
			p.unsent(ttl, now)
		}
		return p.gap, false, nil
	}
	until := f.until()
	if more && (until.IsZero() || at.Before(until)) {
		until = at
	}
	switch {
	case !until.IsZero():
		return time.Until(until), false, nil
	case f.plans[0].paused:
		return time.Hour, false, nil // until it is woken
	}
	return 0, true, nil
}

func (l *LiveTrace) hear(event any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return deliver(event, l.rounds)
}

// State is how far it has come.
func (l *LiveTrace) State() LiveState {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rounds == nil {
		return LiveState{Searching: l.searching}
	}
	return l.rounds.state()
}

// Pause stops it, or has it go on.
func (l *LiveTrace) Pause(on bool) { l.change(func(f *liveFlows) { f.pause(on, time.Now()) }) }

// Reset clears the figures.
func (l *LiveTrace) Reset() { l.change((*liveFlows).reset) }

func (l *LiveTrace) change(f func(*liveFlows)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rounds == nil {
		return
	}
	f(l.rounds)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}
