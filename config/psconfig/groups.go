package psconfig

import "fmt"

// group is a group of a template, as tasks name it.
type group struct {
	name     string // ours
	shape    string // theirs: mesh, list, disjoint
	excludes [][2]any
}

// groups reads groups, each under its own name.
func (i *importer) groups(root *object) {
	groups := root.child("groups")
	for _, name := range groups.keys() {
		o := groups.child(name)
		g := group{shape: o.text("type")}
		label := o.text("default-address-label")
		switch g.shape {
		case "mesh", "list":
			members := i.members(o, "addresses", label, &g)
			if len(members) > 1 || g.shape == "list" && len(members) == 1 {
				i.addGroup(name, g, []pair{{g.shape, members}})
			} else {
				i.note(o.path, "has too few hosts: %s", notCarried)
			}
		case "disjoint":
			i.disjoint(name, o, label, g)
		default:
			i.note(o.path, "type %q is none that is known here: %s", g.shape, notCarried)
		}
		o.close()
	}
}

func (i *importer) disjoint(name string, o *object, label string, g group) {
	sides := []pair{{"left", i.members(o, "a-addresses", label, &g)}, {"right", i.members(o, "b-addresses", label, &g)}}
	for _, side := range sides {
		if len(side.value.([]any)) == 0 {
			i.note(o.path, "has nobody on the %s: %s", side.key, notCarried)
			return
		}
	}
	if o.yes("unidirectional") {
		sides = append(sides, pair{"one_way", true})
	}
	i.addGroup(name, g, []pair{{"sides", sides}})
}

func (i *importer) addGroup(name string, g group, fields []pair) {
	g.name = i.name("groups", name)
	i.grouped[name] = g
	i.out["groups"] = append(i.out["groups"], pair{g.name, fields})
}

// members reads a list of addresses, and what they exclude.
func (i *importer) members(o *object, key, label string, g *group) []any {
	all := []any{}
	parts := map[*host]string{}
	for n, v := range o.list(key) {
		for _, m := range i.chosen(i.object(fmt.Sprintf("%s[%d]", o.at(key), n), v), label, g) {
			if part, twice := parts[m.host]; twice {
				if part != m.part {
					i.note(o.at(key), "%s is there with two addresses; the first counts", m.host.name)
				}
				continue
			}
			parts[m.host] = m.part
			all = append(all, m.text())
		}
	}
	if scope := o.text("excludes-self"); scope != "" && scope != "host" && key != "b-addresses" {
		i.note(o.at("excludes-self"), "a host is not tested against itself, whatever its addresses: %s", notCarried)
	}
	if key != "b-addresses" {
		i.excludes(o, label, g)
	}
	return all
}

// member is an address in a list.
type member struct {
	host *host
	part string
}

// text is how a mesh file names it.
func (m member) text() string {
	if len(m.host.interfaces) == 1 {
		return m.host.name
	}
	return m.host.name + "/" + m.part
}

// chosen returns what one selector means: an address, with a label perhaps, or a class.
func (i *importer) chosen(s *object, label string, g *group) (all []member) {
	defer s.close()
	if s.yes("disabled") {
		i.note(s.path, "is disabled: %s", notCarried)
		s.taken["name"], s.taken["label"], s.taken["class"] = true, true, true
		return nil
	}
	names := []string{s.text("name")}
	if own := s.text("label"); own != "" {
		label = own
	}
	if class := s.text("class"); class != "" {
		names = i.inClass(class, s.path)
	}
	for _, name := range names {
		a, known := i.addresses[name]
		if !known {
			i.note(s.path, "there is no address %q: %s", name, notCarried)
			continue
		}
		part := a.part
		if labelled, has := a.labels[label]; has {
			part = labelled
		} else if label != "" {
			i.note(s.path, "%s has no address labelled %q; its own is taken", name, label)
		}
		all = append(all, member{a.host, part})
	}
	return all
}

// excludes reads which pairs a group leaves out.
func (i *importer) excludes(o *object, label string, g *group) {
	for n, v := range o.list("excludes") {
		x := i.object(fmt.Sprintf("%s[%d]", o.at("excludes"), n), v)
		targets := []any{}
		for m, target := range x.list("target-addresses") {
			for _, t := range i.chosen(i.object(fmt.Sprintf("%s.target-addresses[%d]", x.path, m), target), label, g) {
				targets = append(targets, t.host.name)
			}
		}
		for _, s := range i.chosen(x.child("local-address"), label, g) {
			if len(targets) > 0 {
				g.excludes = append(g.excludes, [2]any{s.host.name, targets})
			}
		}
		x.close()
	}
}
