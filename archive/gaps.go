package archive

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// event is something that was planned, and what became of it; or a time in which values came that are not told apart.
type event struct {
	time, last int64   // the same of a run
	kind       GapKind // "": a value came
	why        string
}

// Gaps implements Archive.
func (k *keeper) Gaps(ctx context.Context, q GapQuery) ([]Gap, error) {
	s, err := k.ask(q.Match)
	if err != nil {
		return nil, err
	}
	defer k.leave()
	if q.Least < 0 || q.Longest < 0 {
		return nil, badQuery("least or longest", min(q.Least, q.Longest).String(), "a positive time, or 0")
	}
	var gaps []Gap
	v := k.newView(s)
	tools := k.keepTools(v)
	err = k.store.view(ctx, func(t *tx) error {
		line, err := k.newTimeline(ctx, t, v, tools, s, q)
		if err != nil {
			return err
		}
		longest := int64(q.Longest)
		if longest == 0 {
			usual, err := line.usualDistance()
			if err != nil {
				return err
			}
			longest = 10 * usual
		}
		events, err := line.events(int64(q.Least))
		if err != nil {
			return err
		}
		if q.From.IsZero() && len(events) > 0 {
			line.from = events[0].time
		}
		gaps = gapsBetween(events, line.from, line.to, longest)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find gaps: %w", err)
	}
	return slices.DeleteFunc(gaps, func(g Gap) bool { return g.To.Sub(g.From) < q.Least }), nil
}

// keepTools leaves out the streams of tools that do not measure what is asked for: a route is not a failed delay. It returns
// the tools of those that stay.
func (k *keeper) keepTools(v *view) map[string]bool {
	tools := map[string]bool{}
	k.memory.RLock()
	defer k.memory.RUnlock()
	v.ids = slices.DeleteFunc(v.ids, func(id streamID) bool {
		s := k.names.stream(id)
		if s == nil || !k.names.mayMeasure(s.key.tool, v.wanted) {
			return true
		}
		tools[s.key.tool] = true
		return false
	})
	for _, p := range v.memory {
		for id := range p.runs {
			if !v.has(id) {
				delete(p.runs, id)
			}
		}
	}
	return tools
}

// measures tells whether a tool may measure what the view asks for.
func (k *keeper) measures(v *view, tool string) bool {
	k.memory.RLock()
	defer k.memory.RUnlock()
	return k.names.mayMeasure(tool, v.wanted)
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
	before := event{time: from, last: from}
	for i, e := range events {
		far := e.time-before.last > longest
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
				gaps = append(gaps, Gap{at(before.last), end, e.kind, 1, e.why})
			default:
				gaps = append(gaps, Gap{at(e.time), end, e.kind, 1, e.why})
			}
		}
		before = e
	}
	if to-before.last > longest {
		gaps = append(gaps, Gap{From: at(quietSince(before, longest)), To: at(to), Kind: GapUnplanned})
	}
	return gaps
}

// quietSince is from when on nothing was planned after an event: a trouble lasts as long as a value may be away.
func quietSince(e event, longest int64) int64 {
	if e.kind == "" {
		return e.last
	}
	return e.time + longest
}
