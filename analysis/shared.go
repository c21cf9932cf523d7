package analysis

import (
	"cmp"
	"slices"
)

// Member is a pair that was looked at for one time, whether it changed then, and what it is made of: its hosts, its sites, the links of
// its route. Unsure: of what it was looked at too little is known, so that it speaks neither for nor against a part. Blamed: it changed, and
// something else has been found to be why.
type Member struct {
	Source, Target string
	Changed        bool
	Unsure         bool
	Blamed         bool
	Parts          []Part
}

// Part is one thing that a pair depends on.
type Part struct {
	Kind PartKind `json:"kind"`
	Name string   `json:"name"`
}

// PartKind says what a Part is.
type PartKind string

// Kinds of Part, in the order in which one of two that explain the same is taken: what is said of a host is more exact than of its
// site, and of a host's one direction more exact than of both.
const (
	FromHost PartKind = "from"   // what a host sends
	ToHost   PartKind = "to"     // what it receives
	AtHost   PartKind = "host"   // both
	OnLink   PartKind = "link"   // between two routers that follow each other on the route
	AtRouter PartKind = "router" // that answers on the route
	AtSite   PartKind = "site"
)

var partOrder = []PartKind{FromHost, ToHost, AtHost, OnLink, AtRouter, AtSite}

// LinkSeparator stands between the two routers in the name of a Part that is a link.
const LinkSeparator = " - "

// Shared is a part that explains changes.
type Shared struct {
	Part
	Changed int `json:"changed"`          // pairs that depend on it and changed
	All     int `json:"all"`              // pairs that depend on it and were looked at
	Unsure  int `json:"unsure,omitempty"` // of All, those of which too little is known
}

const (
	// leastHit is the share of the pairs that depend on a part which must have changed: of the others a route may be old, or the change
	// hidden by noise.
	leastHit = 0.8
	// leastShown is the share that must have changed of all of them, also of those of which too little is known.
	leastShown = 0.5
	// leastTogether is how many pairs make something common.
	leastTogether = 2
	// missed is how many pairs that changed one counts for that depends on a part and did not, and unsure one of which too little is
	// known: a link explains its pairs better than the router at its end, even if the router has some more that changed.
	missed, unsure = 2.0, 0.5
)

// Explain returns the fewest parts that explain which pairs changed, what explains most first, and the pairs that no part explains.
// A part explains pairs if nearly all that depend on it changed: the greedy cover of SCORE (Kompella, Yates, Greenberg and Snoeren,
// IP fault localization via risk modeling, NSDI 2005), whose hit ratio is Changed by All.
func Explain(members []Member) (shared []Shared, alone []Member) {
	for _, m := range members {
		if m.Changed {
			alone = append(alone, m)
		}
	}
	hits := countParts(members)
	for len(alone) >= leastTogether {
		best := bestPart(hits, countParts(alone))
		if best == nil {
			break
		}
		shared = append(shared, *best)
		alone = slices.DeleteFunc(alone, func(m Member) bool { return slices.Contains(m.Parts, best.Part) })
	}
	return shared, alone
}

// countParts counts how many pairs depend on each part, and how many of these changed.
func countParts(members []Member) map[Part]Shared {
	all := map[Part]Shared{}
	for _, m := range members {
		for i, p := range m.Parts {
			if slices.Contains(m.Parts[:i], p) {
				continue
			}
			s := all[p]
			s.Part = p
			s.All++
			if m.Changed {
				s.Changed++
			} else if m.Unsure {
				s.Unsure++
			}
			all[p] = s
		}
	}
	return all
}

// bestPart is the part that explains most of what is left, less what it should have changed and did not; of several, that which explains it
// most exactly. nil: none does.
func bestPart(hits, left map[Part]Shared) (best *Shared) {
	most := 0.0
	for part, h := range hits {
		n := left[part].Changed
		if n < leastTogether || float64(h.Changed) < leastHit*float64(h.All-h.Unsure) || float64(h.Changed) < leastShown*float64(h.All) {
			continue
		}
		h, gain := h, float64(n)-missed*float64(h.All-h.Unsure-h.Changed)-unsure*float64(h.Unsure)
		if gain > 0 && (best == nil || cmp.Or(cmp.Compare(gain, most), better(&h, best)) > 0) {
			best, most = &h, gain
		}
	}
	return best
}

// better orders parts that explain as many: the one of which fewer did not change, then the one of which fewer pairs there are, by
// kind and by name.
func better(a, b *Shared) int {
	return cmp.Or(cmp.Compare(b.All-b.Changed, a.All-a.Changed), cmp.Compare(b.All, a.All),
		cmp.Compare(slices.Index(partOrder, b.Kind), slices.Index(partOrder, a.Kind)), cmp.Compare(b.Name, a.Name))
}
