package config

// Group says which hosts are tested against which.
type Group struct {
	Name   string
	Shape  Shape
	Left   []int // the mesh, the list, the centre of a star, the left side
	Right  []int // the leaves, the right side
	Pairs  [][2]int
	OneWay bool // of a star from the centre, of sides from the left only

	interfaces map[int]string // that the group means of a host
}

// Shape is what pairs a group has.
type Shape string

const (
	ShapeMesh  Shape = "mesh"  // each to each other
	ShapeStar  Shape = "star"  // the centre to each leaf, and back
	ShapeSides Shape = "sides" // each of the left to each of the right, and back
	ShapeList  Shape = "list"  // each by itself: for tools that measure their host
	ShapePairs Shape = "pairs" // from the first to the second of each, as written
)

// draft is a group as it is written. Groups may name each other in any order, so they are resolved when all are known.
type draft struct {
	name   entry
	hosts  []member // of all its lists, once resolved
	state  int      // 0: not begun; 1: being resolved; 2: resolved
	result Group
}

// group reads the names of the section groups.
func (r *reader) group(n node) {
	for _, e := range n.entries("{everybody: {mesh: all}}") {
		value(e.at, new(string), parseName)
		if r.define(e.at) {
			r.groups[e.key] = &draft{name: e}
			r.groupOrder = append(r.groupOrder, e.key)
		}
	}
}

func (r *reader) resolveGroups() {
	for _, name := range r.groupOrder {
		r.resolve(r.groups[name])
		r.mesh.groups[name] = len(r.mesh.Groups)
		r.mesh.Groups = append(r.mesh.Groups, r.groups[name].result)
	}
}

func (r *reader) resolve(d *draft) {
	d.state = 1
	g := &d.result
	g.Name, g.interfaces = d.name.key, map[int]string{}
	side := func(shape Shape, list *[]int) func(node) {
		return func(n node) {
			g.Shape = shape
			*list = r.members(n, d)
		}
	}
	n, before := d.name.value, len(r.errs)
	given := n.fields("{mesh: [a, b]}", fields{
		"mesh": side(ShapeMesh, &g.Left),
		"list": side(ShapeList, &g.Left),
		"star": func(n node) {
			n.fields("{centre: a, leaves: [b, c]}", fields{
				"centre": side(ShapeStar, &g.Left), "leaves": side(ShapeStar, &g.Right),
				"one_way": into(&g.OneWay, parseBool),
			})
		},
		"sides": func(n node) {
			n.fields("{left: [a, b], right: [c, d]}", fields{
				"left": side(ShapeSides, &g.Left), "right": side(ShapeSides, &g.Right),
				"one_way": into(&g.OneWay, parseBool),
			})
		},
		"pairs": func(n node) { r.readPairs(n, d) },
	})
	if len(given) != 1 {
		n.fail("", "one of mesh, star, sides, list, pairs")
	} else if want := g.lacks(); want != "" && len(r.errs) == before {
		n.fail("", "%s", want)
	}
	d.state = 2
}

// lacks says what the group needs to have any pair at all.
func (g *Group) lacks() string {
	switch {
	case g.Shape == ShapeMesh && len(g.Left) < 2:
		return "at least two hosts in a mesh"
	case g.Shape == ShapeStar && (len(g.Left) == 0 || len(g.Right) == 0):
		return "a centre and leaves"
	case g.Shape == ShapeSides && (len(g.Left) == 0 || len(g.Right) == 0):
		return "hosts on the left and on the right"
	case g.Shape == ShapeList && len(g.Left) == 0, g.Shape == ShapePairs && len(g.Pairs) == 0:
		return "at least one host"
	}
	return ""
}

// members reads a list of hosts for a group.
func (r *reader) members(n node, d *draft) (hosts []int) {
	for _, m := range r.selection(n, d) {
		hosts = append(hosts, m.host)
		r.keep(n, d, m)
	}
	return hosts
}

// keep adds a host to the group's own, with the interface that is meant.
func (r *reader) keep(n node, d *draft, m member) {
	d.hosts = append(d.hosts, m)
	if m.name == "" {
		return
	}
	if other := d.result.interfaces[m.host]; other != "" && other != m.name {
		n.fail(r.mesh.Hosts[m.host].Name, "one interface of a host in a group, not both %s and %s", other, m.name)
	}
	d.result.interfaces[m.host] = m.name
}

func (r *reader) readPairs(n node, d *draft) {
	g := &d.result
	g.Shape = ShapePairs
	seen := map[[2]int]bool{}
	for _, pair := range n.items() {
		ends := pair.items()
		if len(ends) != 2 {
			pair.fail("", "two hosts, source and target, such as [ucl, ral]")
			continue
		}
		from, to := r.selection(ends[0], d), r.selection(ends[1], d)
		if len(from) != 1 || len(to) != 1 || from[0].host == to[0].host {
			pair.fail("", "two different hosts, source and target, such as [ucl, ral]")
			continue
		}
		r.keep(ends[0], d, from[0])
		r.keep(ends[1], d, to[0])
		if p := [2]int{from[0].host, to[0].host}; !seen[p] {
			seen[p] = true
			g.Pairs = append(g.Pairs, p)
		}
	}
}
