package archive

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Measured implements Archive.
func (k *keeper) Measured(ctx context.Context, q MeasuredQuery) ([]Measured, error) {
	if err := k.enter(); err != nil {
		return nil, err
	}
	defer k.leave()
	s, err := q.Match.selector()
	if err != nil {
		return nil, err
	}
	span := SeriesQuery{From: q.From, To: q.To}
	if err := span.validate(); err != nil {
		return nil, err
	}
	c, v := k.newCensus(s)
	if err := k.countRuns(ctx, v, unixNano(q.From), unixNano(q.To), c.count); err != nil {
		return nil, fmt.Errorf("count runs: %w", err)
	}
	found := c.estimate()
	slices.SortFunc(found, func(a, b Measured) int {
		return cmp.Or(cmp.Compare(a.Metric, b.Metric), cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Role, b.Role))
	})
	return found, nil
}

// countRuns calls count for how many values of a stream and a metric of the view lie in [from, to).
func (k *keeper) countRuns(ctx context.Context, v *view, from, to int64, count func(streamID, metricID, uint64)) error {
	known := func(id streamID, m metricID, n uint64) {
		if _, asked := slices.BinarySearch(v.series, id.series(m)); asked { // what came since is not
			count(id, m, n)
		}
	}
	return k.store.view(ctx, func(t *tx) error {
		at, err := readProgress(ctx, t)
		if err != nil {
			return err
		}
		err = v.inMemory(at, from, to, func(id streamID, r run) {
			for _, x := range r.values {
				known(id, x.metric, 1)
			}
		})
		for _, p := range k.pieces(v, at, from, to) {
			if err != nil {
				return err
			}
			if p.level == pointsLevel {
				err = k.eachPoint(ctx, t, v, p, func(id streamID, _ int64, x value) { known(id, x.metric, 1) })
				continue
			}
			err = k.eachRollup(ctx, t, v, p, func(id streamID, _ int64, m metricID, sketch []byte) error {
				n, _, err := bucketTotals(sketch)
				known(id, m, n)
				return err
			})
		}
		return err
	})
}
