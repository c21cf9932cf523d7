package schedule

import (
	"math"
	"slices"
	"time"
)

// Closure keeps tests from running at certain hours: those of which all that it says holds. What is nil stands for any.
type Closure struct {
	Tests            []string
	Hosts            []string // one of them is at either end
	Sources, Targets []string // hosts, by direction
	Pairs            [][2]string
	Hours            Hours
	Text             string // what Hours stands for, to tell a changed mesh from the same
}

// covers says whether the closure holds for a run of a test between two hosts; the test of a run on demand is "".
func (c *Closure) covers(test, source, target string) bool {
	among := func(list []string, name string) bool { return list == nil || slices.Contains(list, name) }
	return among(c.Tests, test) && (among(c.Hosts, source) || among(c.Hosts, target)) &&
		among(c.Sources, source) && among(c.Targets, target) &&
		(c.Pairs == nil || slices.Contains(c.Pairs, [2]string{source, target}))
}

// closure is a Closure by numbers: of tests, and of hosts. What is nil stands for any.
type closure struct {
	tests, hosts, sources, targets []bool
	pairs                          map[[2]int32]bool
	hours                          Hours
}

// closures answers when a pair of a test is open.
type closures struct {
	all  []closure
	host []int32 // of each interface
}

func newClosures(m *Mesh) *closures {
	c := &closures{host: make([]int32, len(m.Interfaces))}
	hosts, tests := map[string]int32{}, map[string]int32{}
	for i, iface := range m.Interfaces {
		if _, known := hosts[iface.Host]; !known {
			hosts[iface.Host] = int32(len(hosts))
		}
		c.host[i] = hosts[iface.Host]
	}
	for i, t := range m.Tests {
		tests[t.Name] = int32(i)
	}
	for _, cl := range m.Closures {
		compiled := closure{tests: numbered(cl.Tests, tests), hosts: numbered(cl.Hosts, hosts),
			sources: numbered(cl.Sources, hosts), targets: numbered(cl.Targets, hosts), hours: cl.Hours}
		if cl.Pairs != nil {
			compiled.pairs = map[[2]int32]bool{}
		}
		for _, p := range cl.Pairs {
			source, known := hosts[p[0]]
			if target, both := hosts[p[1]]; known && both {
				compiled.pairs[[2]int32{source, target}] = true
			}
		}
		c.all = append(c.all, compiled)
	}
	return c
}

// numbered is the set of names by their number; nil if names is.
func numbered(names []string, number map[string]int32) []bool {
	if names == nil {
		return nil
	}
	set := make([]bool, len(number))
	for _, name := range names {
		if n, known := number[name]; known {
			set[n] = true
		}
	}
	return set
}

// has says whether a number is in a set; in nil each is. A run on demand, of test none, is in nil alone.
func has(set []bool, n int32) bool { return set == nil || n != none && set[n] }

// concern says whether any closure may hold for the pair, in whatever test.
func (c *closures) concern(p Pair) bool {
	return slices.ContainsFunc(c.all, func(cl closure) bool { return c.parts(&cl, p) })
}

// matching are the closures that may hold for the pair, by number.
func (c *closures) matching(test int32, p Pair) (all []int) {
	for i := range c.all {
		if c.matches(&c.all[i], test, p) {
			all = append(all, i)
		}
	}
	return all
}

func (c *closures) matches(cl *closure, test int32, p Pair) bool {
	return has(cl.tests, test) && c.parts(cl, p)
}

func (c *closures) parts(cl *closure, p Pair) bool {
	s, t := c.host[p.Source], c.host[p.Target]
	return (has(cl.hosts, s) || has(cl.hosts, t)) && has(cl.sources, s) && has(cl.targets, t) &&
		(cl.pairs == nil || cl.pairs[[2]int32{s, t}])
}

// maxClosedSpans ends the search for an open time: with daily hours this is a month.
const maxClosedSpans = 60

// never is later than any time.
const never = math.MaxInt64

// open is the first time from at on at which the pair is open for as long as length; never, if that is not soon.
func (c *closures) open(test int32, p Pair, at int64, length time.Duration) int64 {
	for range maxClosedSpans {
		moved := false
		for i := range c.all {
			if cl := &c.all[i]; c.matches(cl, test, p) {
				next := openFrom(cl.hours, at, length)
				moved = moved || next != at
				at = next
			}
			if at == never {
				return never
			}
		}
		if !moved {
			return at
		}
	}
	return never
}

// closes is the first time after at at which the pair is closed, from a time at which it is open.
func (c *closures) closes(test int32, p Pair, at int64) int64 {
	first := int64(never)
	for i := range c.all {
		cl := &c.all[i]
		if !c.matches(cl, test, p) {
			continue
		}
		if closed, until := cl.hours(time.Unix(0, at)); !closed && !until.IsZero() {
			first = min(first, until.UnixNano())
		}
	}
	return first
}

func openFrom(hours Hours, at int64, length time.Duration) int64 {
	for range maxClosedSpans {
		closed, until := hours(time.Unix(0, at))
		switch {
		case !closed && (until.IsZero() || until.UnixNano() >= at+int64(length)):
			return at
		case closed && until.IsZero():
			return never
		}
		at = until.UnixNano() // closed until then, or closed from then on
	}
	return never
}
