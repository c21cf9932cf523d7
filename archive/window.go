package archive

import (
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// window is the buckets of an answer in the making.
type window struct {
	from, to, step int64 // ns; step 0: one bucket
	sums           map[int64]*sum
	last           *sum
	lastAt         int64
	shares         map[int64]*share // of buckets with ratios whose counts are needed
}

func newWindow(q SeriesQuery, step time.Duration) *window {
	w := &window{from: unixNano(q.From), to: unixNano(q.To), step: int64(step), sums: map[int64]*sum{}}
	if step > 0 {
		w.from = floorDiv(w.from, w.step) * w.step
		w.to = floorDiv(w.to+w.step-1, w.step) * w.step
	}
	return w
}

// start is when the bucket begins that a time lies in.
func (w *window) start(ns int64) int64 {
	if w.step > 0 {
		return floorDiv(ns, w.step) * w.step
	}
	return w.from
}

// into is the sum of the bucket that a time lies in, of all streams.
func (w *window) into(_ streamID, ns int64) *sum {
	start := w.start(ns)
	if w.last != nil && w.lastAt == start {
		return w.last
	}
	s := w.sums[start]
	if s == nil {
		s = new(sum)
		w.sums[start] = s
	}
	w.last, w.lastAt = s, start
	return s
}

// open finds the buckets that need counts, and says whether there are any.
func (w *window) open(how measure.Merge) bool {
	w.shares = map[int64]*share{}
	if how.How != measure.MergeShare {
		return false
	}
	for start, s := range w.sums {
		if _, known := s.settle().merged(how); !known {
			w.shares[start] = new(share)
		}
	}
	return len(w.shares) > 0
}

// share is that of the bucket that a time lies in; nil: it needs none.
func (w *window) share(_ streamID, ns int64) *share { return w.shares[w.start(ns)] }

func (w *window) buckets(quantiles []float64, how measure.Merge) []Bucket {
	all := make([]Bucket, 0, len(w.sums))
	for start, s := range w.sums {
		if s.count() == 0 { // runs that say samples, and not the metric
			continue
		}
		e := s.settle()
		b := Bucket{Start: time.Unix(0, start).UTC(), Count: e.values.Count(), Samples: e.known,
			Min: e.values.Min(), Mean: e.values.Mean(), Max: e.values.Max()}
		var known bool
		if b.Value, known = e.merged(how); !known {
			b.Value = w.shares[start].value(e.values)
		}
		for _, q := range quantiles {
			b.Quantiles = append(b.Quantiles, e.values.Quantile(q))
		}
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b Bucket) int { return a.Start.Compare(b.Start) })
	return all
}
