package iperf3

import (
	"context"
	"net/netip"
	"time"
)

// busyGrace is how long a new test waits for a place: whoever runs one test after another would otherwise find this server still reading the
// last byte of the one before.
const busyGrace = 300 * time.Millisecond

// pair is the tests of trains that one client makes at once, one each way. They share a place, since trains of one way leave the other way
// alone, and most of the time their own, too:
//
//	there   |--- trains ---|
//	back       |--- trains ------|
//	place   taken............... given back
type pair struct{ there, back bool }

// way is whether a test of trains is under way in the direction of the parameters.
func (p *pair) way(params Params) *bool {
	if params.Reverse {
		return &p.back
	}
	return &p.there
}

// mayStart waits for busyGrace at most, and reports whether a test of a client could start now, of which no more is known yet.
func (s *Server) mayStart(ctx context.Context, client netip.Addr) bool {
	s.mu.Lock()
	joins := s.pairs[client] != nil
	s.mu.Unlock()
	if joins {
		return true
	}
	if !s.waitForPlace(ctx) {
		return false
	}
	<-s.places
	return true
}

// takePlace waits for busyGrace at most, and reports whether there is a place for one more test.
func (s *Server) takePlace(ctx context.Context, test *serverTest) bool {
	client := test.client()
	trains := test.params.train() != nil
	if trains && s.join(client, test) {
		return true
	}
	if !s.waitForPlace(ctx) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if trains && s.pairs[client] == nil {
		test.pair = &pair{}
		*test.pair.way(test.params) = true
		s.pairs[client] = test.pair
	}
	return true
}

// join reports whether a test of trains could join one that its client makes the other way.
func (s *Server) join(client netip.Addr, test *serverTest) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pairs[client]
	if p == nil || *p.way(test.params) {
		return false
	}
	test.pair, *p.way(test.params) = p, true
	return true
}

func (s *Server) waitForPlace(ctx context.Context) bool {
	select {
	case s.places <- struct{}{}:
		return true
	case <-time.After(busyGrace):
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
