package archivebench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// Year is how often one pair is measured in a year, once a minute: 525,600 values of each of twelve metrics.
const Year = 365 * 24 * 60

// FillYear puts so many minutes, such as Year, that begin at start into an archive. It does not close it.
func FillYear(ctx context.Context, a archive.Archive, start time.Time, minutes int) error {
	f := newFeeder(Load{Pairs: 1, Callers: 1, Batch: 2000, Start: start}.withDefaults(), 0)
	for n := 0; n < minutes; {
		batch := f.next(min(len(f.results), minutes-n))
		n += len(batch)
		if err := a.Put(ctx, batch); err != nil {
			return fmt.Errorf("fill a year: %w", err)
		}
	}
	return nil
}

// Drawing is how long one look at it took, the median of several.
type Drawing struct {
	What    string
	Took    time.Duration
	Buckets int
}

// DrawYear draws what FillYear put in several steps, each so many times, and reads its points.
func DrawYear(ctx context.Context, a archive.Archive, start time.Time, minutes, times int) ([]Drawing, error) {
	end := start.Add(time.Duration(minutes) * time.Minute)
	q := archive.SeriesQuery{Match: archive.Match{Metric: string(measure.RTTMean)}, From: start, To: end,
		Quantiles: []float64{0.05, 0.5, 0.95}}
	var drawings []Drawing
	for _, d := range []struct {
		what string
		step time.Duration
	}{{"a day a step", 24 * time.Hour}, {"1000 steps", end.Sub(start) / 1000}, {"an hour a step", time.Hour}} {
		q.Step = d.step
		n := 0
		took, err := median(times, func() error {
			s, err := a.Series(ctx, q)
			if err == nil {
				n = len(s.Buckets)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("draw %s: %w", d.what, err)
		}
		drawings = append(drawings, Drawing{d.what, took, n})
	}
	points, err := readPoints(ctx, a, q, min(times, 3))
	return append(drawings, points), err
}

func readPoints(ctx context.Context, a archive.Archive, q archive.SeriesQuery, times int) (Drawing, error) {
	keys, err := a.Keys(ctx, q.Match)
	if err != nil || len(keys) == 0 {
		return Drawing{}, fmt.Errorf("find the series: %d, %w", len(keys), err)
	}
	n := 0
	took, err := median(times, func() error {
		n = 0
		for _, err := range a.Points(ctx, keys[0], q.From, q.To) {
			if err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return Drawing{"every point", took, n}, err
}

func median(times int, do func() error) (time.Duration, error) {
	var took []time.Duration
	for range times {
		start := time.Now()
		if err := do(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}
