package probe

import (
	"cmp"
	"context"
	"time"
)

// Servers of TWAMP bound how long a session may last and how many packets it may have, and forget sessions where they are started again. So packets of a
// continuous measurement go to another session every now and then, which is asked for while they still go to the one before, and answers of that
// one count until their timeout.

const (
	// sessionAge is far below the 5 minutes that servers let a session last as a rule, and sessionPackets below the 200,000 packets of `pathwise respond`.
	sessionAge     = 2 * time.Minute
	sessionPackets = 100_000
	// sessionSilence, beyond the timeout, is how long nothing comes back before another session is asked for: a server that was started again knows of none.
	sessionSilence = 2 * time.Second
	// sessionAgain is how long after one try another follows.
	sessionAgain = 2 * time.Second
)

// farSession is the session that packets go to, and its successor.
type farSession struct {
	ctx    context.Context
	cancel context.CancelFunc
	begin  func(context.Context) (*owdSession, error)

	now     *owdSession
	since   time.Time
	first   int       // packet
	asked   time.Time // for another
	coming  chan *owdSession
	retired []retiredSession
}

// retiredSession is one whose answers still count until a time.
type retiredSession struct {
	*owdSession
	until time.Time
}

func newFarSession(ctx context.Context, first *owdSession, begin func(context.Context) (*owdSession, error)) farSession {
	f := farSession{begin: begin, now: first, since: time.Now()}
	f.ctx, f.cancel = context.WithCancel(ctx)
	return f
}

// ask asks for another session. What comes of it is in coming; nil: it was refused.
func (f *farSession) ask(now time.Time) {
	f.asked, f.coming = now, make(chan *owdSession, 1)
	coming := f.coming
	go func() { // end waits for it
		session, err := f.begin(f.ctx)
		if err != nil {
			session = nil
		}
		coming <- session
	}()
}

// end ends all sessions.
func (f *farSession) end() {
	f.cancel()
	if f.coming != nil {
		if session := <-f.coming; session != nil {
			f.retired = append(f.retired, retiredSession{owdSession: session})
		}
	}
	for _, s := range append(f.retired, retiredSession{owdSession: f.now}) {
		_ = s.end() // all that it had to tell is told
	}
}

// renew turns to another session where one is wanted.
func (s *owdStream) renew() {
	if s.Proto != protoTWAMP {
		return
	}
	f, now := &s.far, time.Now()
	for len(f.retired) > 0 && now.After(f.retired[0].until) {
		_ = f.retired[0].end()
		f.retired = f.retired[1:]
	}
	select {
	case session := <-f.coming:
		if f.coming = nil; session != nil {
			s.turnTo(session, now)
		}
	default:
	}
	if f.coming == nil && now.Sub(f.asked) > sessionAgain && s.wantsAnother(now) {
		f.ask(now)
	}
}

// turnTo has packets go to another session from the next one on.
func (s *owdStream) turnTo(session *owdSession, now time.Time) {
	f := &s.far
	f.retired = append(f.retired, retiredSession{f.now, now.Add(s.Timeout)})
	f.now, f.since, f.first = session, now, s.next()
	s.ends = append(s.ends[len(s.ends)-1:], owdEnd{to: session.to, packets: session.packets, first: f.first})
	s.rounds.Begin(f.first)
}

// wantsAnother reports whether the session is old, or its server is gone or silent.
func (s *owdStream) wantsAnother(now time.Time) bool {
	f := &s.far
	last := s.heard
	if f.since.After(last) {
		last = f.since
	}
	return f.now.ctx.Err() != nil || now.Sub(f.since) > cmp.Or(s.renewAfter, sessionAge) || s.next()-f.first > sessionPackets || now.Sub(last) > s.Timeout+sessionSilence
}
