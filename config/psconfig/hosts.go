package psconfig

import (
	"cmp"
	"maps"
	"slices"

	"github.com/pathwise-net/pathwise/config"
)

// host is a host of a template: the addresses that name it, or one that names none.
type host struct {
	name       string // ours
	interfaces []pair // name to address
	labels     []string
	site       string
	responder  bool
	disabled   bool
	some       bool // at least one address of it is not disabled
}

// address is what groups speak of.
type address struct {
	host   *host
	part   string            // its interface
	labels map[string]string // label to interface
	tags   []string
}

// hosts reads addresses and hosts.
func (i *importer) hosts(root *object) {
	described := root.child("hosts")
	addresses := root.child("addresses")
	for _, name := range addresses.keys() {
		a := addresses.child(name)
		i.address(name, a, described)
		a.close()
	}
	for _, name := range described.keys() {
		if !described.taken[name] {
			i.note(described.at(name), "no address belongs to this host: %s", notCarried)
		}
	}
	i.classes, _ = root.take("address-classes").(map[string]any)
	for _, name := range i.order {
		h := i.byName[name]
		if len(h.interfaces) > 0 {
			i.out["hosts"] = append(i.out["hosts"], pair{h.name, h.fields()})
		}
	}
}

// address adds one address to its host.
func (i *importer) address(name string, a, described *object) {
	h := i.hostOf(name, a, described)
	disabled := a.yes("disabled")
	tags := i.tags(a)
	h.responder = a.yes("no-agent") || h.responder
	given := a.text("address")
	if err := config.CheckAddress(given); err != nil {
		i.note(a.at("address"), "%q is no address: %s", given, notCarried)
		return
	}
	known := address{host: h, part: i.name("interfaces of "+h.name, name), labels: map[string]string{}, tags: tags}
	h.interfaces = append(h.interfaces, pair{known.part, given})
	h.labels = append(h.labels, tags...)
	h.some = h.some || !disabled
	if disabled {
		i.note(a.at("disabled"), "the mesh file switches whole hosts off: %s is off if all its addresses are", h.name)
	}
	labels := a.child("labels")
	for _, label := range labels.keys() {
		l := labels.child(label)
		if given := l.text("address"); given != "" {
			if err := config.CheckAddress(given); err != nil {
				i.note(l.at("address"), "%q is no address: %s", given, notCarried)
			} else {
				known.labels[label] = i.name("interfaces of "+h.name, name+"-"+label)
				h.interfaces = append(h.interfaces, pair{known.labels[label], given})
			}
		}
		l.close()
	}
	labels.close()
	i.addresses[name] = known
}

// hostOf finds or makes the host that an address belongs to.
func (i *importer) hostOf(name string, a, described *object) *host {
	theirs := cmp.Or(a.text("host"), name)
	ours := i.name("hosts", theirs)
	if h := i.byName[ours]; h != nil {
		return h
	}
	h := &host{name: ours}
	i.byName[ours] = h
	i.order = append(i.order, ours)
	if described.fields[theirs] == nil {
		return h
	}
	d := described.child(theirs)
	h.site, h.responder, h.disabled, h.labels = d.text("site"), d.yes("no-agent"), d.yes("disabled"), i.tags(d)
	if err := config.CheckTitle(h.site); h.site != "" && err != nil {
		i.note(d.at("site"), "%q is no name for a site in a mesh file: %s", h.site, notCarried)
		h.site = ""
	}
	d.close()
	return h
}

// tags are what becomes the labels of a host. Filters go by all of them, a mesh file has those that can be a label there.
func (i *importer) tags(o *object) []string {
	all := o.texts("tags")
	for _, tag := range all {
		if config.CheckTitle(tag) != nil {
			i.note(o.at("tags"), "%q is no label of a mesh file: %s", tag, notCarried)
		}
	}
	return all
}

// fields are what a mesh file says of the host.
func (h *host) fields() []pair {
	var all []pair
	if len(h.interfaces) == 1 {
		all = append(all, pair{"address", h.interfaces[0].value})
	} else {
		all = append(all, pair{"interfaces", h.interfaces})
	}
	if h.responder {
		all = append(all, pair{"reach", string(config.ReachResponder)})
	}
	if h.site != "" {
		all = append(all, pair{"site", h.site})
	}
	slices.Sort(h.labels)
	var labels []any
	for _, label := range slices.Compact(h.labels) {
		if err := config.CheckTitle(label); err == nil {
			labels = append(labels, label)
		}
	}
	if len(labels) > 0 {
		all = append(all, pair{"labels", labels})
	}
	if h.disabled || !h.some {
		all = append(all, pair{"online", false})
	}
	return all
}

// inClass returns the addresses of a class: those that its filters let through.
func (i *importer) inClass(name string, where string) (all []string) {
	raw, has := i.classes[name]
	if !has {
		i.note(where, "there is no class %q: %s", name, notCarried)
		return nil
	}
	class := i.object("address-classes."+name, raw)
	if source := class.child("data-source").text("type"); source != "" && source != "current-config" {
		i.note(class.at("data-source"), "%q stands for whoever reads the template: %s", source, notCarried)
		return nil
	}
	match, hasMatch := class.take("match-filter").(map[string]any)
	exclude, hasExclude := class.take("exclude-filter").(map[string]any)
	for _, address := range slices.Sorted(maps.Keys(i.addresses)) {
		a := i.addresses[address]
		in, known := true, true
		if hasMatch {
			in, known = passes(match, a)
		}
		if hasExclude && in {
			out, sure := passes(exclude, a)
			in, known = !out, known && sure
		}
		if !known {
			i.note(class.path, "has a filter that only pSConfig knows: name its addresses in the mesh file")
			return nil
		}
		if in {
			all = append(all, address)
		}
	}
	class.close()
	return all
}

// maxFilters bounds how deep filters lie in each other.
const maxFilters = 20

// passes says whether a filter lets an address through, and whether the filter is one that is known here.
func passes(filter map[string]any, a address) (in, known bool) {
	return passesAt(filter, a, maxFilters)
}

func passesAt(filter map[string]any, a address, depth int) (in, known bool) {
	if depth == 0 {
		return false, false
	}
	switch kind := filter["type"]; kind {
	case "tag":
		tag, ok := filter["tag"].(string)
		return slices.Contains(a.tags, tag), ok
	case "host":
		site, _ := filter["site"].(string)
		tag, _ := filter["tag"].(string)
		_, agent := filter["no-agent"]
		return (site == "" || a.host.site == site) && (tag == "" || slices.Contains(a.host.labels, tag)), !agent
	case "not":
		inner, _ := filter["filter"].(map[string]any)
		in, known = passesAt(inner, a, depth-1)
		return !in, known
	case "and", "or":
		list, ok := filter["filters"].([]any)
		in = kind == "and"
		for _, one := range list {
			inner, _ := one.(map[string]any)
			passed, sure := passesAt(inner, a, depth-1)
			ok = ok && sure
			if passed != (kind == "and") {
				in = passed
			}
		}
		return in, ok
	}
	return false, false
}
