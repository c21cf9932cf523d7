package lookup

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"net/netip"
	"slices"
)

// Table finds the longest prefix, or the smallest range, that an address lies in. Ranges that lie in each other are cut into ones that do not, sorted by their first
// address, so that a binary search finds the only one:
//
//	read    10.0.0.0/8 ──────────────── A          kept    10.0.0.0  A
//	               10.1.0.0/16 ── B                        10.1.0.0  B
//	                                                       10.2.0.0  A
//	                                                       11.0.0.0  nothing
//
// An address of IPv4 takes 8 bytes of a table, one of IPv6 20, and each different range another 40 beside its value. A nil Table is empty.
type Table[V any] struct {
	starts4 []uint32
	of4     []int32 // ranges; -1: none
	starts6 [][2]uint64
	of6     []int32
	ranges  []span[V]
}

// span is a range of addresses and what belongs to it.
type span[V any] struct {
	first, last netip.Addr
	value       V
}

// newTable makes a table. Of two equal ranges the later one counts.
func newTable[V any](all []span[V]) *Table[V] {
	t := &Table[V]{ranges: all}
	order := make([]int32, len(all))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int { // those that hold others first
		return cmp.Or(all[i].first.Compare(all[j].first), all[j].last.Compare(all[i].last), cmp.Compare(i, j))
	})
	var open []int32 // ranges that hold the next address, the smallest last
	closeBefore := func(a netip.Addr, all6 bool) {
		for len(open) > 0 {
			top := t.ranges[open[len(open)-1]]
			if a.IsValid() && top.first.Is6() == all6 && top.last.Compare(a) >= 0 {
				return
			}
			open = open[:len(open)-1]
			after := top.last.Next()
			if !after.IsValid() || after.Is6() != top.last.Is6() { // it was the last address of all
				continue
			}
			t.begin(after, within(t.ranges, open, after))
		}
	}
	for _, i := range order {
		closeBefore(t.ranges[i].first, t.ranges[i].first.Is6())
		t.begin(t.ranges[i].first, i)
		open = append(open, i)
	}
	closeBefore(netip.Addr{}, false)
	return t
}

// within is the smallest of open ranges that holds an address, -1 for none.
func within[V any](ranges []span[V], open []int32, a netip.Addr) int32 {
	for i := len(open) - 1; i >= 0; i-- {
		if ranges[open[i]].last.Compare(a) >= 0 {
			return open[i]
		}
	}
	return -1
}

// begin notes which range holds the addresses from one on, until the next that is noted. What lies before the last that was noted is the end of a range that overlaps
// another without being in it: that other one, which begins later, keeps all of its addresses.
func (t *Table[V]) begin(a netip.Addr, r int32) {
	if a.Is4() {
		start := number4(a)
		if n := len(t.starts4); n > 0 && t.starts4[n-1] >= start {
			if t.starts4[n-1] == start {
				t.of4[n-1] = r
			}
			return
		}
		t.starts4, t.of4 = append(t.starts4, start), append(t.of4, r)
		return
	}
	start := number6(a)
	if n := len(t.starts6); n > 0 && compare6(t.starts6[n-1], start) >= 0 {
		if t.starts6[n-1] == start {
			t.of6[n-1] = r
		}
		return
	}
	t.starts6, t.of6 = append(t.starts6, start), append(t.of6, r)
}

// Find returns what belongs to the smallest range that holds an address, and the range, as the longest prefix that holds the address and lies in it.
func (t *Table[V]) Find(a netip.Addr) (value V, prefix netip.Prefix, ok bool) {
	if t == nil || !a.IsValid() {
		return value, prefix, false
	}
	a = plain(a)
	r := int32(-1)
	if a.Is4() {
		if i, exact := slices.BinarySearch(t.starts4, number4(a)); exact {
			r = t.of4[i]
		} else if i > 0 {
			r = t.of4[i-1]
		}
	} else {
		i, exact := slices.BinarySearchFunc(t.starts6, number6(a), compare6)
		if exact {
			r = t.of6[i]
		} else if i > 0 {
			r = t.of6[i-1]
		}
	}
	if r < 0 {
		return value, prefix, false
	}
	return t.ranges[r].value, prefixIn(t.ranges[r].first, t.ranges[r].last, a), true
}

// Len is how many ranges were read.
func (t *Table[V]) Len() int {
	if t == nil {
		return 0
	}
	return len(t.ranges)
}

// prefixIn is the largest prefix that holds an address and lies between two.
func prefixIn(first, last, a netip.Addr) netip.Prefix {
	for n := 0; n <= a.BitLen(); n++ {
		if p, err := a.Prefix(n); err == nil && p.Addr().Compare(first) >= 0 && lastOf(p).Compare(last) <= 0 {
			return p
		}
	}
	return netip.Prefix{}
}

// lastOf is the last address of a prefix.
func lastOf(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < 8*len(b); i++ {
		b[i/8] |= bits.Reverse8(1 << (i % 8))
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

func spanOf[V any](p netip.Prefix, v V) span[V] {
	return span[V]{p.Masked().Addr(), lastOf(p), v}
}

func number4(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

func number6(a netip.Addr) [2]uint64 {
	b := a.As16()
	return [2]uint64{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
}

func compare6(x, y [2]uint64) int { return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1])) }
