package archive

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// view is what one query sees: the streams that it asks for, what of them was in memory when it began, and the database
// at one moment since. What had been moved by that moment counts only there.
type view struct {
	ids    []streamID // ascending
	first  int64      // no run of them is older, ns since 1970
	last   int64      // or newer
	tools  map[string]map[metricID]measure.Metric
	wanted map[metricID]bool     // nil: all
	of     map[metricID]metricID // distributions that those are of, which the view asks for, too

	samples map[metricID]bool // the distributions of it
	series  []seriesID        // ascending
	memory  []*pending        // copies, with the streams that are asked for

	generation int64 // that what comes later belongs to, or a newer one
}

// newView takes what memory has of the streams that a selector lets pass.
func (k *keeper) newView(s selector) *view {
	k.memory.RLock()
	defer k.memory.RUnlock()
	return k.viewOf(k.names.find(s), k.names.findMetrics(s), nil)
}

// newSampledView takes what memory has of the streams that a selector lets pass, with the distributions of the samples behind their metrics:
// values are merged by these.
func (k *keeper) newSampledView(s selector) *view {
	k.memory.RLock()
	defer k.memory.RUnlock()
	wanted, of := k.names.withDistributions(k.names.findMetrics(s))
	return k.viewOf(k.names.find(s), wanted, of)
}

// viewOf is newView of some streams and metrics, while memory is locked.
func (k *keeper) viewOf(streams []*stream, wanted map[metricID]bool, of map[metricID]metricID) *view {
	v := &view{first: end, tools: map[string]map[metricID]measure.Metric{}, wanted: wanted, of: of,
		samples: map[metricID]bool{}, generation: k.active.generation}
	for _, found := range streams {
		v.ids = append(v.ids, found.id)
		v.first, v.last = min(v.first, found.first), max(v.last, found.last)
		tool := v.tools[found.key.tool]
		for _, l := range found.latest {
			if !v.wanted[l.metric] {
				continue
			}
			v.series = append(v.series, found.id.series(l.metric))
			if tool == nil {
				tool = map[metricID]measure.Metric{}
				v.tools[found.key.tool] = tool
			}
			if _, known := tool[l.metric]; !known {
				tool[l.metric] = k.names.metrics[l.metric]
			}
		}
	}
	for _, d := range of {
		v.samples[d] = true
	}
	slices.Sort(v.ids)
	slices.Sort(v.series)
	for _, p := range []*pending{k.moving, k.active} {
		if p == nil {
			continue
		}
		part := newPending(p.generation)
		for _, id := range v.ids {
			if runs := p.runs[id]; len(runs) > 0 {
				part.runs[id] = runs
			}
		}
		v.memory = append(v.memory, part)
	}
	return v
}

// wants tells whether the view asks for a metric.
func (v *view) wants(m metricID) bool { return v.wanted == nil || v.wanted[m] }

// has tells whether the view asks for a stream.
func (v *view) has(id streamID) bool {
	_, found := slices.BinarySearch(v.ids, id)
	return found
}

// inMemory calls each for every run of the view in memory that a database which has come so far does not have, and that
// lies in [from, to).
func (v *view) inMemory(at progress, from, to int64, each func(streamID, run)) error {
	for _, p := range v.memory {
		for id, runs := range p.runs {
			if at.has(p.generation, id) {
				continue
			}
			err := readJournal(runs, func(_ streamID, r run, _ []byte) {
				if r.time >= from && r.time < to {
					each(id, r)
				}
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// runs calls each for the runs of the view in [from, to), a day of all streams at a time, in order of time within it,
// with those metrics only that are asked for. An error of each ends it.
func (k *keeper) runs(ctx context.Context, v *view, from, to int64, each func(streamID, run) error) error {
	return k.store.view(ctx, func(t *tx) error {
		at, err := readProgress(ctx, t)
		if err != nil {
			return err
		}
		return k.runsIn(ctx, t, v, at, from, to, each)
	})
}

// runsIn calls each for the runs of the view in [from, to), in a transaction whose progress is known.
func (k *keeper) runsIn(ctx context.Context, t *tx, v *view, at progress, from, to int64,
	each func(streamID, run) error) error {
	fresh := map[int64][]streamRunID{} // by day
	err := v.inMemory(at, from, to, func(id streamID, r run) {
		fresh[floorDiv(r.time, day)] = append(fresh[floorDiv(r.time, day)], streamRunID{id, v.only(r)})
	})
	if err != nil {
		return err
	}
	for d := floorDiv(max(v.first, from), day); d <= floorDiv(min(v.last, to-1), day); d++ {
		found, err := k.runsOfDay(ctx, t, v, d, from, to)
		if err != nil {
			return err
		}
		found = append(found, fresh[d]...)
		slices.SortStableFunc(found, func(a, b streamRunID) int { return cmp.Compare(a.time, b.time) })
		for _, r := range found {
			if err := each(r.stream, r.run); err != nil {
				return err
			}
		}
	}
	return nil
}

type streamRunID struct {
	stream streamID
	run
}

// only is a run with the metrics that the view asks for.
func (v *view) only(r run) run {
	kept := make([]value, 0, 1)
	for _, x := range r.values {
		if v.wants(x.metric) {
			kept = append(kept, x)
		}
	}
	return run{r.time, kept}
}

func (k *keeper) runsOfDay(ctx context.Context, t *tx, v *view, d, from, to int64) ([]streamRunID, error) {
	var found []streamRunID
	var id streamID
	var h int64
	var data sql.RawBytes
	slots := upTo(max(d*slotsInDay, slotOf(from)), min((d+1)*slotsInDay, slotOf(to-1)+1), 1)
	query := "SELECT stream, slot, data FROM points WHERE " + grid("slot", slots, "stream", v.ids)
	err := t.each(ctx, query, nil, []any{&id, &h, &data}, func() error {
		if !v.has(id) {
			return nil
		}
		runs, err := decodePoints(data, h, v.wants)
		if err != nil {
			return fmt.Errorf("points of stream %d, slot %d: %w", id, h, err)
		}
		for _, r := range runs {
			if r.time >= from && r.time < to {
				found = append(found, streamRunID{id, r})
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read points: %w", err)
	}
	return found, nil
}

// upTo returns from, from+step, ... below to.
func upTo[T int | int64](from, to, step T) []T {
	var all []T
	for n := from; n < to; n += step {
		all = append(all, n)
	}
	return all
}

// Rows are looked up one by one where they are few; where others lie between them that would take longer to read; and as
// long as their numbers find room in the text of a query.
const (
	fewSeeks   = 16
	mostSeeks  = 20_000
	mostPassed = 4 // for each row that is asked for
)

// grid is a condition that two columns, the first of an index, are among these numbers, which are in order; that the
// second one is among all from the first to the last of them, where they lie close together.
func grid[T ~int64](first string, starts []int64, second string, members []T) string {
	if len(starts) == 0 || len(members) == 0 {
		return "0 = 1"
	}
	n := len(members)
	condition := among(first, starts)
	if between := int64(members[n-1] - members[0]); n > mostSeeks || n > fewSeeks && int64(n)*mostPassed > between {
		return fmt.Sprintf("%s AND %s >= %d AND %s <= %d", condition, second, members[0], second, members[n-1])
	}
	return condition + " AND " + among(second, members)
}

// span makes ns of a query's times. A zero time leaves its side open.
func span(from, to time.Time) (int64, int64) {
	first, last := int64(0), latestTime.UnixNano()
	if !from.IsZero() {
		first = max(first, unixNano(from))
	}
	if !to.IsZero() {
		last = min(last, unixNano(to))
	}
	return first, last
}

// unixNano is t in ns since 1970, or the nearest end of what is filed.
func unixNano(t time.Time) int64 {
	switch {
	case t.Before(time.Unix(0, 0)):
		return 0
	case t.After(latestTime):
		return latestTime.UnixNano()
	}
	return t.UnixNano()
}
