package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

// mark is a place on the path up to which it was measured: a point, or its end.
type mark struct {
	name string
	stretch
	judged
	place int // how many routers of the route are before it
	point int // of the points that were given; -1: the end of the path
}

// JudgePrefixes says which part of a path is to blame, by what was measured from its beginning to each point and, in the diagnosis, to its
// end. The points may come in any order. t is what the path is to carry; nil: what its narrowest link can.
func JudgePrefixes(d *Diagnosis, t *Target, from, to string, points []Stretch) *Parts {
	a := aimAt(d, t)
	all := a.parts(ByPrefixes)
	var marks []mark
	for i, p := range points {
		m, state := a.mark(d, p)
		m.point = i
		all.Points = append(all.Points, state)
		if state.State == PointUsed {
			marks = append(marks, m)
		}
	}
	slices.SortStableFunc(marks, func(x, y mark) int { return cmp.Or(cmp.Compare(x.place, y.place), cmp.Compare(x.trip, y.trip)) })
	end := mark{name: to, stretch: a.whole, judged: a.ofWhole(), point: -1}
	marks = a.withoutWorse(append(marks, end), all.Points)
	passed, failed := a.decided(marks)
	shorter := mark{name: from}
	for i, m := range marks {
		all.Segments = append(all.Segments, a.segment(&shorter, &m, i, passed, failed))
		shorter = m
	}
	all.Narrowest = a.narrowest(marks, from)
	a.blamePrefixes(all, marks, passed, failed)
	return all
}

// mark reads what was measured to a point, and says whether it divides the path.
func (a *aim) mark(d *Diagnosis, p Stretch) (mark, Point) {
	m := mark{name: p.To, stretch: readStretch(a.way, a.evenly, p.Results)}
	state := Point{Name: p.To, Address: m.target, State: PointUsed}
	whole := a.whole
	if whole.trip == 0 {
		whole.trip = readStretch(measure.Way(measure.Forward), 0, d.Results).trip
	}
	var why string
	m.place, why = offRoute(whole, m.stretch, Route(d.Results), Route(p.Results))
	switch m.judged = a.judge(&m.stretch); {
	case why != "":
		state.State, state.Means = PointOffRoute, why
	case !m.moved && !m.stuck:
		state.State, state.Means = PointAway, cmp.Or(p.Failed, "no transfer was measured to it")
	case m.moved && m.outcome == Fails && a.worse(&m) != "":
		state.State, state.Means = PointWorse, a.worse(&m)
	default:
		state.Means = p.Failed
	}
	return m, state
}

// worse says what a point does worse than the path behind it, which its own link or host must be the reason of; "" if nothing.
func (a *aim) worse(m *mark) string {
	if m.most() < fullShare*a.whole.rate {
		return fmt.Sprintf("a transfer reached %s there, and %s over the whole path", quantity.FormatRate(m.most()), quantity.FormatRate(a.whole.rate))
	}
	if more := added(m.loss(), a.whole.loss()); more != nil && a.whole.sent > 0 && more.Low > 0 {
		return fmt.Sprintf("%s of the packets were lost there, and %s over the whole path", inText(m.loss().Value, "ratio"), inText(a.whole.loss().Value, "ratio"))
	}
	return ""
}

// ofWhole is what can be said of the path up to its end: where it is slow, and no host is the reason, it holds itself back.
func (a *aim) ofWhole() judged {
	j := a.judge(&a.whole)
	switch {
	case a.hosts != "" && a.slow:
		j.outcome, j.means = Untold, "what holds the whole is "+a.hosts
		if a.losses(&a.whole) == Passes && a.whole.carries >= a.needed {
			j.outcome = Passes
		}
	case a.slow && a.whole.moved && j.outcome == Untold:
		j.outcome = Fails
	}
	return j
}

// withoutWorse leaves out points that fail although the path behind them passes.
func (a *aim) withoutWorse(marks []mark, points []Point) []mark {
	passes := false
	for i := len(marks) - 1; i >= 0; i-- {
		m := &marks[i]
		passes = passes || m.outcome == Passes && (m.point >= 0 || a.hosts == "")
		if passes && m.outcome == Fails {
			points[m.point].State = PointWorse
			points[m.point].Means = m.means + "; the path behind it does better"
			marks = slices.Delete(marks, i, i+1)
		}
	}
	return marks
}

// decided says how many marks from the first one on are passed, and which is the first after these that fails: len(marks), if none does.
// A whole that a host holds says nothing of what is before it.
func (a *aim) decided(marks []mark) (passed, failed int) {
	for i, m := range marks {
		if m.outcome == Passes && (m.point >= 0 || a.hosts == "") {
			passed = i + 1
		}
	}
	for failed = passed; failed < len(marks) && marks[failed].outcome != Fails; failed++ {
	}
	return passed, failed
}

// segment is the part of the path between two marks, the second of which is number i.
func (a *aim) segment(shorter, m *mark, i, passed, failed int) Segment {
	s := Segment{From: shorter.name, To: m.name, SentPackets: m.sent, LostPackets: m.lost, Outcome: Untold}
	s.LossRatio = added(m.loss(), shorter.loss())
	a.measured(&s, m, shorter.trip)
	s.CouldReach, s.Limit, s.Means = m.could, m.limit, m.means
	switch {
	case i < passed:
		s.Outcome = Passes
		if m.outcome != Passes {
			s.Means = "a longer part of the path passes"
		}
	case i < failed && a.hosts != "":
		s.Outcome = m.outcome
	case i == failed && failed == passed:
		s.Outcome = Fails
	case i > failed:
		a.behind(&s, m)
	}
	return s
}

// alone is what one connection could reach over a part's own round trip.
func (a *aim) alone(s *Segment, most float64) {
	if s.Throughput == nil || s.RTTSeconds == nil || *s.RTTSeconds == 0 {
		return
	}
	if s.LossRatio != nil && s.LossRatio.Value > 0 {
		most = min(most, model.Mathis(a.whole.mss, seconds(*s.RTTSeconds), s.LossRatio.Value, model.CIndependent))
	}
	s.Alone = &most
}

// behind judges a part that lies behind the one that fails: by what it adds to the losses alone, since nothing is faster there.
func (a *aim) behind(s *Segment, m *mark) {
	s.CouldReach, s.Limit, s.Means = nil, "", "it lies behind a part that holds everything back"
	if s.LossRatio == nil || m.limit == LimitRate || a.trip == 0 {
		return
	}
	could := byLossOf(s.LossRatio, a.whole.mss, a.trip, max(a.needed, a.whole.carries))
	switch {
	case could.Low >= a.needed:
		s.Outcome, s.CouldReach, s.Limit = Passes, could, LimitLoss
		s.Means = "it adds next to nothing to what is lost before it"
	case could.High < a.needed:
		s.Outcome, s.CouldReach, s.Limit = Fails, could, LimitLoss
		s.Means = fmt.Sprintf("it adds a loss of %s to what is lost before it", inText(s.LossRatio.Value, "ratio"))
	}
}
