// Package route draws the route of a trace: as a graph and as a map, both SVG, and as DOT, the text that Graphviz reads. Each is a function from one Result to bytes.
//
// It asks nobody anything and reads no file: names, systems and places are those that the Result has (Samples.Addresses). Texts may come from strangers' name
// servers: they are escaped, and cut where they are long. An SVG holds no script and leads to nothing outside it.
package route

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// way is a route as a graph: the source first, then who answers at each hop. The nodes of a hop follow each other, and links lead from a hop to the next.
type way struct {
	title string
	nodes []node
	links []measure.PathLink // between indices of nodes
}

// node is an interface that answers at a hop, or a hop where nobody does.
type node struct {
	ttl       int    // 0: the source
	address   string // "": nobody answers
	name      string
	known     measure.AddressInfo
	rtt       *float64 // least; nil: not known
	final     bool     // the route ends here
	balancing string   // over its next hops: "flow", "packet" or ""
}

// Limits of what is drawn, far beyond any route, for files that others made: the rest is left out.
const (
	mostNodes = 1000
	mostLinks = 10000
)

// wayOf is the route of a Result: all paths where it has them, else its hops.
func wayOf(r *measure.Result) way {
	w := way{title: fmt.Sprintf("route from %s to %s (%s), %s", r.Source.NameOrAddress(), r.Target.Name, r.Target.Address, r.Started.UTC().Format("2006-01-02 15:04 MST"))}
	known := map[string]measure.AddressInfo{}
	for _, a := range r.Samples.Addresses {
		known[a.Address] = a
	}
	add := func(n node) {
		if len(w.nodes) == mostNodes {
			return
		}
		n.known = known[n.address]
		n.name = cmp.Or(n.name, n.known.Name)
		if n.name == "" && n.final && n.address == r.Target.Address && n.address != r.Target.Name {
			n.name = r.Target.Name
		}
		w.nodes = append(w.nodes, n)
	}
	add(node{address: r.Source.Address, name: r.Source.Name})
	if p := r.Samples.Paths; p != nil {
		for _, v := range p.Vertices {
			add(node{ttl: v.TTL, address: v.Address, rtt: v.RTT, final: v.Final, balancing: v.Balancing})
		}
		w.linkPaths(p.Links)
		return w
	}
	for i, h := range r.Samples.Hops {
		last := i == len(r.Samples.Hops)-1 && r.Samples.Route != nil && r.Samples.Route.Reached
		if len(h.Addresses) == 0 {
			add(node{ttl: h.TTL})
		}
		for _, a := range h.Addresses {
			n := node{ttl: h.TTL, address: a, final: last}
			if least, any := h.Least(); any && len(h.Addresses) == 1 { // of several it is not known whose it is
				n.rtt = &least
			}
			add(n)
		}
	}
	w.linkHops()
	return w
}

// linkPaths takes the links over that a trace found, whose ends are its vertices, and leads from the source to those of the first hop. Ends that are not there, as a
// file may have them, are left out.
func (w *way) linkPaths(links []measure.PathLink) {
	for i, n := range w.nodes {
		if i > 0 && n.ttl == w.nodes[1].ttl {
			w.links = append(w.links, measure.PathLink{From: 0, To: i, Certain: true})
		}
	}
	for _, l := range links {
		l.From, l.To = l.From+1, l.To+1
		if len(w.links) < mostLinks && l.From > 0 && l.To > l.From && l.To < len(w.nodes) && w.nodes[l.To].ttl > w.nodes[l.From].ttl {
			w.links = append(w.links, l)
		}
	}
}

// linkHops leads from each node to all of the next hop: which of several leads to which a trace of one flow does not tell.
func (w *way) linkHops() {
	rows := w.rows()
	for i := 1; i < len(rows); i++ {
		for _, from := range rows[i-1] {
			for _, to := range rows[i][:min(len(rows[i]), mostLinks-len(w.links))] {
				w.links = append(w.links, measure.PathLink{From: from, To: to, Certain: len(rows[i-1]) == 1 || len(rows[i]) == 1})
			}
		}
	}
}

// rows are the nodes of each hop.
func (w *way) rows() (rows [][]int) {
	for i, n := range w.nodes {
		if i == 0 || n.ttl != w.nodes[i-1].ttl {
			rows = append(rows, nil)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], i)
	}
	return rows
}

// headline is what a node is called.
func (n node) headline() string {
	if n.address == "" && n.ttl > 0 {
		return "no answer"
	}
	return cmp.Or(n.name, n.address)
}

// details are what else is known of it, the shortest first; none is empty.
func (n node) details() (all []string) {
	add := func(text string) {
		if text != "" {
			all = append(all, text)
		}
	}
	if n.name != "" && n.name != n.address {
		add(n.address)
	}
	if n.balancing != "" {
		add("balances by " + n.balancing)
	}
	owner := cmp.Or(n.known.Owner, n.known.ASName)
	if n.known.ASN > 0 {
		owner = strings.TrimSpace(fmt.Sprintf("AS%d %s", n.known.ASN, owner))
	}
	add(owner)
	if p := n.known.Place; p != nil {
		add(strings.Trim(p.City+", "+p.Country, ", "))
	}
	return all
}

// delay is the least round trip as text; "": not known.
func (n node) delay() string {
	if n.rtt == nil {
		return ""
	}
	return quantity.FormatSeconds(*n.rtt)
}

// lines are all that is known of it.
func (n node) lines() []string {
	all := append([]string{n.headline()}, n.details()...)
	if delay := n.delay(); delay != "" {
		all = append(all, delay)
	}
	return all
}

// position is where it is, if that is known and on Earth.
func (n node) position() (p measure.Position, ok bool) {
	if n.known.Place == nil || n.known.Place.Position == nil {
		return p, false
	}
	p = *n.known.Place.Position
	return p, p.Latitude >= -90 && p.Latitude <= 90 && p.Longitude >= -180 && p.Longitude <= 180
}
