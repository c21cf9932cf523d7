package iperf3

import (
	"context"
	"net/netip"
	"time"
)

// busyGrace is how long a new test waits for a place: whoever runs one test after another would otherwise find this server still reading the
// last byte of the one before.
const busyGrace = 300 * time.Millisecond

// pairPatience is the same for a test of a client whose trains run, which is let in as it may join them: as long as a Pathwise client waits for a server
// that is busy.
const pairPatience = 2 * time.Second

// pair is the tests of trains that one client makes at once, one each way. They share a place, since trains of one way leave the other way
// alone, and most of the time their own, too:
//
//	there   |--- trains ---|
//	back       |--- trains ------|
//	place   taken............... given back
type pair struct {
	there, back bool
	since       time.Time
}

// pairFor is how long others may join a pair, so that it gives its place back in the end: the longest study of what a path carries.
const pairFor = 30 * time.Second

// way is whether a test of trains is under way in the direction of the parameters.
func (p *pair) way(params Params) *bool {
	if params.Reverse {
		return &p.back
	}
	return &p.there
}

// open reports whether one more test may join.
func (p *pair) open() bool { return p != nil && p.there != p.back && time.Since(p.since) < pairFor }

// mayStart waits for busyGrace at most, and reports whether a test of a client could start now, of which no more is known yet.
func (s *Server) mayStart(ctx context.Context, client netip.Addr) bool {
	s.mu.Lock()
	joins := s.pairs[client].open()
	s.mu.Unlock()
	if joins {
		return true
	}
	if !s.waitForPlace(ctx, busyGrace) {
		return false
	}
	<-s.places
	return true
}

// takePlace waits for a while, and reports whether there is a place for one more test.
func (s *Server) takePlace(ctx context.Context, test *serverTest) bool {
	taken, patience := s.takeNow(test)
	if taken {
		return true
	}
	if !s.waitForPlace(ctx, patience) {
		return s.join(test)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin(test)
	return true
}

// takeNow takes a place that is free, or joins a pair, and says how long to wait where neither can be.
func (s *Server) takeNow(test *serverTest) (taken bool, patience time.Duration) {
	if s.join(test) {
		return true, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.places <- struct{}{}:
		s.begin(test)
		return true, 0
	default:
	}
	if s.pairs[test.client()] != nil {
		return false, pairPatience
	}
	return false, busyGrace
}

// begin begins a pair, if the test that took a place is of trains and there is none.
func (s *Server) begin(test *serverTest) {
	if client := test.client(); test.params.train() != nil && s.pairs[client] == nil {
		test.pair = &pair{since: time.Now()}
		*test.pair.way(test.params) = true
		s.pairs[client] = test.pair
	}
}

// join reports whether a test of trains could join one that its client makes the other way.
func (s *Server) join(test *serverTest) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pairs[test.client()]
	if test.params.train() == nil || !p.open() || *p.way(test.params) {
		return false
	}
	test.pair, *p.way(test.params) = p, true
	return true
}

func (s *Server) waitForPlace(ctx context.Context, patience time.Duration) bool {
	select {
	case s.places <- struct{}{}:
		return true
	case <-time.After(patience):
	case <-ctx.Done():
	}
	return false
}

// leavePlace gives a test's place back, or leaves it to the other one of its pair.
func (s *Server) leavePlace(test *serverTest) {
	if p := test.pair; p != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if *p.way(test.params) = false; p.there || p.back {
			return
		}
		delete(s.pairs, test.client())
	}
	<-s.places
}
