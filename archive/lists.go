package archive

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// Pairs implements Archive.
func (k *keeper) Pairs(context.Context) ([]Pair, error) {
	if err := k.enter(); err != nil {
		return nil, err
	}
	defer k.leave()
	k.memory.RLock()
	defer k.memory.RUnlock()
	pairs := make([]Pair, 0, len(k.names.pairs))
	for _, i := range k.names.inOrder() {
		pairs = append(pairs, k.names.pairs[i])
	}
	return pairs, nil
}

// Keys implements Archive.
func (k *keeper) Keys(ctx context.Context, m Match) ([]Key, error) {
	latest, err := k.Latest(ctx, m)
	if err != nil {
		return nil, err
	}
	keys := make([]Key, len(latest))
	for i := range latest {
		keys[i] = latest[i].Key
	}
	return keys, nil
}

// Latest implements Archive.
func (k *keeper) Latest(_ context.Context, m Match) ([]Latest, error) {
	s, err := k.ask(m)
	if err != nil {
		return nil, err
	}
	defer k.leave()
	all := k.latest(s)
	slices.SortFunc(all, func(a, b Latest) int {
		if order := a.Key.compare(b.Key); order != 0 {
			return order
		}
		return b.Time.Compare(a.Time)
	})
	// Streams that differ in nothing but their kind are one series.
	return slices.CompactFunc(all, func(a, b Latest) bool { return a.Key == b.Key }), nil
}

func (k *keeper) latest(s selector) []Latest {
	k.memory.RLock()
	defer k.memory.RUnlock()
	wanted := k.names.findMetrics(s)
	all := []Latest{}
	for _, found := range k.names.find(s) {
		for _, l := range found.latest {
			if wanted[l.metric] {
				all = append(all, Latest{k.names.key(found, l.metric), Point{time.Unix(0, l.time).UTC(), l.value}})
			}
		}
	}
	return all
}

// Measured implements Archive.
func (k *keeper) Measured(ctx context.Context, q MeasuredQuery) ([]Measured, error) {
	s, err := k.ask(q.Match)
	if err != nil {
		return nil, err
	}
	defer k.leave()
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
