package analysis

import (
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// TracedPair is what was traced from one host to another, by one test.
type TracedPair struct {
	Source, Target string
	Course         Course
	Traces         []*measure.Result
}

// Graph is the routes of many pairs in one: who is on them, and which links they use.
type Graph struct {
	Nodes []GraphNode `json:"nodes"`
	Links []GraphLink `json:"links"`
}

// GraphNode is a host, or a router with all addresses that are known to be one router's.
type GraphNode struct {
	Host      string   `json:"host,omitempty" doc:"What the mesh calls it; none: a router"`
	Addresses []string `json:"addresses"`
	Pairs     int      `json:"pairs" doc:"How many pairs' newest routes pass it, begin or end there"`
}

// GraphLink is a link between two nodes, as indices. Both directions are one.
type GraphLink struct {
	From     int        `json:"from"`
	To       int        `json:"to"`
	Pairs    int        `json:"pairs" doc:"How many pairs' newest routes use it, a pair each way; 0: none any more"`
	Sure     bool       `json:"sure" doc:"False: several routers share the load at both ends, so that it is not known which leads to which"`
	Silent   int        `json:"silent,omitempty" doc:"How many hops between answer nobody"`
	Appeared *time.Time `json:"appeared,omitempty" doc:"When a change of route began to use it"`
	Left     *time.Time `json:"left,omitempty" doc:"When a change of route no longer used it"`
}

// GraphOf joins routes: those that pairs have now, and the links that changes took from them or brought them. Which addresses are one router's is
// known of a router that tells its interfaces (RFC 5837; what hosts answer from, or others on the same route, it is not believed), or answers from another of
// its addresses; and by the two ends of a link:
//
//	a to b:   … A1, B1 …         A and B are routers, B1 the interface of B that packets from A arrive by
//	b to a:   … B2, A2 …         A2 is its other end, if both are the two addresses of a /30 or /31 (of IPv6 /126 or /127): so A1 and A2 are A's
//
// unless some trace has both, or B is a host, before which several routers answer (Gunes and Sarac, Resolving IP aliases in building traceroute-based Internet maps, 2009).
func GraphOf(pairs []TracedPair) Graph {
	b := &graphBuilder{parent: map[string]string{}, hosts: map[string]bool{}, links: map[[2]string]*builtLink{}, through: sets[string, [2]string]{}}
	for i := range pairs {
		b.ends(&pairs[i])
	}
	b.alias(pairs)
	for i := range pairs {
		b.add(&pairs[i])
	}
	return b.graph()
}

type graphBuilder struct {
	parent  map[string]string // of addresses that are one node's
	hosts   map[string]bool   // the addresses by which hosts answered as targets
	links   map[[2]string]*builtLink
	through sets[string, [2]string] // the pairs whose newest routes pass a node, by its root
}

// sets are sets of values by a key.
type sets[K, V comparable] map[K]map[V]bool

func (s sets[K, V]) add(key K, value V) {
	if s[key] == nil {
		s[key] = map[V]bool{}
	}
	s[key][value] = true
}

type builtLink struct {
	GraphLink
	pairs map[[2]string]bool
}

// hostPrefix is before the name of a host where it stands as an address: a source answers no trace of its own.
const hostPrefix = "host "

func (b *graphBuilder) root(address string) string {
	for {
		up, known := b.parent[address]
		if !known || up == address {
			b.parent[address] = address
			return address
		}
		address = up
	}
}

func (b *graphBuilder) join(one, other string) {
	x, y := b.root(one), b.root(other)
	if x != y {
		b.parent[max(x, y)] = min(x, y)
	}
}

// ends joins the hosts at both ends of a pair with the addresses by which they answer.
func (b *graphBuilder) ends(p *TracedPair) {
	b.root(hostPrefix + p.Source)
	for _, r := range routesOf(p) {
		if r.Whole {
			for _, a := range r.end().Addresses {
				b.join(hostPrefix+p.Target, a)
				b.hosts[a] = true
			}
		}
	}
}

// routesOf are the newest route of a pair, and those of its changes.
func routesOf(p *TracedPair) (all []*Route) {
	if p.Course.Newest != nil {
		all = append(all, p.Course.Newest)
	}
	for i := range p.Course.Moves {
		all = append(all, &p.Course.Moves[i].Before, &p.Course.Moves[i].After)
	}
	return all
}

// add counts the newest route of a pair, and marks what its changes took or brought.
func (b *graphBuilder) add(p *TracedPair) {
	pair := [2]string{p.Source, p.Target}
	if newest := p.Course.Newest; newest != nil {
		b.walk(p.Source, newest, func(l *builtLink) { l.pairs[pair] = true })
		b.through.add(b.root(hostPrefix+p.Source), pair)
		for _, h := range newest.Hops {
			for _, a := range h.Addresses {
				b.through.add(b.root(a), pair)
			}
		}
	}
	for i := range p.Course.Moves {
		m := &p.Course.Moves[i]
		before, after := map[*builtLink]bool{}, map[*builtLink]bool{}
		b.walk(p.Source, &m.Before, func(l *builtLink) { before[l] = true })
		b.walk(p.Source, &m.After, func(l *builtLink) { after[l] = true })
		for l := range before {
			if !after[l] {
				l.Left = later(l.Left, m.After.First)
			}
		}
		for l := range after {
			if !before[l] {
				l.Appeared = later(l.Appeared, m.After.First)
			}
		}
	}
}

func later(at *time.Time, other time.Time) *time.Time {
	if at == nil || other.After(*at) {
		return &other
	}
	return at
}

// walk visits the links of a route from a host on.
func (b *graphBuilder) walk(source string, r *Route, visit func(*builtLink)) {
	from, silent := []string{hostPrefix + source}, 0
	for _, h := range r.Hops {
		if len(h.Addresses) == 0 {
			silent++
			continue
		}
		for _, one := range from {
			for _, other := range h.Addresses {
				ends := [2]string{b.root(one), b.root(other)}
				if ends[0] == ends[1] {
					continue
				}
				slices.Sort(ends[:])
				l := b.links[ends]
				if l == nil {
					l = &builtLink{GraphLink: GraphLink{Silent: silent}, pairs: map[[2]string]bool{}}
					b.links[ends] = l
				}
				l.Sure = l.Sure || len(from) == 1 || len(h.Addresses) == 1
				l.Silent = min(l.Silent, silent)
				visit(l)
			}
		}
		from, silent = h.Addresses, 0
	}
}
