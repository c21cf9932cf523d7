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
	if level < 0 {
		err = k.fromPoints(ctx, v, w)
	} else {
		err = k.fromRollups(ctx, v, w, level)
	}
	if err != nil {
		return nil, fmt.Errorf("draw series: %w", err)
	}
	answer := &Series{Step: step, Buckets: w.buckets(q.Quantiles)}
	if level >= 0 {
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

// level picks the coarsest rollup that is no coarser than the step, or than the span where it is to be one bucket; a
// coarser one where that is no longer kept as far back as the span goes. -1 are the points. The step becomes a multiple
// of it.
func (k *keeper) level(v *view, q SeriesQuery) (level int, step time.Duration) {
	if q.Step == 0 {
		return k.levelOfSpan(v, q)
	}
	level = -1
	for i, l := range Levels {
		if l <= q.Step {
			level = i
		}
	}
	for level < len(Levels)-1 && !k.reaches(v, level, q.From) {
		level++
	}
	step = q.Step
	if level >= 0 {
		step = (step + Levels[level] - 1) / Levels[level] * Levels[level]
	}
	return level, step
}

// levelOfSpan picks the coarsest rollup in whose buckets the span begins and ends: nothing outside the span may count.
func (k *keeper) levelOfSpan(v *view, q SeriesQuery) (level int, step time.Duration) {
	for level = len(Levels) - 1; level >= 0; level-- {
		l := int64(Levels[level])
		if unixNano(q.From)%l == 0 && unixNano(q.To)%l == 0 {
			break
		}
	}
	for level < len(Levels)-1 && !k.reaches(v, level, q.From) {
		level++
	}
	return level, 0
}

// reaches tells whether a level is kept as far back as a time, for all that the view asks for.
func (k *keeper) reaches(v *view, level int, from time.Time) bool {
	now := k.options.Now().UnixNano()
	for tool, metrics := range v.tools {
		for _, name := range metrics {
			kept := k.keepsSeries(tool, name)
			period := kept.Points
			if level >= 0 {
				period = kept.Rollups[level]
			}
			if expiry(now, period) > unixNano(from) {
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
		err := v.inMemory(ctx, t, w.from, w.to, func(_ streamID, r run) { w.add(v.only(r)) })
		if err != nil {
			return err
		}
		starts, err := k.chunkStarts(ctx, t, w, level)
		if err != nil {
			return err
		}
		key := rollupKey{level: level}
		var data sql.RawBytes
		query := fmt.Sprintf("SELECT start, series, data FROM rollup WHERE level = %d AND ", level) + grid("start", starts,
			"series", v.rows(level))
		return t.each(ctx, query, nil, []any{&key.start, &key.series, &data}, func() error { return w.merge(v, key, data) })
	})
}

// rows are the rows of a level that hold something of the view.
func (v *view) rows(level int) []seriesID {
	if !packed[level] {
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

// chunkStarts are the rows of a level that may hold something of the window.
func (k *keeper) chunkStarts(ctx context.Context, t *tx, w *window, level int) ([]int64, error) {
	var first, last int64
	for _, end := range []struct {
		which string
		to    *int64
	}{{"min", &first}, {"max", &last}} {
		query := fmt.Sprintf("SELECT coalesce(%s(start), -1) FROM rollup WHERE level = %d", end.which, level)
		if _, err := t.one(ctx, query, nil, end.to); err != nil {
			return nil, fmt.Errorf("find rollups: %w", err)
		}
	}
	if last < 0 {
		return nil, nil
	}
	return upTo(max(first, chunkStart(level, w.from)), min(last, chunkStart(level, w.to-1))+1,
		int64(chunkSpans[level]/time.Second)), nil
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
