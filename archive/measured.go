package archive

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// mostCounted is how many series are counted in one answer: those of a host with hundreds of others. Of more, as of a whole
// mesh, the runs are not told.
const mostCounted = 20_000

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
	v := k.newView(s)
	found, of := k.measuredBy(s)
	if len(v.series) <= mostCounted {
		count := func(id streamID, m metricID, n uint64) { found[of[id.series(m)]].Runs += n }
		if err := k.countRuns(ctx, v, unixNano(q.From), unixNano(q.To), count); err != nil {
			return nil, fmt.Errorf("count runs: %w", err)
		}
	}
	slices.SortFunc(found, func(a, b Measured) int {
		return cmp.Or(cmp.Compare(a.Metric, b.Metric), cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Role, b.Role))
	})
	return found, nil
}

// measuredBy are the metrics that a selector lets pass, by tool and role, and to which of them each series belongs.
func (k *keeper) measuredBy(s selector) (found []Measured, of map[seriesID]int) {
	k.memory.RLock()
	defer k.memory.RUnlock()
	type group struct {
		metric metricID
		tool   string
		role   measure.Role
	}
	found, of = []Measured{}, map[seriesID]int{}
	groups, wanted := map[group]int{}, k.names.findMetrics(s)
	for _, one := range k.names.find(s) {
		for _, l := range one.latest {
			if !wanted[l.metric] {
				continue
			}
			g := group{l.metric, one.key.tool, one.key.role}
			i, known := groups[g]
			if !known {
				i = len(found)
				groups[g] = i
				found = append(found, Measured{Metric: k.names.metrics[l.metric], Tool: g.tool, Role: g.role})
			}
			of[one.id.series(l.metric)] = i
			found[i].Series++
			if at := time.Unix(0, l.time).UTC(); at.After(found[i].Latest) {
				found[i].Latest = at
			}
		}
	}
	return found, of
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
				n, _, err := stat.SketchTotals(sketch)
				known(id, m, n)
				return err
			})
		}
		return err
	})
}
