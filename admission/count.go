// Package admission bounds how many there are of something at once that others cause: connections, handshakes, tests. It counts
// in all and for each network, so that what one host leaves open costs no other host its turn, and ends what is silent for too
// long. What is counted, and what is said to who is one too many, is the caller's to know.
package admission

import (
	"errors"
	"net"
	"net/netip"
	"sync"
)

var (
	// ErrAll says that all networks together have as many as may be.
	ErrAll = errors.New("as many are open as may be")
	// ErrNetwork says that the network has as many as one may have.
	ErrNetwork = errors.New("as many of this network are open as may be")
)

// Limits are how many there may be at once.
type Limits struct {
	All, Each int                   // in all; of one network
	Exempt    func(netip.Addr) bool // from the limit of a network, such as a reverse proxy; nil: nobody
	// Spare lets in an eighth above each limit, to be told that they are too many.
	Spare bool
}

// Count is how many there are. Its methods may be called from several goroutines.
type Count struct {
	limits Limits

	mu  sync.Mutex
	sum int
	of  map[netip.Prefix]int
}

// NewCount counts from none.
func NewCount(l Limits) *Count { return &Count{limits: l, of: map[netip.Prefix]int{}} }

// Take counts one more from an address, if in is true, and it is to be given back then. The error is ErrAll or ErrNetwork where it
// is one too many; in with an error is one that is let in to be told so.
func (c *Count) Take(from netip.Addr) (in bool, err error) {
	network, each := NetworkOf(from), c.limits.Each
	if c.limits.Exempt != nil && c.limits.Exempt(from) {
		each = c.limits.All
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	all, own := c.sum+1, c.of[network]+1
	switch {
	case all > c.limits.All:
		err = ErrAll
	case own > each:
		err = ErrNetwork
	}
	if all > c.limits.above(c.limits.All) || own > c.limits.above(each) {
		return false, err
	}
	c.sum, c.of[network] = all, own
	return true, err
}

// GiveBack counts one less from an address of which one was taken.
func (c *Count) GiveBack(from netip.Addr) {
	network := NetworkOf(from)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sum--
	if c.of[network]--; c.of[network] == 0 {
		delete(c.of, network) // networks that come once are not kept
	}
}

// Now is how many there are.
func (c *Count) Now() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sum
}

func (l Limits) above(limit int) int {
	if l.Spare {
		return limit + limit/8
	}
	return limit
}

// NetworkOf is who counts as one: an IPv4 address, or the /64 of an IPv6 one, in which a host can have any address it likes (RFC
// 4291, section 2.5.4; RFC 8981). An address that is none is of a network of its own.
func NetworkOf(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // the zero value for an address that is none
	return p
}

// addressOf is where a connection comes from; the zero value where it has no address of IP.
func addressOf(conn net.Conn) netip.Addr {
	at, _ := netip.ParseAddrPort(conn.RemoteAddr().String())
	return at.Addr()
}
