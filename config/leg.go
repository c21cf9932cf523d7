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
	// Family is the one that a test or tool asks for of a target that has a name, 4 or 6; 0: any, or the address says.
	Family int
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

// options are those that a test may use: of the interface that the test or its group names, and of the family that it or
// its tool names, which a host name may have. A nil test, of a run on demand, may use any interface.
func (m *Mesh) options(t *Test, tool *Tool, host int) []option {
	h := &m.Hosts[host]
	only := ""
	if t != nil {
		if only = t.Interface; only == "" {
			only = m.Group(t.Group).interfaces[host]
		}
	}
	family := wanted(t, tool)
	if only == "" && family == ipv4|ipv6 {
		return h.options
	}
	return slices.DeleteFunc(slices.Clone(h.options), func(o option) bool {
		return only != "" && h.Interfaces[o.part].Name != only || o.families&family == 0
	})
}

// familyName is the parameter by which probes are told a family.
const familyName = "family"

// wanted are the families that a test and its tool both allow.
func wanted(t *Test, tool *Tool) families {
	family := ipv4 | ipv6
	if t != nil && t.Family != 0 {
		family &= map[int]families{4: ipv4, 6: ipv6}[t.Family]
	}
	switch tool.Parameters[familyName] {
	case "ipv4":
		family &= ipv4
	case "ipv6":
		family &= ipv6
	}
	return family
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

// Leg returns how a test goes from source to target with its tool. A nil test, for a run on demand, may use all interfaces.
// The error says that the hosts share no address family.
func (m *Mesh) Leg(t *Test, tool *Tool, source, target int) (Leg, error) {
	from, to, ok := choose(m.options(t, tool, source), m.options(t, tool, target))
	if !ok {
		return Leg{}, fmt.Errorf("choose addresses from %s to %s: they share no address family that the test and its tool allow",
			m.Hosts[source].Name, m.Hosts[target].Name)
	}
	return leg(t, tool, source, target, from, to), nil
}

// leg is the way between two options.
func leg(t *Test, tool *Tool, source, target int, from, to option) Leg {
	l := Leg{source, target, from.part, to.part, from.address, to.address, 0}
	if to.families == ipv4|ipv6 {
		l.Family = map[families]int{ipv4: 4, ipv6: 6}[wanted(t, tool)]
	}
	return l
}
