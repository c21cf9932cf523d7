package archive

import (
	"context"
	"maps"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// share is what is counted behind the ratios of a bucket or a cell: see measure.MergeShare.
type share struct {
	over, under float64
	alone       float64 // sum of the ratios of streams without counts
	uncounted   uint64  // how many those are
}

// value returns the one number that stands for the ratios of a bucket or cell. all holds those ratios.
func (s *share) value(all *stat.Sketch) float64 {
	if s.under <= 0 || s.uncounted > all.Count() {
		return all.Mean()
	}
	counted := float64(all.Count() - s.uncounted)
	return (s.over/s.under*counted + s.alone) / float64(all.Count())
}

// merge is how the values of a view merge: as those of its metric, or, of several, by the median.
func (v *view) merge() measure.Merge {
	var found measure.Merge
	n := 0
	for m, name := range v.metrics() {
		if _, samples := samplesOf(name); v.wanted[m] && !samples {
			found = name.Merge()
			n++
		}
	}
	if n != 1 {
		return measure.Merge{}
	}
	return found
}

// metrics returns the metrics that the view asks for and that any of its streams has.
func (v *view) metrics() map[metricID]measure.Metric {
	all := map[metricID]measure.Metric{}
	for _, metrics := range v.tools {
		maps.Copy(all, metrics)
	}
	return all
}

// counted is a view of the counts behind the ratios of another one.
type counted struct {
	*view
	has         map[streamID]bool // streams with counts; of the others the ratios are in the view
	over, under metricID
}

// countsOf makes a view of the counts behind ratios, of the streams that open says.
func (k *keeper) countsOf(v *view, how measure.Merge, open func(streamID) bool) *counted {
	k.memory.RLock()
	defer k.memory.RUnlock()
	sub := *v
	c := &counted{view: &sub, has: map[streamID]bool{}}
	over, one := k.names.byName[how.Over]
	under, two := k.names.byName[how.Under]
	c.over, c.under = over, under
	c.ids, c.series, c.of = nil, nil, nil
	c.wanted = map[metricID]bool{over: one, under: two}
	for ratio := range v.metrics() {
		c.wanted[ratio] = true
	}
	for _, id := range v.ids {
		if !open(id) {
			continue
		}
		has := func(m metricID, known bool) bool {
			return known && slices.ContainsFunc(k.names.stream(id).latest, func(l latestValue) bool { return l.metric == m })
		}
		if c.ids = append(c.ids, id); has(over, one) && has(under, two) {
			c.has[id] = true
			c.series = append(c.series, id.series(over), id.series(under))
			continue
		}
		for ratio := range v.metrics() {
			if has(ratio, true) {
				c.series = append(c.series, id.series(ratio))
			}
		}
	}
	slices.Sort(c.series)
	return c
}

// gather adds the counts in pieces of [from, to) to the shares that at returns, which is nil for times that nothing is asked of.
func (c *counted) gather(ctx context.Context, k *keeper, t *tx, done progress, from, to int64, pieces []piece,
	at func(streamID, int64) *share) error {
	add := func(id streamID, ns int64, m metricID, n uint64, sum float64) {
		if !c.view.has(id) {
			return
		}
		s := at(id, ns)
		switch {
		case s == nil:
		case !c.has[id] && m != c.over && m != c.under:
			s.alone += sum
			s.uncounted += n
		case c.has[id] && m == c.over:
			s.over += sum
		case c.has[id] && m == c.under:
			s.under += sum
		}
	}
	err := c.inMemory(done, from, to, func(id streamID, r run) {
		for _, x := range c.only(r).values {
			add(id, r.time, x.metric, 1, x.value)
		}
	})
	for _, p := range pieces {
		if err != nil {
			return err
		}
		if p.level == pointsLevel {
			err = k.eachPoint(ctx, t, c.view, p, func(id streamID, ns int64, x value) { add(id, ns, x.metric, 1, x.value) })
			continue
		}
		err = k.eachRollup(ctx, t, c.view, p, func(id streamID, ns int64, m metricID, sketch []byte) error {
			n, sum, err := bucketTotals(sketch)
			add(id, ns, m, n, sum)
			return err
		})
	}
	return err
}
