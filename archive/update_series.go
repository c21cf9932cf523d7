package archive

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// day replaces runs in a day's points of one stream, and the rollups of the day by what its points now say. What is
// already pruned of them stays away.
func (u *updating) day(ctx context.Context, t *tx, at streamDay, changes []change) error {
	runs, err := u.k.runsOfStream(ctx, t, at)
	if err != nil {
		return err
	}
	before, changed := metricsOf(runs), false
	for _, c := range changes {
		i := -1
		if c.old != nil {
			i = slices.IndexFunc(runs, c.old.covers)
		}
		switch {
		case c.old == nil:
			runs = append(runs, *c.new)
		case i < 0: // it is pruned
			continue
		case c.new == nil:
			runs = slices.Delete(runs, i, i+1)
		default:
			runs[i] = *c.new
		}
		changed = true
	}
	if !changed {
		return nil
	}
	slices.SortStableFunc(runs, func(a, b run) int { return cmp.Compare(a.time, b.time) })
	_, err = t.exec(ctx, "DELETE FROM points WHERE slot >= $1 AND slot < $2 AND stream = $3", at.day*slotsInDay,
		(at.day+1)*slotsInDay, int64(at.stream))
	if err != nil {
		return fmt.Errorf("replace points: %w", err)
	}
	var points []pointsRow
	if len(runs) > 0 {
		points = u.maker.points(nil, 0, at.stream, u.stream(at.stream).key.tool, runs)
	}
	rollups, err := u.rollups(ctx, t, at, runs, before)
	if err != nil {
		return err
	}
	u.newest.note(rollups)
	return u.k.store.write(ctx, t, points, rollups)
}

// runsOfStream are the runs of a day that have points, in order of time.
func (k *keeper) runsOfStream(ctx context.Context, t *tx, at streamDay) ([]run, error) {
	found, err := k.runsOfDay(ctx, t, &view{ids: []streamID{at.stream}}, at.day, at.day*day, (at.day+1)*day)
	runs := make([]run, len(found))
	for i := range found {
		runs[i] = found[i].run
	}
	slices.SortStableFunc(runs, func(a, b run) int { return cmp.Compare(a.time, b.time) })
	return runs, err
}

// covers tells whether points are those of a run, or what is kept of them.
func (r run) covers(points run) bool {
	return points.time == r.time && !slices.ContainsFunc(points.values, func(v value) bool {
		was, had := r.find(v.metric)
		return !had || was.value != v.value || !bytes.Equal(was.sketch, v.sketch)
	})
}

// names are all names of metrics, the new ones too.
func (u *updating) names() []measure.Metric {
	return slices.Concat(u.k.names.metrics, u.draft.newMetrics)
}

// rollups returns the rows of a day with its buckets replaced, as far back as there are all of its points. before are
// the metrics that the day had.
func (u *updating) rollups(ctx context.Context, t *tx, at streamDay, runs []run, before []metricID) ([]rollupRow, error) {
	tool, names := u.stream(at.stream).key.tool, u.names()
	made := map[rollupKey][]byte{}
	for _, r := range u.maker.rollups(nil, at.stream, tool, runs) {
		made[r.rollupKey] = r.data
	}
	metrics := append(metricsOf(runs), before...)
	slices.Sort(metrics)
	from := map[metricID]int64{} // from when on a metric's buckets are made anew
	for _, m := range slices.Compact(metrics) {
		from[m] = max(at.day*day, u.k.wholeSince(u.k.keepsSeries(tool, names[m])))
	}
	var rows []rollupRow
	var err error
	for level := range Levels {
		done := map[seriesID]bool{}
		for m := range from {
			_, distribution := samplesOf(names[m])
			for _, series := range []seriesID{at.stream.rowOf(level, m, false), at.stream.rowOf(level, m, distribution)} {
				if done[series] {
					continue
				}
				done[series] = true
				rows, err = u.rowsOf(ctx, t, rows, rollupKey{level: level, series: series}, at.day, made, from)
				if err != nil {
					return nil, err
				}
			}
		}
	}
	return rows, nil
}

// rowsOf appends the rows of a series in a day with their buckets replaced.
func (u *updating) rowsOf(ctx context.Context, t *tx, rows []rollupRow, key rollupKey, d int64, made map[rollupKey][]byte,
	from map[metricID]int64) ([]rollupRow, error) {
	const second = int64(time.Second)
	span := int64(chunkSpans[key.level]) / second
	for key.start = chunkStart(key.level, d*day); key.start*second < (d+1)*day; key.start += span {
		row, err := u.row(ctx, t, key, made[key], from, (d+1)*day)
		if err != nil {
			return nil, err
		}
		if row.data != nil {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// wholeSince is the time from which on all points are kept.
func (k *keeper) wholeSince(kept Rule) int64 {
	if k.pruned == 0 || kept.Points == Forever {
		return 0
	}
	if kept.Points == Never {
		return end
	}
	return (slotOf(expiry(k.pruned, kept.Points)) + 1) * slotSpan
}

// row replaces the buckets of a row by those of made, from a time of each metric up to another. Where none remain, it
// deletes the row.
func (u *updating) row(ctx context.Context, t *tx, key rollupKey, made []byte, from map[metricID]int64,
	to int64) (rollupRow, error) {
	anew := func(b bucket) bool {
		since, known := from[key.metric(b.number)]
		at := key.begins(b.number)
		return known && at >= since && at+int64(Levels[key.level]) <= to
	}
	where := fmt.Sprintf(" FROM rollup WHERE level = %d AND start = %d AND series = %d", key.level, key.start, key.series)
	var old []byte
	var buckets []bucket
	there, err := t.one(ctx, "SELECT data"+where, nil, &old)
	if there && err == nil {
		buckets, err = decodeBuckets(nil, old, key.level)
		buckets = slices.DeleteFunc(buckets, anew)
	}
	if made != nil && err == nil {
		var fresh []bucket
		fresh, err = decodeBuckets(nil, made, key.level)
		buckets = append(buckets, slices.DeleteFunc(fresh, func(b bucket) bool { return !anew(b) })...)
		slices.SortFunc(buckets, func(a, b bucket) int { return a.number - b.number })
	}
	if err == nil && there && len(buckets) == 0 {
		_, err = t.exec(ctx, "DELETE"+where)
	}
	if err != nil || len(buckets) == 0 {
		return rollupRow{}, err
	}
	return rollupRow{key, appendBuckets(nil, buckets), there}, nil
}
