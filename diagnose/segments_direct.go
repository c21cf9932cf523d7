package diagnose

import (
	"fmt"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// JudgeParts says which part of a path is to blame, by what was measured over each part by itself, in their order from the beginning of the
// path on, and by the diagnosis of the whole. t is what the path is to carry; nil: what its narrowest link can.
func JudgeParts(d *Diagnosis, t *Target, parts []Stretch) *Parts {
	a := aimAt(d, t)
	all := a.parts(BySegments)
	var marks []mark
	for _, p := range parts {
		m := mark{name: p.To, stretch: readStretch(a.way, a.evenly, p.Results)}
		m.judged = a.judge(&m.stretch)
		switch {
		case !m.moved && !m.stuck && p.Failed != "":
			m.means = p.Failed
		case m.moved && m.outcome == Fails && a.worse(&m) != "":
			m.outcome, m.means = Untold, a.worse(&m)+", so that a point or its own link is what was measured"
		}
		s := Segment{From: p.From, To: p.To, SentPackets: m.sent, LostPackets: m.lost, LossRatio: m.loss(), Outcome: m.outcome, CouldReach: m.could,
			Limit: m.limit, Means: m.means}
		a.measured(&s, &m, 0)
		all.Segments, marks = append(all.Segments, s), append(marks, m)
	}
	all.Narrowest = narrowestOf(marks, all.Segments)
	a.blameParts(all)
	return all
}

// narrowestOf is the part whose link carries clearly less than those of all others; "": there is none, or not all are known.
func narrowestOf(marks []mark, segments []Segment) string {
	least := -1
	for i := range marks {
		if marks[i].carries == 0 {
			return ""
		}
		if least < 0 || marks[i].carries < marks[least].carries {
			least = i
		}
	}
	for i := range marks {
		if i != least && marks[least].carries > narrower*marks[i].carries {
			return ""
		}
	}
	if least < 0 {
		return ""
	}
	return segments[least].Name()
}

// blameParts says which parts are to blame that were measured each by itself.
func (a *aim) blameParts(all *Parts) {
	var fails, left []*Segment
	for i := range all.Segments {
		switch s := &all.Segments[i]; s.Outcome {
		case Fails:
			fails = append(fails, s)
		case Untold:
			left = append(left, s)
		}
	}
	names := func(of []*Segment) {
		for _, s := range of {
			all.Blamed = append(all.Blamed, s.Name())
		}
	}
	switch {
	case !a.whole.moved && !a.whole.stuck:
		all.Verdict, all.Says = BlameUnknown, wholeUnknown
	case len(fails) > 0:
		all.Verdict = BlameOne
		if names(fails); len(fails) > 1 {
			all.Verdict = BlameSeveral
		}
		var says []string
		for _, s := range fails {
			says = append(says, fmt.Sprintf("%s holds the path back: %s.", s.Name(), s.Means))
		}
		all.Says = strings.Join(says, " ")
	case len(left) > 0 && a.hosts == "":
		names(left)
		all.Verdict = BlameLeft
		var says []string
		for _, s := range left {
			says = append(says, s.Name()+": "+s.Means)
		}
		all.Says = fmt.Sprintf("What holds the path back is in what is left, where nothing else shows it: %s.", strings.Join(says, "; "))
	case a.slow && a.hosts == "":
		all.Verdict = BlameNone
		all.Says = fmt.Sprintf("Each part by itself would let the whole reach more than the %s that it does: what holds it back shows over the whole "+
			"alone, as a window, a host, or a queue that only its own packets fill.", quantity.FormatRate(a.whole.rate))
	default:
		all.Verdict, all.Says = BlameNone, a.noBlame(all)
	}
}

// wholeUnknown is what is said where no transfer was measured over the whole.
const wholeUnknown = "To the end of the path no transfer was measured, so that there is nothing to hold its parts against."

// parts begins what is said of the parts of a path.
func (a *aim) parts(by Division) *Parts {
	all := &Parts{Way: a.way, Measured: by, RTTSeconds: a.trip, AchievedBitsPerSecond: a.whole.rate, Blamed: []string{}, Segments: []Segment{},
		Points: []Point{}, Results: []*measure.Result{}}
	if a.whole.moved {
		all.NeededBitsPerSecond = a.needed
	}
	return all
}

// measured adds to a part what was measured up to its far end, where what is before it takes a round trip of so many seconds.
func (a *aim) measured(s *Segment, m *mark, before float64) {
	if m.trip > 0 {
		trip := max(0, m.trip-before)
		s.RTTSeconds = &trip
		if m.loaded > 0 {
			growth := max(0, m.loaded-m.trip)
			s.RTTGrowthSeconds = &growth
		}
	}
	if m.moved {
		s.Throughput = &m.rate
	}
	a.alone(s, m.most())
}
