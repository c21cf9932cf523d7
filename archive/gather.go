package archive

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/stat"
)

// into says which sketch takes in what a stream measured at a time, ns since 1970.
type into func(id streamID, ns int64) *stat.Sketch

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

// gatherMemory does so of what a database that has come so far does not have.
func (v *view) gatherMemory(at progress, from, to int64, in into) error {
	for _, p := range v.memory {
		for id, runs := range p.runs {
			if at.has(p.generation, id) {
				continue
			}
			err := readValues(runs, from, to, func(ns int64, m metricID, x float64) {
				if v.wants(m) {
					in(id, ns).Add(x)
				}
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *keeper) gatherPoints(ctx context.Context, t *tx, v *view, p piece, in into) error {
	return k.eachPoint(ctx, t, v, p, func(id streamID, ns int64, x value) { in(id, ns).Add(x.value) })
}

// eachPoint calls each for every value of a piece that a view asks for.
func (k *keeper) eachPoint(ctx context.Context, t *tx, v *view, p piece, each func(streamID, int64, value)) error {
	for d := floorDiv(max(v.first, p.from), day); d <= floorDiv(min(v.last, p.to-1), day); d++ {
		found, err := k.runsOfDay(ctx, t, v, d, p.from, p.to)
		if err != nil {
			return err
		}
		for _, r := range found {
			for _, x := range r.values {
				each(r.stream, r.time, x)
			}
		}
	}
	return nil
}

func (k *keeper) gatherRollups(ctx context.Context, t *tx, v *view, p piece, in into) error {
	var one stat.Sketch
	return k.eachRollup(ctx, t, v, p, func(id streamID, ns int64, _ metricID, sketch []byte) error {
		sum := in(id, ns)
		if sum.Count() == 0 { // as always where the step is the level
			_, err := sum.DecodeBinary(sketch)
			return err
		}
		_, err := one.DecodeBinary(sketch)
		sum.Merge(&one)
		return err
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
	if packed[level] {
		rows := make([]seriesID, len(v.series))
		for i, s := range v.series { // those of v.ids that have what is asked for
			id, _ := s.split()
			rows[i] = id.series(0)
		}
		slices.Sort(rows)
		return append(all, slices.Compact(rows))
	}
	for rest := v.series; len(rest) > 0; {
		n, _ := slices.BinarySearch(rest, (rest[0]/mostStreams+1)*mostStreams)
		all, rest = append(all, rest[:n]), rest[n:]
	}
	return all
}
