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

// sums are what an answer is made of.
type sums interface {
	// into says which sum takes in what a stream measured at a time, ns since 1970.
	into(id streamID, ns int64) *sum
	// filled tells whether any sum of a time in [from, to) has values so far: samples of no other are asked for.
	filled(from, to int64) bool
}

// gather brings together what a view asks for of [from, to): what is in memory, and of the database, at one moment, the
// pieces into which divide divides the span. then, with the same, is called in the end.
func (k *keeper) gather(ctx context.Context, v *view, from, to int64, divide func(progress) []piece, in sums,
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
func (v *view) gatherMemory(at progress, from, to int64, in sums) error {
	var one stat.Sketch
	for _, p := range v.memory {
		for id, runs := range p.runs {
			if at.has(p.generation, id) {
				continue
			}
			var failed error
			err := readValues(runs, from, to, v.wants, func(ns int64, values []value) {
				for _, x := range values {
					failed = errors.Join(failed, in.into(id, ns).add(x, v.says(values, x.metric), &one))
				}
			})
			if err := errors.Join(err, failed); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *keeper) gatherPoints(ctx context.Context, t *tx, v *view, p piece, in sums) error {
	var one stat.Sketch
	var failed error
	err := k.eachRun(ctx, t, v, p, func(id streamID, r run) {
		for _, x := range r.values {
			failed = errors.Join(failed, in.into(id, r.time).add(x, v.says(r.values, x.metric), &one))
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

// gatherRollups reads the values of a piece, and then the samples of those buckets and cells that have any: each row that is looked for
// takes its time, whether it is there or not.
func (k *keeper) gatherRollups(ctx context.Context, t *tx, v *view, p piece, in sums) error {
	var one stat.Sketch
	add := func(id streamID, ns int64, _ metricID, sketch []byte) error {
		return in.into(id, ns).merge(sketch, &one)
	}
	values, samples := v.rows(p.level)
	starts := v.starts(p)
	if err := k.eachRow(ctx, t, v, p, starts, values, add); err != nil || len(samples) == 0 {
		return err
	}
	starts = slices.DeleteFunc(starts, func(start int64) bool {
		from := start * int64(time.Second)
		return !in.filled(max(from, p.from), min(from+int64(chunkSpans[p.level]), p.to))
	})
	return k.eachRow(ctx, t, v, p, starts, samples, add)
}

// eachBucketOf is called for a bucket with the stream, when it begins, the metric, and the sketch as it is written.
type eachBucketOf func(id streamID, ns int64, m metricID, sketch []byte) error

// eachRollup calls each for every bucket of a piece that a view asks for.
func (k *keeper) eachRollup(ctx context.Context, t *tx, v *view, p piece, each eachBucketOf) error {
	values, samples := v.rows(p.level)
	return k.eachRow(ctx, t, v, p, v.starts(p), append(values, samples...), each)
}

// eachRow calls each for the buckets in a piece of rows with these starts and series.
func (k *keeper) eachRow(ctx context.Context, t *tx, v *view, p piece, starts []int64, series [][]seriesID, each eachBucketOf) error {
	key := rollupKey{level: p.level}
	var data sql.RawBytes
	var start, number any // as the driver has them: to convert each takes longer than to compare it
	var id streamID
	var m, last metricID
	wanted := v.wants(last)
	begin, step, buckets := int64(0), int64(Levels[p.level]), bucketsIn(p.level)
	take := func(b bucket) error {
		n := b.number
		if packed[p.level] {
			m, n = metricID(n/buckets), n%buckets
		}
		if m != last {
			last, wanted = m, v.wants(m)
		}
		at := begin + int64(n)*step
		if !wanted || at < p.from || at >= p.to {
			return nil
		}
		return each(id, at, m, b.sketch)
	}
	for _, rows := range series {
		query := fmt.Sprintf("SELECT start, series, data FROM rollup WHERE level = %d AND ", p.level) + grid("start", starts,
			"series", rows)
		err := t.each(ctx, query, nil, []any{&start, &number, &data}, func() error {
			var isStart, isNumber bool
			var n int64
			key.start, isStart = start.(int64)
			n, isNumber = number.(int64)
			key.series = seriesID(n)
			if !isStart || !isNumber {
				return errDamaged
			}
			if id, m = key.series.split(); !v.has(id) {
				return nil
			}
			begin = key.start * int64(time.Second)
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

// starts are those of the rows that may have something of a piece.
func (v *view) starts(p piece) []int64 {
	return upTo(chunkStart(p.level, max(p.from, v.first)), chunkStart(p.level, min(p.to-1, v.last))+1, int64(chunkSpans[p.level]/time.Second))
}

// rows are the rows of a level that hold something of the view, in order, those together that are neighbours: of its metrics, and of the
// distributions that those are of.
func (v *view) rows(level int) (values, samples [][]seriesID) {
	var metrics, distributions []seriesID
	for _, s := range v.series { // those of v.ids that have what is asked for
		id, m := s.split()
		if v.samples[m] {
			distributions = append(distributions, id.rowOf(level, m, true))
		} else {
			metrics = append(metrics, id.rowOf(level, m, false))
		}
	}
	return neighbours(metrics), neighbours(distributions)
}

// neighbours sorts rows, and puts those together that are of one metric.
func neighbours(rows []seriesID) (all [][]seriesID) {
	slices.Sort(rows)
	for rest := slices.Compact(rows); len(rest) > 0; {
		n, _ := slices.BinarySearch(rest, (rest[0]/mostStreams+1)*mostStreams)
		all, rest = append(all, rest[:n]), rest[n:]
	}
	return all
}
