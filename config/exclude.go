package config

import (
	"maps"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// Exclusion is what is not to be tested, always or in some hours. Everything that it says must hold; what it does not
// say is any, and is nil.
type Exclusion struct {
	Hosts     []int // at either end
	Sources   []int
	Targets   []int
	Pairs     [][2]int
	Tools     []string
	Tests     []string
	Direction string // measure.Forward, measure.Reverse, or DirectionBoth
	Hours     []quantity.Hours
	Zone      string // of Hours; "": UTC
	At        string // file:line:column

	host, source, target []bool // by host; nil: any
	pair                 map[[2]int]bool
	zone                 *time.Location
}

// DirectionBoth means from source to target and back.
const DirectionBoth = "both"

// exclusion reads the section exclude.
func (r *reader) exclusion(n node) {
	for _, item := range n.items() {
		x := Exclusion{At: item.place().String()}
		var days []time.Weekday
		ends := func(list *[]int, set *[]bool) func(node) {
			return func(n node) {
				*list, *set = []int{}, make([]bool, len(r.mesh.Hosts))
				for _, m := range r.selection(n, nil) {
					*list = append(*list, m.host)
					(*set)[m.host] = true
				}
			}
		}
		given := item.fields("{tool: bulk, target: old}", fields{
			"host":      ends(&x.Hosts, &x.host),
			"source":    ends(&x.Sources, &x.source),
			"target":    ends(&x.Targets, &x.target),
			"pair":      func(n node) { r.readExcludedPair(n, &x) },
			"tool":      known(&x.Tools, r.mesh.tools, "a tool"),
			"test":      known(&x.Tests, r.mesh.tests, "a test"),
			"direction": into(&x.Direction, parseDirection),
			"hours":     func(n node) { x.Hours = readHours(n) },
			"days":      func(n node) { days = readDays(n) },
			"zone":      into(&x.Zone, parseZone),
		})
		x.zone = zone(x.Zone)
		x.Hours = onDays(x.Hours, days)
		checkExclusion(item, given, &x)
		r.mesh.Exclusions = append(r.mesh.Exclusions, x)
	}
}

// known returns a reader of a list of names, each of which must be in index.
func known(list *[]string, index map[string]int, what string) func(node) {
	return func(n node) {
		for _, item := range n.items() {
			text, ok := item.scalar("the name of " + what)
			if _, there := index[text]; ok && !there {
				item.fail(text, "the name of %s%s", what, document.Meant(text, slices.Sorted(maps.Keys(index))))
			} else if ok {
				*list = append(*list, text)
			}
		}
	}
}

// readExcludedPair reads [a, b], or a list of such.
func (r *reader) readExcludedPair(n node, x *Exclusion) {
	pairs := n.items()
	if len(pairs) > 0 && pairs[0].isScalar() {
		pairs = []node{n}
	}
	x.Pairs, x.pair = [][2]int{}, map[[2]int]bool{}
	for _, pair := range pairs {
		ends := pair.items()
		if len(ends) != 2 {
			pair.fail("", "two hosts such as [ucl, ral]")
			continue
		}
		for _, from := range r.selection(ends[0], nil) {
			for _, to := range r.selection(ends[1], nil) {
				p := [2]int{from.host, to.host}
				if !x.pair[p] {
					x.Pairs = append(x.Pairs, p)
				}
				x.pair[p] = true
			}
		}
	}
}

func checkExclusion(n node, given map[string]node, x *Exclusion) {
	about := len(given)
	for _, key := range []string{"direction", "zone"} {
		if _, has := given[key]; has {
			about--
		}
	}
	if about == 0 {
		n.fail("", "what is excluded: host, source, target, pair, tool, test, hours or days")
	}
	directed := given["pair"].ast != nil || given["source"].ast != nil || given["target"].ast != nil
	if d, has := given["direction"]; has && !directed {
		d.fail(d.kind(), "direction only beside pair, source or target")
	}
	if z, has := given["zone"]; has && len(x.Hours) == 0 {
		z.fail(z.kind(), "zone only beside hours or days")
	}
	if x.Direction == "" {
		x.Direction = measure.Forward
		if x.pair != nil {
			x.Direction = DirectionBoth // people who part two hosts mean both ways
		}
	}
}

func parseDirection(s string) (string, error) {
	switch s {
	case measure.Forward, measure.Reverse, DirectionBoth:
		return s, nil
	}
	return "", bad(s, "forward, reverse or both")
}

// of says whether the exclusion is about such a test. The test's name is "" for a run on demand.
func (x *Exclusion) of(tool, test string) bool {
	return (len(x.Tools) == 0 || slices.Contains(x.Tools, tool)) &&
		(len(x.Tests) == 0 || slices.Contains(x.Tests, test))
}

// parts says whether the exclusion is about these ends, at any time.
func (x *Exclusion) parts(source, target int) bool {
	if x.host != nil && !x.host[source] && !x.host[target] {
		return false
	}
	return x.Direction != measure.Reverse && x.forward(source, target) ||
		x.Direction != measure.Forward && x.forward(target, source)
}

func (x *Exclusion) forward(source, target int) bool {
	return (x.source == nil || x.source[source]) && (x.target == nil || x.target[target]) &&
		(x.pair == nil || x.pair[[2]int{source, target}])
}
