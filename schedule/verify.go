package schedule

import (
	"fmt"
	"iter"
	"time"
)

// Conflict is a run that must not be where it is.
type Conflict struct {
	Run Run
	Why string
}

// Verify checks runs, in order of their start, against the mesh: no two exclusive ones on an interface, no more across
// a site's link than it lets through, none while its hosts are closed, none of a pair that the test does not have. A
// run with a Test below zero is one on demand that was committed. It knows nothing of how plans are made, and shares no
// code with what makes them.
func Verify(m Mesh, runs iter.Seq[Run]) []Conflict {
	v := verifier{mesh: &m, until: make([]int64, len(m.Interfaces)), crossing: map[string][]int64{}}
	v.guard = int64(m.Guard)
	if m.Guard == 0 {
		v.guard = int64(DefaultGuard)
	} else if m.Guard < 0 {
		v.guard = 0
	}
	v.limit, v.pairs = map[string]int{}, make([][]bool, len(m.Tests))
	for _, s := range m.Sites {
		if s.AtOnce > 0 {
			v.limit[s.Name] = s.AtOnce
		}
	}
	for r := range runs {
		v.check(r)
	}
	return v.found
}

type verifier struct {
	mesh     *Mesh
	guard    int64
	last     int64              // start of the run before
	until    []int64            // of each interface: when its exclusive run is over, with the guard
	limit    map[string]int     // of each limited site
	crossing map[string][]int64 // of each limited site: when what crosses its link is over
	pairs    [][]bool           // of each test: pairs that it has, by source and target
	found    []Conflict
}

func (v *verifier) fault(r Run, format string, args ...any) {
	v.found = append(v.found, Conflict{r, fmt.Sprintf(format, args...)})
}

func (v *verifier) check(r Run) {
	if r.Start < v.last {
		v.fault(r, "begins before the run that was listed before it")
		return
	}
	v.last = r.Start
	name := ""
	if r.Test >= 0 { // others are on demand, and exclusive
		if !v.has(int(r.Test), r.Pair) {
			v.fault(r, "the test has no such pair")
			return
		}
		if name = v.mesh.Tests[r.Test].Name; !v.mesh.Tests[r.Test].Demand.Exclusive {
			v.checkHours(r, name)
			return
		}
	}
	v.checkHours(r, name)
	over := r.Start + int64(r.Duration) + v.guard
	for _, i := range []int32{r.Source, r.Target} {
		if r.Start < v.until[i] {
			v.fault(r, "interface %s is taken until %s", v.mesh.Interfaces[i].Name, time.Unix(0, v.until[i]).UTC())
		}
		v.until[i] = max(v.until[i], over)
	}
	if a, b := v.mesh.Interfaces[r.Source].Site, v.mesh.Interfaces[r.Target].Site; a != b {
		v.cross(r, a, over)
		v.cross(r, b, over)
	}
}

func (v *verifier) cross(r Run, site string, over int64) {
	limit, limited := v.limit[site]
	if !limited {
		return
	}
	still := v.crossing[site][:0]
	for _, until := range v.crossing[site] {
		if until > r.Start {
			still = append(still, until)
		}
	}
	if v.crossing[site] = append(still, over); len(still)+1 > limit {
		v.fault(r, "site %s has %d runs at once, and lets %d through", site, len(still)+1, limit)
	}
}

// has says whether the test has the pair.
func (v *verifier) has(test int, p Pair) bool {
	n := len(v.mesh.Interfaces)
	if v.pairs[test] == nil {
		v.pairs[test] = make([]bool, n*n)
		for _, p := range v.mesh.Tests[test].Pairs {
			v.pairs[test][int(p.Source)*n+int(p.Target)] = true
		}
	}
	return v.pairs[test][int(p.Source)*n+int(p.Target)]
}

func (v *verifier) checkHours(r Run, test string) {
	source, target := v.mesh.Interfaces[r.Source].Host, v.mesh.Interfaces[r.Target].Host
	for _, c := range v.mesh.Closures {
		if !c.covers(test, source, target) {
			continue
		}
		closed, until := c.Hours(r.Begin())
		if closed || !until.IsZero() && until.UnixNano() < r.Start+int64(r.Duration) {
			v.fault(r, "closed: %s", c.Text)
		}
	}
}
