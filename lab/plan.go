package lab

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
)

// Plan is a Spec worked out: nodes numbered, interfaces addressed, routes chosen. It is pure data; equal Specs give
// equal Plans.
//
// Link number i is the network 10.(i/256).(i%256).0/24; the first node of its `between` is .1, the second .2.
// A node's own address is that of its first link.
type Plan struct {
	Seed       uint64
	Nodes      []Node
	Interfaces []Interface // link i has interfaces 2i (first node) and 2i+1 (second)
	Directions []Direction // link i has directions 2i (forward) and 2i+1 (reverse)

	nextHop [][]int // [node][destination node] -> direction to leave by, -1: none
	owner   map[netip.Addr]int
}

// Node is a host or a router.
type Node struct {
	Name       string
	Router     bool
	Sysctl     map[string]string
	Interfaces []int
}

// Interface is one end of a link.
type Interface struct {
	Node    int
	Name    string // as the node sees it: eth0, eth1, …
	Address netip.Addr
	Peer    int // the interface at the link's other end
	Leaves  int // the direction that carries what this interface sends
}

// Direction is one way over a link.
type Direction struct {
	From, To int // interfaces
	Shape    Shape
}

// NewPlan works out a valid Spec.
func NewPlan(s *Spec) *Plan {
	p := &Plan{Seed: s.Seed, owner: map[netip.Addr]int{}}
	index := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(s.Hosts)) {
		index[name] = len(p.Nodes)
		p.Nodes = append(p.Nodes, Node{Name: name, Sysctl: s.Hosts[name].Sysctl})
	}
	for _, name := range s.Routers {
		index[name] = len(p.Nodes)
		p.Nodes = append(p.Nodes, Node{Name: name, Router: true})
	}
	for i, l := range s.Links {
		first, second := 2*i, 2*i+1
		p.addInterface(index[l.Between[0]], linkAddress(i, 1), second)
		p.addInterface(index[l.Between[1]], linkAddress(i, 2), first)
		p.Directions = append(p.Directions,
			Direction{From: first, To: second, Shape: l.Shape.over(l.Forward)},
			Direction{From: second, To: first, Shape: l.Shape.over(l.Reverse)})
	}
	for n := range p.Nodes {
		p.nextHop = append(p.nextHop, p.routesFrom(n))
	}
	return p
}

func linkAddress(link int, host byte) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(link >> 8), byte(link), host})
}

func (p *Plan) addInterface(node int, addr netip.Addr, peer int) {
	n := &p.Nodes[node]
	id := len(p.Interfaces)
	p.Interfaces = append(p.Interfaces, Interface{
		Node: node, Name: fmt.Sprintf("eth%d", len(n.Interfaces)), Address: addr, Peer: peer, Leaves: id})
	n.Interfaces = append(n.Interfaces, id)
	p.owner[addr] = node
}

// routesFrom finds, for each node, the direction by which n reaches it over the fewest links; hosts do not forward.
// Links that stand earlier in the file win ties.
func (p *Plan) routesFrom(n int) []int {
	first := slices.Repeat([]int{-1}, len(p.Nodes))
	seen := make([]bool, len(p.Nodes))
	seen[n] = true
	for queue := []int{n}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at != n && !p.Nodes[at].Router {
			continue
		}
		for _, i := range p.Nodes[at].Interfaces {
			next := p.Interfaces[p.Interfaces[i].Peer].Node
			if seen[next] {
				continue
			}
			seen[next] = true
			first[next] = first[at]
			if at == n {
				first[next] = p.Interfaces[i].Leaves
			}
			queue = append(queue, next)
		}
	}
	return first
}

// Address returns a node's own address: that of its first link, invalid if it has none.
func (p *Plan) Address(node int) netip.Addr {
	if i := p.Nodes[node].Interfaces; len(i) > 0 {
		return p.Interfaces[i[0]].Address
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
	for l := 0; l < len(p.Directions)/2; l++ {
		x, y := p.Interfaces[2*l].Node, p.Interfaces[2*l+1].Node
		if x == a && y == b || x == b && y == a {
			links, reversed = append(links, l), append(reversed, x == b)
		}
	}
	return links, reversed
}
