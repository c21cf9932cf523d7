package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/document"
)

// member is a host in a list, and which of its interfaces the list means; "": none in particular.
type member struct {
	host int
	name string
}

// selection reads which hosts are meant: names, site:S, label:L, group:G, all; one or a list. Each host comes once, in
// the order of its first mention. With a draft, for which the list is, groups may be named in any order.
func (r *reader) selection(n node, of *draft) (all []member) {
	seen := map[int]bool{}
	for _, item := range n.items() {
		text, ok := item.scalar("a host, site:NAME, label:NAME, group:NAME or all")
		if !ok {
			continue
		}
		for _, m := range r.chosen(item, text, of) {
			if !seen[m.host] {
				all = append(all, m)
			}
			seen[m.host] = true
		}
	}
	return all
}

// chosen returns the hosts that one text selects.
func (r *reader) chosen(n node, text string, of *draft) (all []member) {
	kind, name, prefixed := strings.Cut(text, ":")
	switch {
	case text == EveryHost:
		return r.where(func(*Host) bool { return true })
	case !prefixed:
		return r.named(n, text)
	case kind == "group":
		return r.ofGroup(n, name, of)
	case kind == "site":
		all = r.where(func(h *Host) bool { return h.Site == name })
	case kind == "label":
		all = r.where(func(h *Host) bool { return slices.Contains(h.Labels, name) || r.siteHasLabel(h.Site, name) })
	default:
		n.fail(text, "a host, site:NAME, label:NAME, group:NAME or all")
		return nil
	}
	if len(all) == 0 {
		n.fail(text, "a %s that some host has", kind)
	}
	return all
}

func (r *reader) where(fits func(*Host) bool) (all []member) {
	for i := range r.mesh.Hosts {
		if fits(&r.mesh.Hosts[i]) {
			all = append(all, member{i, ""})
		}
	}
	return all
}

func (r *reader) siteHasLabel(site, label string) bool {
	i, ok := r.mesh.sites[site]
	return ok && slices.Contains(r.mesh.Sites[i].Labels, label)
}

// named finds a host, or with HOST/INTERFACE one of its interfaces.
func (r *reader) named(n node, text string) []member {
	name, part, _ := strings.Cut(text, "/")
	i, known := r.mesh.hosts[name]
	if !known {
		n.fail(text, "the name of a host%s", document.Meant(name, slices.Sorted(maps.Keys(r.mesh.hosts))))
		return nil
	}
	h := &r.mesh.Hosts[i]
	if part != "" && h.named(part) == nil {
		n.fail(text, "an interface of %s: %s", name, h.interfaceNames())
		return nil
	}
	return []member{{i, part}}
}

// ofGroup returns the hosts of another group.
func (r *reader) ofGroup(n node, name string, of *draft) []member {
	d, known := r.groups[name]
	switch {
	case !known:
		n.fail("group:"+name, "the name of a group%s", document.Meant(name, slices.Sorted(maps.Keys(r.groups))))
		return nil
	case d.state == 1:
		n.fail("group:"+name, "a group that does not contain itself")
		return nil
	case d.state == 0 && of != nil:
		r.resolve(d)
	}
	return d.hosts
}

// named returns the interface of that name, or nil.
func (h *Host) named(name string) *Interface {
	for i := range h.Interfaces {
		if h.Interfaces[i].Name == name {
			return &h.Interfaces[i]
		}
	}
	return nil
}

func (h *Host) interfaceNames() string {
	var names []string
	for _, i := range h.Interfaces {
		names = append(names, i.Name)
	}
	if len(names) == 1 && names[0] == "" {
		return "it has one, without a name"
	}
	return fmt.Sprintf("it has %s", strings.Join(names, ", "))
}
