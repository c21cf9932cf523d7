package lab

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/packet"
)

// maxMembers is how many members a group may have besides a sender: a packet's Members are the bits of one number.
const maxMembers = 64

// parseGroup reads the address of a group that routers forward for. What every link keeps to itself (RFC 5771 section 4, RFC 4291 section
// 2.7) is none.
func parseGroup(text string) (netip.Addr, error) {
	group, err := netip.ParseAddr(text)
	if err != nil || !group.IsMulticast() || group.IsLinkLocalMulticast() || group.IsInterfaceLocalMulticast() || group.Zone() != "" {
		return group, fmt.Errorf("groups: %q: want a multicast address that routers forward, such as 239.1.2.3 or ff05::1:3", text)
	}
	return group, nil
}

func (s *Spec) validateGroups(known map[string]string) error {
	for _, text := range slices.Sorted(maps.Keys(s.Groups)) {
		if _, err := parseGroup(text); err != nil {
			return document.About("groups", "%v", err)
		}
		members := s.Groups[text]
		if len(members) > maxMembers {
			return document.About("groups", "groups: %s: %d members; want at most %d", text, len(members), maxMembers)
		}
		for i, name := range members {
			if known[name] != "host" {
				return document.About("groups", "groups: %s: %q: no such host; name it under hosts", text, name)
			}
			if slices.Contains(members[:i], name) {
				return document.About("groups", "groups: %s: %q twice; a host is a member once", text, name)
			}
		}
	}
	return nil
}

// groups are the members of each group, in the file's order.
func (s *Spec) groups(node map[string]int) map[netip.Addr][]int {
	all := map[netip.Addr][]int{}
	for text, names := range s.Groups {
		group, err := parseGroup(text)
		if err != nil {
			continue // Validate has seen to it that this does not happen
		}
		for _, name := range names {
			all[group] = append(all[group], node[name])
		}
	}
	return all
}

// treeKey names a tree: who sends, by address, and to which group.
type treeKey struct{ source, group netip.Addr }

// tree says by which links the packets of one sender go to the members of a group: each link once, as routers with static groups do it.
// Members are known by their bits: the first of targets is bit 0.
type tree struct {
	targets  []netip.Addr // of the members, without the sender: their addresses of the group's family
	branches map[int][]branch
}

// branch is one of the links by which a node passes packets on, and the members behind it.
type branch struct {
	out     int // a direction
	members uint64
}

// tree returns the tree of a sender and a group, of the routes as they are now; nil where there is no such group, or nobody sends from
// that address.
func (n *Network) tree(key treeKey) *tree {
	if t, made := n.trees[key]; made {
		return t
	}
	members, known := n.plan.Groups[key.group]
	root := slices.IndexFunc(n.plan.Interfaces, func(i Interface) bool { return i.Address == key.source || i.Address6 == key.source })
	if !known || root < 0 {
		return nil
	}
	t := &tree{branches: map[int][]branch{}}
	entry := map[int]int{} // of each node of the tree: the direction by which packets come to it
	for _, m := range members {
		if m == n.plan.Interfaces[root].Node {
			continue
		}
		bit := uint64(1) << len(t.targets)
		address := n.plan.Address(m)
		if key.group.Is6() {
			address = n.plan.Address6(m)
		}
		t.targets = append(t.targets, address)
		n.graft(t, entry, n.path(n.plan.Interfaces[root].Leaves, m), bit)
	}
	n.trees[key] = t
	return t
}

// path returns the directions from a first one to a node, that one included; nil where routers know no way.
func (n *Network) path(first, to int) []int {
	path := []int{first}
	for at := n.plan.nodeAtEnd(first); at != to; at = n.plan.nodeAtEnd(path[len(path)-1]) {
		ways := n.routes[at][to]
		if !n.plan.Nodes[at].Router || len(ways) == 0 || len(path) > len(n.plan.Nodes) {
			return nil
		}
		path = append(path, ways[0])
	}
	return path
}

// graft adds a path to a member. Where it meets a node of the tree, the tree's own way to there is kept, so that no packet comes twice.
func (n *Network) graft(t *tree, entry map[int]int, path []int, member uint64) {
	if path == nil {
		return
	}
	from := 0
	for i, d := range path {
		if _, there := entry[n.plan.nodeAtEnd(d)]; there {
			from = i + 1
		}
	}
	for _, d := range path[from:] {
		entry[n.plan.nodeAtEnd(d)] = d
	}
	for at, d := -1, entry[n.plan.nodeAtEnd(path[len(path)-1])]; at != n.plan.nodeAtStart(path[0]); d = entry[at] {
		at = n.plan.nodeAtStart(d)
		branches := t.branches[at]
		if i := slices.IndexFunc(branches, func(b branch) bool { return b.out == d }); i >= 0 {
			branches[i].members |= member
		} else {
			t.branches[at] = append(branches, branch{d, member})
		}
	}
}

// nodeAtStart and nodeAtEnd return the nodes that a direction comes from and leads to.
func (p *Plan) nodeAtStart(direction int) int { return p.Interfaces[p.Directions[direction].From].Node }

func (p *Plan) nodeAtEnd(direction int) int { return p.Interfaces[p.Directions[direction].To].Node }

// injectGroup takes a packet for a group that a host sent out of an interface. Each member has an account of its own for it.
func (n *Network) injectGroup(t int64, iface int, p *packet.Packet) {
	tree := n.tree(treeKey{packet.Source(p.Data), packet.Target(p.Data)})
	if tree == nil || len(tree.targets) == 0 {
		n.Pool.Put(p)
		return
	}
	n.Pool.Split(p, func(p *packet.Packet) {
		n.Book.BeginGroup(p, t, tree.targets)
		n.tap(t, iface, true, p)
		n.leave(t, iface, p)
	})
}

// spread is what a router does with a packet for a group: a copy for each link that has members behind it who still miss it. Nobody
// complains about such packets (RFC 1122 section 3.2.2).
func (n *Network) spread(t int64, node, iface int, p *packet.Packet) {
	if !n.plan.Nodes[node].Settings.Hidden && packet.HopLimit(p.Data) <= 1 {
		n.drop(t, -1, p, packet.TTLExpired)
		return
	}
	if tree := n.tree(treeKey{packet.Source(p.Data), packet.Target(p.Data)}); tree != nil {
		for _, b := range tree.branches[node] {
			if behind := b.members & p.Members; behind != 0 {
				c := n.Pool.Clone(p)
				c.Members = behind
				p.Members &^= behind
				n.onward(t, node, iface, b.out, c)
			}
		}
	}
	if p.Members != 0 { // a way that was there when it was sent is gone
		n.drop(t, -1, p, packet.NoRoute)
		return
	}
	n.Pool.Put(p)
}
