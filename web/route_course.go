package web

import (
	"cmp"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
)

// courseDoc is what the traces of one test come to: which changes of the route are some, and which are none.
type courseDoc struct {
	Test    string           `json:"test,omitempty" doc:"Which traced it; none: a test on demand"`
	Tool    string           `json:"tool"`
	Role    string           `json:"role"`
	Family  string           `json:"family" enum:"ipv4,ipv6"`
	Changes []movedDoc       `json:"changes" doc:"Traffic was moved to another route, and stayed there"`
	Turns   []turnsDoc       `json:"turns" doc:"Several routes took turns, which is no change"`
	Varying []varyingDoc     `json:"varying" doc:"Hops that did not always answer alike, though the route is the same"`
	Brief   []analysis.Brief `json:"brief" doc:"Other routes that were seen once or a few times, and did not last"`
	Delays  []delayDoc       `json:"delays" doc:"Round trips to the end: of each trace its median, or of so many neighbours the middle one that there are 500"`
}

type movedDoc struct {
	Text string `json:"text"`
	analysis.Move
}

type turnsDoc struct {
	Text string `json:"text"`
	analysis.Turns
}

type varyingDoc struct {
	Text string `json:"text"`
	analysis.Varying
}

type delayDoc struct {
	At      time.Time `json:"at"`
	Seconds float64   `json:"seconds"`
}

// courseOf judges the traces of one test, and says it in words.
func courseOf(of traced, traces []*measure.Result, names addressNames) courseDoc {
	course := analysis.CourseOf(traces)
	doc := courseDoc{Test: of.test, Tool: of.tool, Role: string(of.role), Family: of.family, Changes: []movedDoc{}, Turns: []turnsDoc{}, Varying: []varyingDoc{},
		Brief: course.Brief, Delays: delaysOf(traces)}
	for _, m := range course.Moves {
		doc.Changes = append(doc.Changes, movedDoc{moveText(m, names), m})
	}
	for _, t := range course.Turns {
		doc.Turns = append(doc.Turns, turnsDoc{turnsText(t, names), t})
	}
	for _, v := range course.Varying {
		named := v
		named.Addresses = names.besideAll(v.Addresses)
		doc.Varying = append(doc.Varying, varyingDoc{diagnose.VaryingText(&named), v})
	}
	return doc
}

// moveText is a change of route in words, with the names of routers.
func moveText(m analysis.Move, names addressNames) string {
	m.Before, m.After = *names.route(&m.Before), *names.route(&m.After)
	return diagnose.MoveText(&m)
}

func turnsText(t analysis.Turns, names addressNames) string {
	t.Routes = slices.Clone(t.Routes)
	for i := range t.Routes {
		t.Routes[i] = *names.route(&t.Routes[i])
	}
	return diagnose.TurnsText(&t)
}

// mostDelays is how many round trips a drawing can show beside each other.
const mostDelays = 500

// delaysOf are the round trips to the end of a route, of which many that follow each other are one.
func delaysOf(traces []*measure.Result) []delayDoc {
	all := []delayDoc{}
	for _, r := range traces {
		if trip, reached := analysis.TripOf(r.Samples.Hops); reached {
			all = append(all, delayDoc{r.Started, trip})
		}
	}
	each := (len(all) + mostDelays - 1) / mostDelays
	if each < 2 {
		return all
	}
	few := []delayDoc{}
	for part := range slices.Chunk(all, each) {
		sorted := slices.SortedFunc(slices.Values(part), func(a, b delayDoc) int { return cmp.Compare(a.Seconds, b.Seconds) })
		few = append(few, delayDoc{part[0].At, sorted[len(sorted)/2].Seconds})
	}
	return few
}
