package archive

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// window is the buckets of an answer in the making.
type window struct {
	from, to, step int64 // ns; step 0: one bucket
	sums           map[int64]*sum
	room           []sum // for those that come next
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
		if len(w.room) == 0 {
			w.room = make([]sum, max(1, min(len(w.sums), 64))) // in large pieces, for the garbage collector
		}
		s, w.room = &w.room[0], w.room[1:]
		w.sums[start] = s
	}
	w.last, w.lastAt = s, start
	return s
}

// filled implements sums.
func (w *window) filled(from, to int64) bool {
	if w.step == 0 { // where other pieces may bring values
		return true
	}
	for start := w.start(from); start < to; start += w.step {
		if s := w.sums[start]; s != nil && s.count() > 0 {
			return true
		}
	}
	return false
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

// share returns what is counted behind the ratio of the bucket that a time lies in; nil: that bucket needs no counts.
func (w *window) share(_ streamID, ns int64) *share { return w.shares[w.start(ns)] }

func (w *window) buckets(quantiles []float64, how measure.Merge) []Bucket {
	all := make([]Bucket, 0, len(w.sums))
	drawn := make([]float64, 0, len(w.sums)*len(quantiles)) // of all buckets in one piece, for the garbage collector
	for _, start := range slices.Sorted(maps.Keys(w.sums)) {
		s := w.sums[start]
		if s.count() == 0 { // runs that say samples, and not the metric
			continue
		}
		e := s.settle()
		b := Bucket{Start: time.Unix(0, start).UTC(), Merged: e.answer(how, w.shares[start])}
		from := len(drawn)
		if drawn, b.OfSamples = e.quantiles(drawn, quantiles, how); len(quantiles) > 0 {
			b.Quantiles = drawn[from:len(drawn):len(drawn)]
		}
		all = append(all, b)
	}
	return all
}

// pointsLevel is the level of a piece that is read value by value.
const pointsLevel = -1

// piece is a part of a span and the level that answers for it: an index into Levels, or pointsLevel.
type piece struct {
	level    int
	from, to int64 // ns since 1970
}

// pieces divides a span so that as little as possible is read for it, and nothing outside of it counts:
//
//	from                                                                      to
//	 |points|1 min|5 min|  1 h  |           1 d           |  1 h  |5 min|1 min|points|
//
// reaches tells whether a level is kept as far back as a time. Where nothing fine enough is, a part is answered by
// those coarser buckets that begin in it.
func pieces(from, to int64, reaches func(level int, since int64) bool) []piece {
	return divide(nil, from, to, len(Levels)-1, len(Levels)-1, reaches)
}

// divide appends the pieces of a span, of which level is the coarsest; coarser is the last one that was of use.
func divide(all []piece, from, to int64, level, coarser int, reaches func(int, int64) bool) []piece {
	for level > pointsLevel && from < to && !reaches(level, from) {
		level--
	}
	switch {
	case from >= to:
		return all
	case level == pointsLevel && reaches(pointsLevel, from):
		return append(all, piece{pointsLevel, from, to})
	case level == pointsLevel:
		return append(all, piece{coarser, from, to})
	}
	step := int64(Levels[level])
	first, last := floorDiv(from+step-1, step)*step, floorDiv(to, step)*step
	if first >= last {
		return divide(all, from, to, level-1, level, reaches)
	}
	all = divide(all, from, first, level-1, level, reaches)
	all = append(all, piece{level, first, last})
	return divide(all, last, to, level-1, level, reaches)
}

// pieces divides a span for what the view asks for. Before its first run and after its last one there is nothing that
// could count, so that there the span may as well end with a day; unless the database may know of more than the view.
func (k *keeper) pieces(v *view, at progress, from, to int64) []piece {
	if v.knowsAll(at) {
		if from <= v.first {
			from = max(floorDiv(from, day), floorDiv(v.first, day)) * day
		}
		if to > v.last {
			to = min(floorDiv(to+day-1, day), floorDiv(v.last, day)+1) * day
		}
	}
	return pieces(from, to, func(level int, since int64) bool { return k.reaches(v, level, since) })
}

// knowsAll tells whether what came after the view was made is still in memory, and so not in the database.
func (v *view) knowsAll(at progress) bool {
	return at.moved < v.generation && (at.moved < v.generation-1 || at.upto == 0)
}

// readProgress is how far moving has come.
func readProgress(ctx context.Context, t *tx) (progress, error) {
	state, err := readState(ctx, t)
	return progress{state["moved"], streamID(state["upto"])}, err
}
