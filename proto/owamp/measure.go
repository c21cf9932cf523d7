package owamp

import (
	"context"
	"fmt"
	"sync"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
)

// measure makes a test on a connection that stands.
func (t *test) measure(p Plan) (*Report, error) {
	r := &Report{Mode: t.Connection.Mode, Local: endpoint.AddrPort(t.Conn.LocalAddr()), Remote: endpoint.AddrPort(t.Conn.RemoteAddr())}
	forward, reverse, err := t.ask(p, r)
	if err != nil {
		return nil, fmt.Errorf("ask for session: %w", err)
	}
	p.serialise()
	if reverse != nil {
		reverse.receive.onRecord = p.OnRecord
	}
	if err := t.start(); err != nil {
		return nil, err
	}
	halt, follow := func() {}, (*follower)(nil)
	if forward != nil && p.OnForward != nil {
		follow = &follower{packets: forward.terms.Packets, tell: p.OnForward}
		halt = t.follow(follow, forward.id)
	}
	err = t.await(p.Stop)
	halt()
	if err == nil && t.ctx.Err() != nil { // its end may not have closed the connection yet
		err = context.Cause(t.ctx)
	}
	return r, t.report(r, forward, reverse, follow, err)
}

// serialise has one call at a time of what is told of records.
func (p *Plan) serialise() {
	var mu sync.Mutex
	for _, f := range []*func(Record){&p.OnForward, &p.OnRecord} {
		if tell := *f; tell != nil {
			*f = func(r Record) {
				mu.Lock()
				defer mu.Unlock()
				tell(r)
			}
		}
	}
}

// ask asks for the sessions of a plan. A nil part: the plan has none that way.
func (t *test) ask(p Plan, r *Report) (forward, reverse *part, err error) {
	start := t.Clock.Read().Add(startLead + startTrips*t.Trip)
	request := func(terms *Terms, sends bool) (*part, error) {
		if terms == nil {
			return nil, nil
		}
		whole := terms.withDefaults()
		if whole.Start.IsZero() {
			whole.Start = start
		}
		return t.request(whole, sends, r)
	}
	if forward, err = request(p.Forward, true); err == nil {
		reverse, err = request(p.Reverse, false)
	}
	return forward, reverse, err
}

// report fills a Report with what came of sessions that have ended, or that failed for a reason.
func (t *test) report(r *Report, forward, reverse *part, follow *follower, failed error) error {
	if reverse != nil {
		s := reverse.receive.ledger.snapshot(0, lastSequence)
		r.Reverse = &s
		if err := reverse.receive.failed; err != nil && failed == nil {
			failed = fmt.Errorf("receive test packets: %w", err)
		}
	}
	if forward == nil {
		return failed
	}
	r.Left, r.SendError = forward.send.left, forward.send.failed
	for _, s := range forward.send.skips {
		r.Skipped += int(s.Last) - int(s.First) + 1
	}
	if failed == nil {
		r.Forward, failed = t.fetch(fetch{0, lastSequence, forward.id})
	}
	if failed != nil {
		r.Forward = &Session{ID: forward.id, Terms: forward.terms}
		if follow != nil {
			r.Forward.Records = follow.records
		}
		return failed
	}
	if follow != nil {
		follow.take(r.Forward)
	}
	return nil
}

// follow tells of the packets of a session that the server receives, until halt is called.
func (t *test) follow(f *follower, id control.SID) (halt func()) {
	ctx, cancel := context.WithCancel(t.ctx)
	ended := make(chan struct{})
	go func() { // ends with ctx
		defer close(ended)
		f.run(ctx, t, id)
	}()
	return func() {
		cancel()
		<-ended
	}
}
