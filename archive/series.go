package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"time"
)

// badQuery says what cannot be asked.
type badQuery struct{ field, value, want string }

func (e *badQuery) Error() string { return fmt.Sprintf("%s is %q, want %s", e.field, e.value, e.want) }

// BadInput tells that the fault is in what was given.
func (e *badQuery) BadInput() bool { return true }

// mostBuckets in one answer: ten for each pixel of a large screen.
const mostBuckets = 100_000

// Series implements Archive.
func (k *keeper) Series(ctx context.Context, q SeriesQuery) (*Series, error) {
	if err := k.enter(); err != nil {
		return nil, err
	}
	defer k.leave()
	s, err := q.Match.selector()
	if err != nil {
		return nil, err
	}
	if err := q.validate(); err != nil {
		return nil, err
	}
	v := k.newView(s)
	level, step := k.level(v, q)
	w := newWindow(q, step)
	switch {
	case q.Step == 0:
		level, err = k.summarize(ctx, v, w)
	case level == pointsLevel:
		err = k.fromPoints(ctx, v, w)
	default:
		err = k.fromRollups(ctx, v, w, level)
	}
	if err != nil {
		return nil, fmt.Errorf("draw series: %w", err)
	}
	answer := &Series{Step: step, Buckets: w.buckets(q.Quantiles)}
	if level != pointsLevel {
		answer.Level = Levels[level]
	}
	return answer, nil
}

func (q *SeriesQuery) validate() error {
	switch {
	case q.From.IsZero():
		return &badQuery{"from", "", "a time"}
	case !q.To.After(q.From):
		return &badQuery{"to", q.To.Format(time.RFC3339), "a time after from, " + q.From.Format(time.RFC3339)}
	case q.Step < 0 || q.Step > 0 && q.To.Sub(q.From)/mostBuckets > q.Step:
		return &badQuery{"step", q.Step.String(), fmt.Sprintf("0, or at least %v for this span",
			q.To.Sub(q.From)/mostBuckets)}
	}
	for _, p := range q.Quantiles {
		if !(p >= 0 && p <= 1) {
			return &badQuery{"quantile", fmt.Sprint(p), "0 to 1"}
		}
	}
	return nil
}

// level picks the coarsest rollup that is no coarser than the step; a coarser one where that is no longer kept as far
// back as the span goes. The step becomes a multiple of it.
func (k *keeper) level(v *view, q SeriesQuery) (level int, step time.Duration) {
	level = pointsLevel
	for i, l := range Levels {
		if l <= q.Step {
			level = i
		}
	}
	for level < len(Levels)-1 && !k.reaches(v, level, unixNano(q.From)) {
		level++
	}
	step = q.Step
	if level >= 0 {
		step = (step + Levels[level] - 1) / Levels[level] * Levels[level]
	}
	return level, step
}

// reaches tells whether a level is kept as far back as a time, for all that the view asks for.
func (k *keeper) reaches(v *view, level int, from int64) bool {
	now := k.options.Now().UnixNano()
	for tool, metrics := range v.tools {
		for _, name := range metrics {
			kept := k.keepsSeries(tool, name)
			period := kept.Points
			if level != pointsLevel {
				period = kept.Rollups[level]
			}
			if expiry(now, period) > from {
				return false
			}
		}
	}
	return true
}

func (k *keeper) fromPoints(ctx context.Context, v *view, w *window) error {
	return k.runs(ctx, v, w.from, w.to, func(_ streamID, r run) error {
		w.add(r)
		return nil
	})
}

// fromRollups merges the rows of one level that lie in the window, and what is in memory.
func (k *keeper) fromRollups(ctx context.Context, v *view, w *window, level int) error {
	return k.store.view(ctx, func(t *tx) error {
		if _, err := w.addMemory(ctx, t, v); err != nil {
			return err
		}
		return k.rollupsOf(ctx, t, v, w, piece{level, w.from, w.to})
	})
}

// summarize makes one bucket of the whole window, and says which is the finest level that it took for that.
func (k *keeper) summarize(ctx context.Context, v *view, w *window) (finest int, err error) {
	finest = len(Levels) - 1
	err = k.store.view(ctx, func(t *tx) error {
		at, err := w.addMemory(ctx, t, v)
		if err != nil {
			return err
		}
		for _, p := range k.pieces(v, at, w.from, w.to) {
			finest = min(finest, p.level)
			if p.level == pointsLevel {
				err = k.pointsOf(ctx, t, v, p.from, p.to, func(_ streamID, r run) { w.add(r) })
			} else {
				err = k.rollupsOf(ctx, t, v, w, p)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return finest, err
}

// addMemory takes in what the database does not have yet.
func (w *window) addMemory(ctx context.Context, t *tx, v *view) (progress, error) {
	at, err := readProgress(ctx, t)
	if err != nil {
		return at, err
	}
	return at, v.inMemory(at, w.from, w.to, func(_ streamID, r run) { w.add(v.only(r)) })
}

// pointsOf calls each for what the points of [from, to) hold of the view.
func (k *keeper) pointsOf(ctx context.Context, t *tx, v *view, from, to int64, each func(streamID, run)) error {
	for d := floorDiv(max(v.first, from), day); d <= floorDiv(min(v.last, to-1), day); d++ {
		found, err := k.runsOfDay(ctx, t, v, d, from, to)
		if err != nil {
			return err
		}
		for _, r := range found {
			each(r.stream, r.run)
		}
	}
	return nil
}

// rollupsOf merges the rows of a piece into the window.
func (k *keeper) rollupsOf(ctx context.Context, t *tx, v *view, w *window, p piece) error {
	key := rollupKey{layout: p.level}
	var data sql.RawBytes
	query := fmt.Sprintf("SELECT start, series, data FROM rollup WHERE level = %d AND ", p.level) + grid("start",
		v.chunkStarts(p), "series", v.rows(p.level))
	return t.each(ctx, query, nil, []any{&key.start, &key.series, &data}, func() error { return w.merge(v, key, p, data) })
}

// rows are the rows of a level that hold something of the view.
func (v *view) rows(level int) []seriesID {
	if layouts[level].holds == oneMetric {
		return v.series
	}
	var rows []seriesID
	for _, s := range v.series {
		id, m := s.split()
		if row := id.rowOf(level, m); len(rows) == 0 || rows[len(rows)-1] != row {
			rows = append(rows, row)
		}
	}
	return rows
}

// chunkStarts are the rows of a level that may hold something of a piece.
func (v *view) chunkStarts(p piece) []int64 {
	return upTo(chunkStart(p.level, max(p.from, v.first)), chunkStart(p.level, min(p.to-1, v.last))+1,
		int64(layouts[p.level].span/time.Second))
}

// errEnough ends a walk that its caller has had enough of.
var errEnough = errors.New("enough")

// Points implements Archive.
func (k *keeper) Points(ctx context.Context, key Key, from, to time.Time) iter.Seq2[Point, error] {
	return func(yield func(Point, error) bool) {
		if err := k.enter(); err != nil {
			yield(Point{}, err)
			return
		}
		defer k.leave()
		first, last := span(from, to)
		err := k.runs(ctx, k.newView(key.selector()), first, last, func(_ streamID, r run) error {
			for _, x := range r.values {
				if !yield(Point{time.Unix(0, r.time).UTC(), x.value}, nil) {
					return errEnough
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(Point{}, fmt.Errorf("read points: %w", err))
		}
	}
}
