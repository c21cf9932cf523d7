package archive

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/oklog/ulid/v2"
)

// namedStreams is how many streams may be asked for so that their points, which are found by stream, are read to know
// when their Results began, and not the list of all Results, in which those of one pair among thousands are far
// between.
const namedStreams = 100

// mostQuiet is how many days without a run are looked at one by one before the list of all Results, which is quicker
// where there is nothing.
const mostQuiet = 100

// scanRuns is the part of scan as far back as there are all points of the streams: a day at a time, the newest first.
// It leaves the rest of the span, if the page is not full before.
func (l *listing) scanRuns(ctx context.Context, k *keeper, t *tx, places []place) ([]place, error) {
	if l.view == nil {
		return places, nil
	}
	state, err := readState(ctx, t)
	if err != nil {
		return nil, err
	}
	whole := max(l.from, k.pointsSince(l.view, l.tools, max(k.options.Now().UnixNano(), state["pruned"])))
	at := progress{state["moved"], streamID(state["upto"])}
	for quiet := 0; whole < l.to && quiet < mostQuiet; quiet++ {
		start := max(whole, floorDiv(l.to-1, day)*day)
		times, err := l.view.timesOf(ctx, t, at, start, l.to+1)
		if err != nil {
			return nil, err
		}
		for some := range slices.Chunk(times, l.limit) {
			quiet = 0
			for n := l.together; n == l.together; {
				if places, n, err = l.read(ctx, t, among("time", some), places); err != nil || len(places) == l.limit {
					return places, err
				}
			}
		}
		l.to, l.before = start, ulid.ULID{}
	}
	return places, nil
}

// pointsSince is the time from which on every run of a view, which is of these tools, has left points.
func (k *keeper) pointsSince(v *view, tools map[string]bool, now int64) int64 {
	since := int64(0)
	note := func(kept Rule) { since = max(since, (slotOf(expiry(now, kept.Points))+1)*slotSpan) }
	for tool := range tools {
		note(k.keeps(tool))
		for _, name := range v.tools[tool] {
			note(k.keepsSeries(tool, name))
		}
	}
	return since
}

// timesOf returns when the runs of a view in [from, to), which lies in one day or little more, began, the newest first.
func (v *view) timesOf(ctx context.Context, t *tx, at progress, from, to int64) ([]int64, error) {
	var times []int64
	if err := v.inMemory(at, from, to, func(_ streamID, r run) { times = append(times, r.time) }); err != nil {
		return nil, err
	}
	var id streamID
	var slot int64
	var data sql.RawBytes
	query := "SELECT stream, slot, data FROM points WHERE " + grid("slot", upTo(slotOf(from), slotOf(to-1)+1, 1), "stream",
		v.ids)
	err := t.each(ctx, query, nil, []any{&id, &slot, &data}, func() error {
		runs, err := decodePoints(data, slot, func(metricID) bool { return false })
		if err != nil {
			return fmt.Errorf("points of stream %d, slot %d: %w", id, slot, err)
		}
		for _, r := range runs {
			if r.time >= from && r.time < to {
				times = append(times, r.time)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read points: %w", err)
	}
	slices.SortFunc(times, func(a, b int64) int { return cmp.Compare(b, a) })
	return slices.Compact(times), nil
}
