package iperf3

import (
	"net/netip"
	"sync"
)

// shares bounds how many of something are under way, in all and for each address, so that what one host leaves open
// costs no other host its turn. The addresses of an IPv6 subnet count as one: a single host may use them all (RFC 4291,
// section 2.5.4; RFC 8981).
type shares struct {
	each, all int

	mu  sync.Mutex
	sum int
	of  map[netip.Prefix]int
}

// take reports whether the address has one more; it then gives it back.
func (s *shares) take(from netip.Addr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := shareholder(from)
	if s.sum >= s.all || s.of[key] >= s.each {
		return false
	}
	if s.of == nil {
		s.of = map[netip.Prefix]int{}
	}
	s.sum++
	s.of[key]++
	return true
}

func (s *shares) giveBack(from netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := shareholder(from)
	s.sum--
	if s.of[key]--; s.of[key] == 0 {
		delete(s.of, key) // addresses that come once are not kept
	}
}

// shareholder is the address itself, or its IPv6 subnet.
func shareholder(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // the zero value for an address that is none
	return p
}
