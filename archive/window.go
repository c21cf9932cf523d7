package archive

import (
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// window is the buckets of an answer in the making.
type window struct {
	from, to, step int64 // ns; step 0: one bucket
	sketches       map[int64]*stat.Sketch
	last           *stat.Sketch
	lastAt         int64
	shares         map[int64]*share // of buckets with ratios whose counts are needed
}

func newWindow(q SeriesQuery, step time.Duration) *window {
	w := &window{from: unixNano(q.From), to: unixNano(q.To), step: int64(step), sketches: map[int64]*stat.Sketch{}}
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

// into is the sketch of the bucket that a time lies in, of all streams.
func (w *window) into(_ streamID, ns int64) *stat.Sketch {
	start := w.start(ns)
	if w.last != nil && w.lastAt == start {
		return w.last
	}
	s := w.sketches[start]
	if s == nil {
		s = new(stat.Sketch)
		w.sketches[start] = s
	}
	w.last, w.lastAt = s, start
	return s
}

// open finds the buckets that need counts, and says whether there are any.
func (w *window) open(how measure.MergeHow) bool {
	w.shares = map[int64]*share{}
	for start, s := range w.sketches {
		if _, known := merged(how, s); !known {
			w.shares[start] = new(share)
		}
	}
	return len(w.shares) > 0
}

// share is that of the bucket that a time lies in; nil: it needs none.
func (w *window) share(_ streamID, ns int64) *share { return w.shares[w.start(ns)] }

func (w *window) buckets(quantiles []float64, how measure.MergeHow) []Bucket {
	all := make([]Bucket, 0, len(w.sketches))
	for start, s := range w.sketches {
		b := Bucket{Start: time.Unix(0, start).UTC(), Count: s.Count(), Min: s.Min(), Mean: s.Mean(), Max: s.Max()}
		var known bool
		if b.Value, known = merged(how, s); !known {
			b.Value = w.shares[start].value(s)
		}
		for _, q := range quantiles {
			b.Quantiles = append(b.Quantiles, s.Quantile(q))
		}
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b Bucket) int { return a.Start.Compare(b.Start) })
	return all
}
