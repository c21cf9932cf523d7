package archive

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/pathwise-net/pathwise/input"
)

// badQuery says what cannot be asked.
func badQuery(field, value, want string) error {
	return input.Errorf("%s is %q, want %s", field, value, want)
}

// mostBuckets in one answer: ten for each pixel of a large screen.
const mostBuckets = 100_000

// Series implements Archive.
func (k *keeper) Series(ctx context.Context, q SeriesQuery) (*Series, error) {
	s, err := k.ask(q.Match)
	if err != nil {
		return nil, err
	}
	defer k.leave()
	if err := q.validate(); err != nil {
		return nil, err
	}
	v := k.newSampledView(s)
	level, step := k.level(v, q)
	w := newWindow(q, step)
	divide := func(progress) []piece { return []piece{{level, w.from, w.to}} }
	if q.Step == 0 {
		divide = func(at progress) []piece {
			all := k.pieces(v, at, w.from, w.to)
			level = len(Levels) - 1
			for _, p := range all {
				level = min(level, p.level)
			}
			return all
		}
	}
	how := v.merge()
	err = k.gather(ctx, v, w.from, w.to, divide, w, func(t *tx, at progress, pieces []piece) error {
		if !w.open(how) {
			return nil
		}
		every := func(streamID) bool { return true }
		return k.countsOf(v, how, every).gather(ctx, k, t, at, w.from, w.to, pieces, w.share)
	})
	if err != nil {
		return nil, fmt.Errorf("draw series: %w", err)
	}
	answer := &Series{Step: step, Buckets: w.buckets(q.Quantiles, how)}
	if level != pointsLevel {
		answer.Level = Levels[level]
	}
	return answer, nil
}

func (q *SeriesQuery) validate() error {
	switch {
	case q.From.IsZero():
		return badQuery("from", "", "a time")
	case !q.To.After(q.From):
		return badQuery("to", q.To.Format(time.RFC3339), "a time after from, "+q.From.Format(time.RFC3339))
	case q.Step < 0 || q.Step > 0 && q.To.Sub(q.From)/mostBuckets > q.Step:
		return badQuery("step", q.Step.String(), fmt.Sprintf("0, or at least %v for this span",
			q.To.Sub(q.From)/mostBuckets))
	}
	for _, p := range q.Quantiles {
		if !(p >= 0 && p <= 1) {
			return badQuery("quantile", fmt.Sprint(p), "0 to 1")
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
func (k *keeper) reaches(v *view, level int, from int64) bool { return k.keptSince(v, level) <= from }

// keptSince is the time from which on a level is kept for all that the view asks for.
func (k *keeper) keptSince(v *view, level int) int64 {
	now, since := k.options.Now().UnixNano(), beginning
	for tool, metrics := range v.tools {
		for _, name := range metrics {
			kept := k.keepsSeries(tool, name)
			period := kept.Points
			if level != pointsLevel {
				period = kept.Rollups[level]
			}
			since = max(since, expiry(now, period))
		}
	}
	return since
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
