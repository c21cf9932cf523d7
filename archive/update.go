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

// mostUpdated is how many Results are replaced in one transaction: Put waits for it.
const mostUpdated = 200

// Update implements Archive.
func (k *keeper) Update(ctx context.Context, results []*measure.Result) error {
	if err := k.enter(); err != nil {
		return err
	}
	defer k.leave()
	filings, err := k.encode(results)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(filings, mostUpdated) {
		if err := k.do(ctx, func(ctx context.Context) error { return k.update(ctx, some) }); err != nil {
			return fmt.Errorf("update results: %w", err)
		}
	}
	return nil
}

// update replaces some Results. What waits to be moved is moved first, so that there is one place to change.
func (k *keeper) update(ctx context.Context, filings []filing) error {
	if k.restoring {
		return ErrHalfRestored
	}
	if err := k.moveAll(); err != nil {
		return err
	}
	u := &updating{k: k, draft: k.newDraft(), changes: map[streamDay][]change{}, streams: map[streamID]*stream{}}
	err := k.store.change(ctx, func(t *tx) error {
		if err := u.blocks(ctx, t, filings); err != nil {
			return err
		}
		u.maker = k.newRowMaker(u.names())
		for i, m := range u.draft.batch.metrics {
			if _, err := t.exec(ctx, "INSERT INTO metric (id, name) VALUES ($1, $2)", int64(m), u.draft.batch.names[i]); err != nil {
				return err
			}
		}
		for at, changes := range u.changes {
			if err := u.day(ctx, t, at, changes); err != nil {
				return err
			}
		}
		return u.latest(ctx, t)
	})
	if err != nil {
		k.broken = true
		return err
	}
	u.publish()
	return nil
}

// updating is one transaction of Update.
type updating struct {
	k       *keeper
	draft   *draft // gives numbers to new names
	changes map[streamDay][]change
	maker   *rowMaker
	streams map[streamID]*stream // copies, with their new latest values
}

type streamDay struct {
	stream streamID
	day    int64
}

// change is what becomes of a run.
type change struct {
	old, new run
}

// blocks replaces the Results in their blocks, and notes what changes in their runs.
func (u *updating) blocks(ctx context.Context, t *tx, filings []filing) error {
	places := map[int64][]int{} // block -> indices of filings
	lines := make([]int, len(filings))
	for i := range filings {
		f := &filings[i]
		var at int64
		var s streamID
		var block int64
		there, err := t.one(ctx, "SELECT time, stream, block, line FROM result WHERE id = $1", []any{f.id[:]}, &at, &s, &block, &lines[i])
		switch known := u.k.names.stream(s); {
		case err != nil:
			return err
		case !there:
			return fmt.Errorf("result %s: %w", f.id, ErrUnknown)
		case at != f.time || known == nil || known.key != f.stream:
			return &Invalid{f.id.String(), "started, source, target, test, tool or kind", "different from what is filed", "the same"}
		}
		places[block] = append(places[block], i)
		if _, err := t.exec(ctx, "UPDATE result SET status = $1 WHERE id = $2", int64(f.status), f.id[:]); err != nil {
			return err
		}
	}
	for block, members := range places {
		if err := u.block(ctx, t, block, filings, members, lines); err != nil {
			return err
		}
	}
	return nil
}

func (u *updating) block(ctx context.Context, t *tx, block int64, filings []filing, members, lines []int) error {
	old, err := u.k.readBlock(ctx, t, block)
	if err != nil {
		return err
	}
	for _, i := range members {
		f := &filings[i]
		if lines[i] >= len(old) {
			return fmt.Errorf("result %s: %w", f.id, ErrUnknown)
		}
		was, err := decodeResult(old[lines[i]])
		if err != nil {
			return err
		}
		metrics, err := metricsIn(was)
		if err != nil {
			return err
		}
		at := streamDay{u.k.names.byKey[f.stream].id, floorDiv(f.time, day)}
		u.changes[at] = append(u.changes[at], change{run{f.time, u.draft.values(metrics)}, run{f.time, u.draft.values(f.metrics)}})
		old[lines[i]] = f.line
	}
	samples := slices.ContainsFunc(members, func(i int) bool { return filings[i].samples })
	return u.k.rewriteBlock(ctx, t, block, old, samples)
}

// rewriteBlock replaces the lines of a block. Where samples is set it has some now, else as many as before.
func (k *keeper) rewriteBlock(ctx context.Context, t *tx, block int64, lines [][]byte, samples bool) error {
	data := k.squeeze.pack(append(bytes.Join(lines, newline), '\n'))
	query := "UPDATE block SET data = $1 WHERE id = $2"
	if samples {
		query = "UPDATE block SET data = $1, samples = 1 WHERE id = $2"
	}
	if _, err := t.exec(ctx, query, data, block); err != nil {
		return fmt.Errorf("replace block: %w", err)
	}
	return nil
}

// day replaces runs in a day's points of one stream, and the rollups of the day by what its points now say. What is
// already pruned of them stays away.
func (u *updating) day(ctx context.Context, t *tx, at streamDay, changes []change) error {
	found, err := u.k.runsOfDay(ctx, t, &view{ids: []streamID{at.stream}}, at.day, at.day*day, (at.day+1)*day)
	if err != nil || len(found) == 0 {
		return err
	}
	runs := make([]run, len(found))
	for i := range found {
		runs[i] = found[i].run
	}
	slices.SortStableFunc(runs, func(a, b run) int { return cmp.Compare(a.time, b.time) })
	before := metricsOf(runs)
	for _, c := range changes {
		if i := slices.IndexFunc(runs, c.old.covers); i >= 0 {
			runs[i] = c.new
		}
	}
	_, err = t.exec(ctx, "DELETE FROM points WHERE slot >= $1 AND slot < $2 AND stream = $3", at.day*slotsInDay, (at.day+1)*slotsInDay, int64(at.stream))
	if err != nil {
		return fmt.Errorf("replace points: %w", err)
	}
	points := u.maker.points(nil, 0, at.stream, u.k.names.stream(at.stream).key.tool, runs)
	rollups, err := u.rollups(ctx, t, at, runs, before)
	if err != nil {
		return err
	}
	return u.k.store.write(ctx, t, points, rollups)
}

// covers tells whether points are those of a run, or what is kept of them.
func (r run) covers(points run) bool {
	return points.time == r.time && !slices.ContainsFunc(points.values, func(v value) bool {
		was, had := r.get(v.metric)
		return !had || was != v.value
	})
}

// names are all names of metrics, the new ones too.
func (u *updating) names() []measure.Metric {
	return slices.Concat(u.k.names.metrics, u.draft.newMetrics)
}

// rollups returns the rows of a day with its buckets replaced, as far back as there are all of its points. before are the
// metrics that the day had.
func (u *updating) rollups(ctx context.Context, t *tx, at streamDay, runs []run, before []metricID) ([]rollupRow, error) {
	tool, names := u.k.names.stream(at.stream).key.tool, u.names()
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
	for level := range Levels {
		done := map[seriesID]bool{}
		for m := range from {
			series := at.stream.rowOf(level, m)
			if done[series] {
				continue
			}
			done[series] = true
			for start := chunkStart(level, at.day*day); start*int64(time.Second) < (at.day+1)*day; start += int64(chunkSpans[level] / time.Second) {
				key := rollupKey{level, start, series}
				row, err := u.row(ctx, t, key, made[key], from, (at.day+1)*day)
				if err != nil {
					return nil, err
				}
				if row.data != nil {
					rows = append(rows, row)
				}
			}
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
func (u *updating) row(ctx context.Context, t *tx, key rollupKey, made []byte, from map[metricID]int64, to int64) (rollupRow, error) {
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

// latest writes the latest values of the streams that were changed.
func (u *updating) latest(ctx context.Context, t *tx) error {
	for at, changes := range u.changes {
		s := u.streams[at.stream]
		if s == nil {
			known := u.k.names.stream(at.stream)
			s = &stream{known.id, known.key, news{known.last, slices.Clone(known.latest)}}
			u.streams[at.stream] = s
		}
		for _, c := range changes {
			s.note(c.new)
		}
	}
	var rows []latestRow
	for id, s := range u.streams {
		rows = append(rows, latestRow{id, s.bytes()})
	}
	return u.k.store.writeLatest(ctx, t, rows)
}

// publish makes new names and latest values known to queries.
func (u *updating) publish() {
	u.k.memory.Lock()
	defer u.k.memory.Unlock()
	for i, m := range u.draft.batch.metrics {
		u.k.names.addMetric(m, u.draft.newMetrics[i])
	}
	for id, s := range u.streams {
		u.k.names.stream(id).news = s.news
	}
}
