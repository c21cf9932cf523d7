package archive

import (
	"cmp"
	"context"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
)

// timeline tells what was planned in a span, and what became of it. What it tells is of one moment.
//
//	from                   whole                                       to
//	 | rollups: which hours | points: each run                          |
//	 |  had a value         |                                           |
//
// Points are many to read. So of gaps that are to be told only from some length on, it first looks which hours had a
// value, which is a row a day, and reads the points where it is needed: about the windows of half that length that had
// none, one of which lies in each such gap.
type timeline struct {
	k        *keeper
	ctx      context.Context
	t        *tx
	v        *view
	s        selector
	at       progress
	from, to int64
	whole    int64 // from then on every run has left points

	step   int64  // of the buckets that follow
	first  int64  // number since 1970 of the first
	filled []bool // which of them hold a value
}

// newTimeline makes a timeline of a view, which is of these tools.
func (k *keeper) newTimeline(ctx context.Context, t *tx, v *view, tools map[string]bool, s selector,
	q GapQuery) (*timeline, error) {
	state, err := readState(ctx, t)
	if err != nil {
		return nil, err
	}
	now := k.options.Now().UnixNano()
	l := &timeline{k: k, ctx: ctx, t: t, v: v, s: s, at: progress{state["moved"], streamID(state["upto"])},
		whole: k.pointsSince(v, tools, max(now, state["pruned"]))}
	l.from, l.to = span(q.From, q.To)
	l.to = min(l.to, now)
	level := len(Levels) - 2 // hours: a row of them is a day
	if !k.reaches(v, level, max(l.from, v.first)) {
		level++
	}
	l.step = int64(Levels[level])
	if l.from < l.whole { // of what is not kept at all, nothing is known
		l.from = max(l.from, min(l.whole, k.keptSince(v, level)))
	}
	if l.from < min(l.whole, l.to) || int64(q.Least) >= 2*l.step {
		return l, l.fill(level)
	}
	return l, nil
}

// fill finds out which buckets hold a value.
func (l *timeline) fill(level int) error {
	from, to := max(l.from, l.v.first), min(l.to, l.v.last+1)
	if from >= to {
		return nil
	}
	l.first = floorDiv(from, l.step)
	l.filled = make([]bool, floorDiv(to-1, l.step)+1-l.first)
	note := func(_ streamID, ns int64, _ metricID, _ []byte) error {
		l.filled[floorDiv(ns, l.step)-l.first] = true
		return nil
	}
	p := piece{level, l.first * l.step, (l.first + int64(len(l.filled))) * l.step}
	if err := l.k.eachRollup(l.ctx, l.t, l.v, p, note); err != nil {
		return err
	}
	return l.v.inMemory(l.at, p.from, p.to, func(id streamID, r run) {
		if len(l.v.only(r).values) > 0 {
			note(id, r.time, 0, nil)
		}
	})
}

// had tells whether the bucket in which a time lies holds a value.
func (l *timeline) had(ns int64) bool {
	n := floorDiv(ns, l.step) - l.first
	return n >= 0 && n < int64(len(l.filled)) && l.filled[n]
}

// events are those of the span in order of time: all that can be part of a gap of at least so long.
func (l *timeline) events(least int64) ([]event, error) {
	var all []event
	from := l.from
	for _, b := range l.busy(least / 2 / l.step * l.step) {
		some, err := l.read(from, b.time)
		if err != nil {
			return nil, err
		}
		all, from = append(append(all, some...), b), b.last
	}
	some, err := l.read(from, l.to)
	return append(all, some...), err
}

// busy are the times in which every window holds a value, and those before and after do, too:
//
//	window  | v  v | v   v|v  v v|    v |      |   v  |
//	               |--- busy ----|
func (l *timeline) busy(window int64) []event {
	if window == 0 || len(l.filled) == 0 {
		return nil
	}
	var all []event
	last := floorDiv((l.first+int64(len(l.filled)))*l.step-1, window)
	together := 0 // windows up to this one that hold a value
	for w := floorDiv(l.first*l.step, window); w <= last; w++ {
		has := false
		for at := w * window; at < (w+1)*window; at += l.step {
			has = has || l.had(at)
		}
		switch together++; {
		case !has:
			together = 0
		case together == 3:
			all = append(all, event{time: (w - 1) * window, last: w * window})
		case together > 3:
			all[len(all)-1].last = w * window
		}
	}
	return all
}

// read is what happened in a part of the span, in order of time.
func (l *timeline) read(from, to int64) ([]event, error) {
	var all []event
	old, last := min(to, l.whole), l.first+int64(len(l.filled)) // before old there are hours, after it runs
	for n := max(floorDiv(from, l.step), l.first); n < last && n*l.step < old; n++ {
		if at := n * l.step; l.had(at) {
			all = append(all, event{time: max(from, at), last: min(old, at+l.step)})
		}
	}
	err := l.k.runsIn(l.ctx, l.t, l.v, l.at, max(from, l.whole), to, func(_ streamID, r run) error {
		e := event{time: r.time, last: r.time}
		if len(r.values) == 0 {
			e.kind = GapFailed
		}
		all = append(all, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = eachMiss(l.ctx, l.t, l.s, from, to, func(m measure.Miss) error {
		if at := m.Start.UnixNano(); l.k.measures(l.v, m.Tool) && (at >= l.whole || !l.had(at)) {
			all = append(all, event{at, at, GapMissed, m.Why})
		}
		return nil
	})
	slices.SortStableFunc(all, func(a, b event) int { return cmp.Compare(a.time, b.time) })
	return all, err
}

// usualDistance is the median of the distances in the newest week of the span, or the newest two, four, ... where there
// are no two runs in it.
func (l *timeline) usualDistance() (int64, error) {
	to := l.to
	if l.v.last >= l.from {
		to = min(to, l.v.last+1)
	}
	for weeks := 7 * day; ; weeks *= 2 {
		from := max(l.from, to-weeks)
		events, err := l.read(from, to)
		if err != nil || len(events) > 1 || from == l.from {
			return medianDistance(events), err
		}
	}
}
