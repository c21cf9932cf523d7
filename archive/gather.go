package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/stat"
)

// How a value over a span comes about:
//
//	Series, Matrix -> view    the streams and the metrics that are asked for
//	                  gather  what memory, points and rollups hold of them, into
//	                  sum     of each bucket or cell: the values of its runs, and their samples
//	                  share   of ratios: the counts behind them, such as packets lost and packets sent
//	                  value   one number of these, as measure.Metric.Merge says

// into says which sum takes in what a stream measured at a time, ns since 1970.
type into func(id streamID, ns int64) *sum

// gather brings together what a view asks for of [from, to): what is in memory, and of the database, at one moment, the
// pieces into which divide divides the span. then, with the same, is called in the end.
func (k *keeper) gather(ctx context.Context, v *view, from, to int64, divide func(progress) []piece, in into,
	then func(*tx, progress, []piece) error) error {
	return k.store.view(ctx, func(t *tx) error {
		at, err := readProgress(ctx, t)
		if err != nil {
			return err
		}
		if err := v.gatherMemory(at, from, to, in); err != nil {
			return err
		}
		all := divide(at)
		for _, p := range all {
			if p.level == pointsLevel {
				err = k.gatherPoints(ctx, t, v, p, in)
			} else {
				err = k.gatherRollups(ctx, t, v, p, in)
			}
			if err != nil {
				return err
			}
		}
		return then(t, at, all)
	})
}

// gatherMemory brings together the runs that are in memory, without those that the database has already at this progress.
func (v *view) gatherMemory(at progress, from, to int64, in into) error {
	var one stat.Sketch
	for _, p := range v.memory {
		for id, runs := range p.runs {
			if at.has(p.generation, id) {
				continue
			}
			var failed error
			err := readValues(runs, from, to, v.wants, func(ns int64, values []value) {
				for _, x := range values {
					failed = errors.Join(failed, in(id, ns).add(x, v.says(values, x.metric), &one))
				}
			})
			if err := errors.Join(err, failed); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *keeper) gatherPoints(ctx context.Context, t *tx, v *view, p piece, in into) error {
	var one stat.Sketch
	var failed error
	err := k.eachRun(ctx, t, v, p, func(id streamID, r run) {
		for _, x := range r.values {
			failed = errors.Join(failed, in(id, r.time).add(x, v.says(r.values, x.metric), &one))
		}
	})
	return errors.Join(err, failed)
}

// eachPoint calls each for every value of a piece that a view asks for.
func (k *keeper) eachPoint(ctx context.Context, t *tx, v *view, p piece, each func(streamID, int64, value)) error {
	return k.eachRun(ctx, t, v, p, func(id streamID, r run) {
		for _, x := range r.values {
			each(id, r.time, x)
		}
	})
}

// eachRun calls each for every run of a piece, with what a view asks for.
func (k *keeper) eachRun(ctx context.Context, t *tx, v *view, p piece, each func(streamID, run)) error {
	for d := floorDiv(max(v.first, p.from), day); d <= floorDiv(min(v.last, p.to-1), day); d++ {
		found, err := k.runsOfDay(ctx, t, v, d, p.from, p.to)
		if err != nil {
			return err
		}
		for _, r := range found {
			each(r.stream, r.run)
		}
	}
	return nil
}

func (k *keeper) gatherRollups(ctx context.Context, t *tx, v *view, p piece, in into) error {
	var one contents
	return k.eachRollup(ctx, t, v, p, func(id streamID, ns int64, _ metricID, sketch []byte) error {
		return in(id, ns).addBucket(sketch, &one)
	})
}

// eachRollup calls each for every bucket of a piece that a view asks for, with the stream, when it begins, the metric, and
// the sketch as it is written.
func (k *keeper) eachRollup(ctx context.Context, t *tx, v *view, p piece,
	each func(id streamID, ns int64, m metricID, sketch []byte) error) error {
	key := rollupKey{level: p.level}
	var data sql.RawBytes
	var id streamID
	starts := upTo(chunkStart(p.level, max(p.from, v.first)), chunkStart(p.level, min(p.to-1, v.last))+1,
		int64(chunkSpans[p.level]/time.Second))
	take := func(b bucket) error {
		at, m := key.begins(b.number), key.metric(b.number)
		if at < p.from || at >= p.to || !v.wants(m) {
			return nil
		}
		return each(id, at, m, b.sketch)
	}
	for _, rows := range v.rows(p.level) {
		query := fmt.Sprintf("SELECT start, series, data FROM rollup WHERE level = %d AND ", p.level) + grid("start", starts,
			"series", rows)
		err := t.each(ctx, query, nil, []any{&key.start, &key.series, &data}, func() error {
			if id, _ = key.series.split(); !v.has(id) {
				return nil
			}
			if err := eachBucket(data, p.level, take); err != nil {
				return fmt.Errorf("rollup %+v: %w", key, err)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("read rollups: %w", err)
		}
	}
	return nil
}

// rows are the rows of a level that hold something of the view, in order, those together that are neighbours.
func (v *view) rows(level int) [][]seriesID {
	var all [][]seriesID
	rest := v.series
	if packed[level] {
		rows := make([]seriesID, len(v.series))
		for i, s := range v.series { // those of v.ids that have what is asked for
			id, m := s.split()
			rows[i] = id.rowOf(level, m, v.samples[m])
		}
		slices.Sort(rows)
		rest = slices.Compact(rows)
	}
	for len(rest) > 0 {
		n, _ := slices.BinarySearch(rest, (rest[0]/mostStreams+1)*mostStreams)
		all, rest = append(all, rest[:n]), rest[n:]
	}
	return all
}
