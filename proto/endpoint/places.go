package endpoint

import (
	"context"
	"net/netip"
	"sync"
	"time"
)

// BusyGrace is how long a client waits for its place, and how late a wrong secret is told that the server is busy: whoever makes one test
// after the other would otherwise meet the end of its own, and a guess teaches nothing.
const BusyGrace = 300 * time.Millisecond

// TakePlace reports whether one of some places is free, or becomes so within BusyGrace, and takes it: it is given back by a receive. Of nil,
// which is who may have none, it reports false no sooner than a busy server does.
func TakePlace(ctx context.Context, places chan<- struct{}) bool {
	grace := time.NewTimer(BusyGrace)
	defer grace.Stop()
	select {
	case places <- struct{}{}:
		return true
	case <-grace.C:
	case <-ctx.Done():
	}
	return false
}

// places are those of clients whose tests may run at the same time. Several goroutines may use them.
type places struct {
	free chan struct{} // has one element for each place that is taken

	mu     sync.Mutex
	spares map[client]int // by client: places that it has, less its connections that have none
}

// client is who has a place.
type client struct {
	from  netip.Addr
	keyID string // "": it showed none
}

func newPlaces(tests int) *places {
	return &places{free: make(chan struct{}, tests), spares: map[client]int{}}
}

// seat is a connection that was let in. One goroutine uses it.
type seat struct {
	ctx    context.Context
	of     *places
	client client
	placed bool // it has a place
}

// enter lets a connection in; free is false where there is no place for it. With beside, it needs none as long as its client has a place
// for which it has no such connection yet.
func (p *places) enter(ctx context.Context, c client, beside bool) (s *seat, free bool) {
	s = &seat{ctx: ctx, of: p, client: c}
	if beside && p.spare(c) {
		return s, true
	}
	if s.placed = TakePlace(ctx, p.free); s.placed {
		p.count(c, 1)
	}
	return s, s.placed
}

// spare takes one of a client's places for a connection beside it, if there is one.
func (p *places) spare(c client) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.spares[c] <= 0 {
		return false
	}
	p.spares[c]--
	return true
}

func (p *places) count(c client, change int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.spares[c] += change; p.spares[c] == 0 {
		delete(p.spares, c)
	}
}

// take reports whether the connection has a place, or there is one for it now.
func (s *seat) take() bool {
	if !s.placed && TakePlace(s.ctx, s.of.free) {
		s.placed = true
		s.of.count(s.client, 2) // it is none beside others any more, and may have one itself
	}
	return s.placed
}

// leave gives back what the connection had.
func (s *seat) leave() {
	if !s.placed {
		s.of.count(s.client, 1)
		return
	}
	s.of.count(s.client, -1)
	<-s.of.free
}
