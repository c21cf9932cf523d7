package analysis

import (
	"cmp"
	"slices"
	"strings"
)

// graph numbers nodes, hosts first, and in order of names.
func (b *graphBuilder) graph() Graph {
	used := map[string]*GraphNode{}
	for ends := range b.links {
		used[ends[0]], used[ends[1]] = &GraphNode{Addresses: []string{}}, &GraphNode{Addresses: []string{}}
	}
	var all []string
	for a := range b.parent {
		all = append(all, a)
	}
	slices.Sort(all)
	for _, a := range all {
		n := used[b.root(a)]
		if n == nil {
			continue
		}
		if name, is := strings.CutPrefix(a, hostPrefix); is {
			n.Host = cmp.Or(n.Host, name)
		} else {
			n.Addresses = append(n.Addresses, a)
		}
	}
	g := Graph{Nodes: []GraphNode{}, Links: []GraphLink{}}
	var roots []string
	for root, n := range used {
		n.Pairs = len(b.through[root])
		roots = append(roots, root)
	}
	slices.SortFunc(roots, func(x, y string) int {
		one, other := used[x], used[y]
		if (one.Host == "") != (other.Host == "") {
			return cmp.Compare(other.Host, one.Host)
		}
		return cmp.Or(cmp.Compare(one.Host, other.Host), cmp.Compare(x, y))
	})
	at := map[string]int{}
	for i, root := range roots {
		at[root] = i
		g.Nodes = append(g.Nodes, *used[root])
	}
	for ends, l := range b.links {
		l.From, l.To, l.Pairs = min(at[ends[0]], at[ends[1]]), max(at[ends[0]], at[ends[1]]), len(l.pairs)
		g.Links = append(g.Links, l.GraphLink)
	}
	slices.SortFunc(g.Links, func(a, b GraphLink) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return g
}
