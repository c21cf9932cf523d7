package lab

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/traffic"
)

// Plan is a Spec worked out: nodes numbered, interfaces addressed, routes chosen. It is pure data; equal Specs give
// equal Plans.
//
// Link number i is the networks 10.(i/256).(i%256).0/24 and fd70:6174:6877:i::/64; the first node of its `between` is
// number 1, the second 2. A node's own addresses are those of its first link.
type Plan struct {
	Seed       uint64
	Offload    bool
	Nodes      []Node
	Interfaces []Interface // link i has interfaces 2i (first node) and 2i+1 (second)
	Directions []Direction // link i has directions 2i (forward) and 2i+1 (reverse)
	Routes     []Route
	Reroute    *int64               // nanoseconds from a link's end to routes round it
	Groups     map[netip.Addr][]int // members of each, by node
	Traffic    []traffic.Config
	Timeline   []Change

	owner map[netip.Addr]int
}

// Node is a host or a router.
type Node struct {
	Name       string
	Router     bool
	Host       Host
	Settings   *Router // of a router
	Interfaces []int
}

// Interface is one end of a link.
type Interface struct {
	Node     int
	Name     string // as the node sees it: eth0, eth1, …
	Address  netip.Addr
	Address6 netip.Addr
	Peer     int // the interface at the link's other end
	Leaves   int // the direction that carries what this interface sends
}

// Direction is one way over a link.
type Direction struct {
	From, To int // interfaces
	Shape    link.Shape
}

// NewPlan works out a valid Spec.
func NewPlan(s *Spec) *Plan {
	p := &Plan{Seed: s.Seed, Offload: s.Offload, Routes: s.Routes, Reroute: (*int64)(s.Reroute), Traffic: s.Traffic,
		Timeline: s.Timeline, owner: map[netip.Addr]int{}}
	index := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(s.Hosts)) {
		index[name] = len(p.Nodes)
		p.Nodes = append(p.Nodes, Node{Name: name, Host: s.Hosts[name]})
	}
	for i := range s.Routers {
		r := &s.Routers[i]
		index[r.Name] = len(p.Nodes)
		p.Nodes = append(p.Nodes, Node{Name: r.Name, Router: true, Settings: r})
	}
	p.Groups = s.groups(index)
	for i, l := range s.Links {
		first, second := 2*i, 2*i+1
		p.addInterface(index[l.Between[0]], i, 1, second)
		p.addInterface(index[l.Between[1]], i, 2, first)
		p.Directions = append(p.Directions,
			Direction{From: first, To: second, Shape: l.Shape.Over(l.Forward)},
			Direction{From: second, To: first, Shape: l.Shape.Over(l.Reverse)})
	}
	return p
}

func linkAddress(link int, host byte) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(link >> 8), byte(link), host})
}

// linkAddress6 is in a network of our own (RFC 4193): the global id spells "pathw".
func linkAddress6(link int, host byte) netip.Addr {
	return netip.AddrFrom16([16]byte{0xfd, 'p', 'a', 't', 'h', 'w', byte(link >> 8), byte(link), 15: host})
}

func (p *Plan) addInterface(node, link int, host byte, peer int) {
	n := &p.Nodes[node]
	id := len(p.Interfaces)
	i := Interface{Node: node, Name: fmt.Sprintf("eth%d", len(n.Interfaces)), Address: linkAddress(link, host),
		Address6: linkAddress6(link, host), Peer: peer, Leaves: id}
	p.Interfaces = append(p.Interfaces, i)
	n.Interfaces = append(n.Interfaces, id)
	p.owner[i.Address], p.owner[i.Address6] = node, node
}

// Address returns a node's own IPv4 address: that of its first link, invalid if it has none.
func (p *Plan) Address(node int) netip.Addr {
	if i := p.Nodes[node].Interfaces; len(i) > 0 {
		return p.Interfaces[i[0]].Address
	}
	return netip.Addr{}
}

// Address6 returns a node's own IPv6 address, invalid if it has none.
func (p *Plan) Address6(node int) netip.Addr {
	if i := p.Nodes[node].Interfaces; len(i) > 0 {
		return p.Interfaces[i[0]].Address6
	}
	return netip.Addr{}
}

// NodeByName returns the number of the node of that name.
func (p *Plan) NodeByName(name string) (int, bool) {
	i := slices.IndexFunc(p.Nodes, func(n Node) bool { return n.Name == name })
	return i, i >= 0
}

// HostInterfaces returns the interfaces that need a device: those of hosts, in order.
func (p *Plan) HostInterfaces() []int {
	var ids []int
	for id, i := range p.Interfaces {
		if !p.Nodes[i.Node].Router {
			ids = append(ids, id)
		}
	}
	return ids
}

// LinksBetween returns the links that join two nodes, either way round, and whether each is written the other way.
func (p *Plan) LinksBetween(a, b int) (links []int, reversed []bool) {
	for l := range len(p.Directions) / 2 {
		x, y := p.Interfaces[2*l].Node, p.Interfaces[2*l+1].Node
		if x == a && y == b || x == b && y == a {
			links, reversed = append(links, l), append(reversed, x == b)
		}
	}
	return links, reversed
}

func (p *Plan) nodeOf(iface int) string { return p.Nodes[p.Interfaces[iface].Node].Name }
