package config

import (
	"maps"
	"slices"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/quantity"
)

// site reads the section sites.
func (r *reader) site(n node) {
	r.sitesNamed = true
	for _, e := range n.entries("{London: {rate: 10gbit}}") {
		s := Site{Name: e.key}
		value(e.at, &s.Name, parseTitle)
		if !r.define(e.at) {
			continue
		}
		e.value.fields("{rate: 10gbit, budget: {daily: 500GB}}", fields{
			"rate":   into(&s.BitsPerSecond, quantity.ParseRate),
			"labels": values(&s.Labels, parseTitle),
			"budget": func(n node) { n.fields("{daily: 500GB}", budgetFields(&s.Budget)) },
		})
		slices.Sort(s.Labels)
		r.addSite(s)
	}
}

func (r *reader) addSite(s Site) {
	r.mesh.sites[s.Name] = len(r.mesh.Sites)
	r.mesh.Sites = append(r.mesh.Sites, s)
}

// siteOf reads the site of a host. Where the files name sites at all, they name them all, so that a misspelt one is
// found and not without a budget.
func (r *reader) siteOf(n node, h *Host) {
	if !value(n, &h.Site, parseTitle) {
		return
	}
	if _, known := r.mesh.sites[h.Site]; known {
		return
	}
	if r.sitesNamed {
		n.fail(h.Site, "the name of one in sites%s", document.Meant(h.Site, slices.Sorted(maps.Keys(r.mesh.sites))))
	}
	r.addSite(Site{Name: h.Site})
}

// budgetFields are the keys of limits and budgets.
func budgetFields(b *Budget) fields {
	return fields{
		"daily": into(&b.BytesPerDay, parseBytes),
		"rate":  into(&b.BitsPerSecond, quantity.ParseRate),
		"share": into(&b.Share, parseShare),
	}
}

func parseBytes(s string) (float64, error) {
	v, err := quantity.ParseSize(s)
	if err == nil && v == 0 {
		return 0, bad(s, "a size above 0, such as 50GB")
	}
	return float64(v), err
}

func parseShare(s string) (float64, error) {
	v, err := quantity.ParseRatio(s)
	if err == nil && v == 0 {
		return 0, bad(s, "a share above 0, such as 5%")
	}
	return v, err
}

// budget reads the section budgets: each element is for several hosts or sites, for each of them by itself.
func (r *reader) budget(n node) {
	for _, item := range n.items() {
		var b Budget
		var hosts []member
		var sites []int
		f := budgetFields(&b)
		f["host"] = func(n node) { hosts = r.selection(n, nil) }
		f["site"] = func(n node) {
			for _, one := range n.items() {
				if s, ok := r.siteNamed(one); ok {
					sites = append(sites, s)
				}
			}
		}
		given := item.fields("{host: label:small, daily: 1GB}", f)
		if _, host := given["host"]; !host && given["site"].ast == nil {
			item.fail("", "host or site: of which hosts or sites each gets this budget")
		}
		if b == (Budget{}) {
			item.fail("", "daily, rate or share")
		}
		for _, h := range hosts {
			r.mesh.Hosts[h.host].Budget = r.mesh.Hosts[h.host].Budget.least(b)
		}
		for _, s := range sites {
			r.mesh.Sites[s].Budget = r.mesh.Sites[s].Budget.least(b)
		}
	}
}

// siteNamed reads the name of a site that there is.
func (r *reader) siteNamed(n node) (int, bool) {
	text, ok := n.scalar("the name of a site")
	if !ok {
		return 0, false
	}
	i, known := r.mesh.sites[text]
	if !known {
		n.fail(text, "the name of one in sites%s", document.Meant(text, slices.Sorted(maps.Keys(r.mesh.sites))))
	}
	return i, known
}

// least is the stricter of both in every respect.
func (b Budget) least(o Budget) Budget {
	return Budget{lower(b.BytesPerDay, o.BytesPerDay), lower(b.BitsPerSecond, o.BitsPerSecond), lower(b.Share, o.Share)}
}

// lower is the lower of two limits, of which 0 is none.
func lower(a, b float64) float64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
