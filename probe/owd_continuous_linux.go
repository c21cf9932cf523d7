package probe

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// goOn makes a continuous measurement, until ctx ends or all packets that were asked for have left. It returns the last Result; the end of ctx is no
// failure of it.
func (p OWD) goOn(ctx context.Context) (*measure.Result, error) {
	result := newResult("owd", p.Target)
	err := p.measureContinuously(ctx, result)
	result.Fail(err)
	return result, err
}

// measureContinuously fills in the last Result.
func (p OWD) measureContinuously(ctx context.Context, result *measure.Result) error {
	if err := p.Validate(); err != nil {
		return err
	}
	p = p.withDefaults()
	if err := p.readKey(); err != nil {
		return err
	}
	result.Parameters = recorded(owdFields(), &p)
	result.Clock = askedClock()
	ways, err := waysTo(ctx, nil, p.Target, p.Family)
	if err != nil {
		return err
	}
	return tryWays(result, ways, func(w way, last bool) error { return p.streamTo(ctx, w, last, result) })
}

// owdStream is a session that goes on. One goroutine sends and receives; another, owdTeller, makes Results of windows that are over, so that packets
// leave on time meanwhile.
type owdStream struct {
	owdRun
	far     farSession
	windows owdWindows
	over    chan overWindow
}

// windowsBehind is how many windows may wait for whoever takes their Results, such as a full pipe, before packets wait as well.
const windowsBehind = 16

// streamTo measures to an address of the target. Unless it is the last, the first packet that is refused for want of a way ends it.
func (p OWD) streamTo(ctx context.Context, w way, last bool, result *measure.Result) error {
	socket, err := p.open(w)
	if err != nil {
		return err
	}
	defer socket.Close()
	clock := result.Clock
	first, err := p.begin(ctx, w, socket, clock)
	if err != nil {
		if !last && isUnreachable(err) {
			return &unreachableError{err.Error()}
		}
		return err
	}
	defer context.AfterFunc(ctx, socket.Interrupt)()
	result.Parameters["mode"] = first.mode
	s := &owdStream{windows: owdWindows{every: p.Every}, over: make(chan overWindow, windowsBehind)}
	s.OWD, s.socket, s.last, s.started = p, socket, last, time.Now()
	s.ends = []owdEnd{{to: first.to, packets: first.packets}}
	s.far = newFarSession(ctx, first, func(ctx context.Context) (*owdSession, error) { return p.begin(ctx, w, socket, clock) })
	defer s.far.end()
	if s.marks, s.mark, err = p.classMarks(socket); err != nil {
		return err
	}
	teller := owdTeller{OWD: p, like: result}
	told := make(chan *measure.Result, 1)
	go func() { told <- teller.tellAll(s.over) }() // ends with the stream
	err = s.run(ctx)
	var unreachable *unreachableError
	if !errors.As(err, &unreachable) {
		s.finishAll()
	}
	close(s.over)
	if r := <-told; r != nil {
		*result = *r
	}
	if ctx.Err() != nil && s.next() > 0 {
		return nil
	}
	return err
}

// run sends packets, and hands windows over as they end.
func (s *owdStream) run(ctx context.Context) error {
	p := s.pace()
	for n := 0; s.Count == 0 || n < s.Count; n++ {
		if s.Time > 0 && p.due >= s.Time {
			break
		}
		if err := s.await(ctx, p.due); err != nil {
			return err
		}
		s.enter(p.due)
		if err := s.send(p.leave(time.Since(s.started))); err != nil {
			return err
		}
	}
	if err := s.listen(ctx, time.Time{}); err != nil {
		return err
	}
	return s.linger(ctx)
}

// await handles what comes in, and hands over windows that are over, until a packet is due.
func (s *owdStream) await(ctx context.Context, due time.Duration) error {
	for {
		s.renew()
		over, end, ok := s.overAt()
		if !ok || over >= due {
			return s.listen(ctx, s.started.Add(due))
		}
		if err := s.listen(ctx, s.started.Add(over)); err != nil {
			return err
		}
		s.expire(time.Now())
		s.finish(end, s.Every, false)
	}
}

// overAt is when the fates of the first window's packets are known, counted from the start, and the packet after its last; ok is false while it goes on.
func (s *owdStream) overAt() (at time.Duration, end int, ok bool) {
	at, end, ok = s.windows.end()
	if ok {
		at = max(at, s.at(end-1).sent.User.Sub(s.started)) + s.Timeout
	}
	return at, end, ok
}

// enter begins a window with the packet to come, if that is due in another one.
func (s *owdStream) enter(due time.Duration) {
	w := s.windows.begin(due, s.next())
	if w == nil {
		return
	}
	now := time.Now()
	w.started, w.wall = now.Add(time.Duration(w.number)*s.Every-now.Sub(s.started)), sock.WatchWall(nil)
	if n := len(s.windows.begun); n > 1 {
		before := &s.windows.begun[n-2]
		before.stepped = before.wall.Stepped()
	}
}

// finish hands the first window over, up to its end. Of what it has nothing more is kept.
func (s *owdStream) finish(end int, lasted time.Duration, last bool) {
	n := end - s.first
	over := overWindow{owdWindow: s.windows.take(), sent: s.sent[:n:n], arrivals: s.arrivals, lasted: lasted, last: last}
	s.sent, s.first, s.arrivals = slices.Clone(s.sent[n:]), end, nil
	for _, a := range over.arrivals {
		if a.Index >= end {
			s.arrivals = append(s.arrivals, a)
		}
	}
	for _, e := range s.ends {
		e.packets.forget(end - e.first)
	}
	s.last = true // it is measured to this address from now on
	s.over <- over
}

// finishAll hands over all windows, when no packet is to come any more.
func (s *owdStream) finishAll() {
	for len(s.windows.begun) > 0 {
		w, lasted := &s.windows.begun[0], s.Every
		_, end, ended := s.windows.end()
		if !ended {
			end, lasted, w.stepped = s.next(), min(s.Every, time.Since(w.started)), w.wall.Stepped()
		}
		s.finish(end, lasted, !ended)
	}
}
