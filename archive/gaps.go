package archive

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// event is something that was planned, and what became of it.
type event struct {
	time int64
	kind GapKind // "": a value came
	why  string
}

// Gaps implements Archive.
func (k *keeper) Gaps(ctx context.Context, q GapQuery) ([]Gap, error) {
	if err := k.enter(); err != nil {
		return nil, err
	}
	defer k.leave()
	s, err := q.Match.selector()
	if err != nil {
		return nil, err
	}
	from, to := span(q.From, q.To)
	to = min(to, k.options.Now().UnixNano())
	events, err := k.events(ctx, s, from, to)
	if err != nil {
		return nil, fmt.Errorf("find gaps: %w", err)
	}
	if q.From.IsZero() && len(events) > 0 {
		from = events[0].time
	}
	longest := int64(q.Longest)
	if longest == 0 {
		longest = 10 * medianDistance(events)
	}
	return gapsBetween(events, from, to, longest), nil
}

// events are the runs that measured, or should have measured, what a selector asks for, in order of time.
func (k *keeper) events(ctx context.Context, s selector, from, to int64) ([]event, error) {
	v := k.newView(s)
	k.keepTools(v)
	var events []event
	err := k.runs(ctx, v, from, to, func(_ streamID, r run) error {
		e := event{time: r.time}
		if len(r.values) == 0 {
			e.kind = GapFailed
		}
		events = append(events, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = k.store.view(ctx, func(t *tx) error {
		return eachMiss(ctx, t, s, from, to, func(m measure.Miss) error {
			events = append(events, event{m.Start.UnixNano(), GapMissed, m.Why})
			return nil
		})
	})
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.time, b.time) })
	return events, err
}

// keepTools leaves out the streams of tools that do not measure what is asked for, if there are some that do: a route
// is not a failed delay.
func (k *keeper) keepTools(v *view) {
	if len(v.tools) == 0 {
		return
	}
	k.memory.RLock()
	defer k.memory.RUnlock()
	v.ids = slices.DeleteFunc(v.ids, func(id streamID) bool {
		s := k.names.stream(id)
		return s == nil || v.tools[s.key.tool] == nil
	})
	for _, p := range v.memory {
		for id := range p.runs {
			if _, found := slices.BinarySearch(v.ids, id); !found {
				delete(p.runs, id)
			}
		}
	}
}

func medianDistance(events []event) int64 {
	if len(events) < 2 {
		return int64(time.Hour) // nothing is known
	}
	distances := make([]int64, len(events)-1)
	for i := range distances {
		distances[i] = events[i+1].time - events[i].time
	}
	slices.Sort(distances)
	return distances[len(distances)/2]
}

// gapsBetween finds the gaps in [from, to). Runs of one kind of trouble that follow each other are one gap:
//
//	value  value  missed missed  failed  value                value
//	         |----- missed -----|-failed-|  |---- unplanned ----|
func gapsBetween(events []event, from, to, longest int64) []Gap {
	gaps := []Gap{}
	at := func(ns int64) time.Time { return time.Unix(0, ns).UTC() }
	before := event{time: from}
	for i, e := range events {
		far := e.time-before.time > longest
		if far {
			gaps = append(gaps, Gap{From: at(quietSince(before, longest)), To: at(e.time), Kind: GapUnplanned})
		}
		if e.kind != "" {
			next := to
			if i+1 < len(events) {
				next = events[i+1].time
			}
			end := at(min(next, e.time+longest))
			last := len(gaps) - 1
			switch {
			case before.kind == e.kind && !far: // the same trouble goes on
				gaps[last].To, gaps[last].Runs, gaps[last].Why = end, gaps[last].Runs+1, cmp.Or(e.why, gaps[last].Why)
			case before.kind == "" && !far:
				gaps = append(gaps, Gap{at(before.time), end, e.kind, 1, e.why})
			default:
				gaps = append(gaps, Gap{at(e.time), end, e.kind, 1, e.why})
			}
		}
		before = e
	}
	if to-before.time > longest {
		gaps = append(gaps, Gap{From: at(quietSince(before, longest)), To: at(to), Kind: GapUnplanned})
	}
	return gaps
}

// quietSince is from when on nothing was planned after an event: a trouble lasts as long as a value may be away.
func quietSince(e event, longest int64) int64 {
	if e.kind == "" {
		return e.time
	}
	return e.time + longest
}
