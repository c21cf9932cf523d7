package config

import (
	"fmt"
	"net/netip"
	"slices"
)

// Leg is how one host reaches another: by which interfaces, and to which address.
type Leg struct {
	Source, Target                   int // hosts
	SourceInterface, TargetInterface int // of their Interfaces: what a test that fills a link needs alone
	SourceAddress, TargetAddress     string
}

// families is a set of address families. A host name may stand for either.
type families uint8

const (
	ipv4 families = 1 << iota
	ipv6
)

func familiesOf(address string) families {
	ip, err := netip.ParseAddr(address)
	switch {
	case err != nil:
		return ipv4 | ipv6
	case ip.Is4():
		return ipv4
	}
	return ipv6
}

// option is an address at which a test may use a host.
type option struct {
	part     int // of Host.Interfaces
	address  string
	families families
}

// optionsOf returns all of a host in the file's order.
func (h *Host) optionsOf() (all []option) {
	for i, part := range h.Interfaces {
		for _, a := range part.Addresses {
			all = append(all, option{i, a, familiesOf(a)})
		}
	}
	return all
}

// options are those that a test may use: of the interface that the test or its group names, and of the family that it
// names, of which a host name promises neither. A nil test may use any.
func (m *Mesh) options(t *Test, host int) []option {
	h := &m.Hosts[host]
	if t == nil {
		return h.options
	}
	only := t.Interface
	if only == "" {
		only = m.Group(t.Group).interfaces[host]
	}
	if only == "" && t.Family == 0 {
		return h.options
	}
	family := [...]families{0: ipv4 | ipv6, 4: ipv4, 6: ipv6}[t.Family]
	return slices.DeleteFunc(slices.Clone(h.options), func(o option) bool {
		return only != "" && h.Interfaces[o.part].Name != only || o.families&^family != 0
	})
}

// choose returns the target's first option of a family that the source has, and the source's first for it.
func choose(sources, targets []option) (from, to option, ok bool) {
	for _, to := range targets {
		for _, from := range sources {
			if from.families&to.families != 0 {
				return from, to, true
			}
		}
	}
	return option{}, option{}, false
}

// Leg returns how a test goes from source to target. A nil test, for a run on demand, may use all interfaces. The error
// says that the hosts share no address family.
func (m *Mesh) Leg(t *Test, source, target int) (Leg, error) {
	from, to, ok := choose(m.options(t, source), m.options(t, target))
	if !ok {
		return Leg{}, fmt.Errorf("choose addresses from %s to %s: they share no address family",
			m.Hosts[source].Name, m.Hosts[target].Name)
	}
	return Leg{source, target, from.part, to.part, from.address, to.address}, nil
}
