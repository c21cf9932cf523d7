// Package mates says which addresses may be the two ends of a link between routers. It is pure: what else tells that two addresses are of one link or of
// one router, and what is made of that, is its callers' to know.
package mates

import (
	"net/netip"
	"slices"
)

// Of returns the addresses that may be the other end of a link, by the address of one end: that of the same network of four (a /30, or a /126 of IPv6),
// whose first and last address are no interface's, and that of the same network of two (a /31 of RFC 3021, or a /127 of RFC 6164):
//
//	last bits of the address    other end in a network of four    in one of two
//	00                          -                                 01
//	01                          10                                00
//	10                          01                                11
//	11                          -                                 10
func Of(a netip.Addr) (mates []netip.Addr) {
	bytes := a.AsSlice()
	if bytes == nil {
		return nil
	}
	end := &bytes[len(bytes)-1]
	last := *end
	add := func(other byte) {
		*end = other
		mate, _ := netip.AddrFromSlice(bytes) // as long as the address is
		mates = append(mates, mate)
	}
	if low := last & 3; low == 1 || low == 2 {
		add(last ^ 3)
	}
	add(last ^ 1)
	return mates
}

// Are says whether two addresses may be the two ends of one link.
func Are(a, b netip.Addr) bool { return slices.Contains(Of(a), b) }
