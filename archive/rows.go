package archive

import (
	"cmp"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// rowMaker makes rows of points and rollups of runs: what the rules keep of them. It keeps its memory from one stream
// to the next, and belongs to one goroutine.
type rowMaker struct {
	keeps  func(tool string, metric measure.Metric) Rule
	names  []measure.Metric // by number
	pruned int64            // when Prune was called last: what had expired then is not written, or nothing would delete it

	times  []int64 // of one metric
	values []float64
	bins   []int32
}

func (k *keeper) newRowMaker(names []measure.Metric) *rowMaker {
	return &rowMaker{keeps: k.keepsSeries, names: names, pruned: k.pruned}
}

// expired is the time before which something that is kept for so long was gone when Prune was called last.
func (m *rowMaker) expired(kept time.Duration) int64 {
	if m.pruned == 0 && kept != Never {
		return beginning
	}
	return expiry(m.pruned, kept)
}

// points appends the rows of points of one stream, of which the runs are in order of time.
func (m *rowMaker) points(rows []pointsRow, generation int64, id streamID, tool string, runs []run) []pointsRow {
	since := map[metricID]int64{} // from when on its points are kept, if that is not for all
	for _, metric := range metricsOf(runs) {
		if before := m.expired(m.keeps(tool, m.names[metric]).Points); before > runs[0].time {
			since[metric] = before
		}
	}
	failures := m.expired(m.keeps(tool, "").Points)
	for part := range bySlot(runs) {
		if len(since) > 0 || failures > part[0].time {
			if part = keptOf(part, since, failures); len(part) == 0 {
				continue
			}
		}
		rows = append(rows, pointsRow{slotOf(part[0].time), id, generation, appendPoints(nil, part)})
	}
	return rows
}

// keptOf returns what is kept of runs: values from a time of each metric on, and failed runs from another on.
func keptOf(runs []run, since map[metricID]int64, failures int64) []run {
	var kept []run
	for _, r := range runs {
		values := slices.DeleteFunc(slices.Clone(r.values), func(v value) bool { return r.time < since[v.metric] })
		if len(values) > 0 || len(r.values) == 0 && r.time >= failures {
			kept = append(kept, run{r.time, values})
		}
	}
	return kept
}

// bySlot goes through the parts of runs, which are in order of time, that lie in one slot.
func bySlot(runs []run) func(yield func([]run) bool) {
	return func(yield func([]run) bool) {
		for len(runs) > 0 {
			n := 1
			for n < len(runs) && slotOf(runs[n].time) == slotOf(runs[0].time) {
				n++
			}
			if !yield(runs[:n]) {
				return
			}
			runs = runs[n:]
		}
	}
}

// rollups appends the rows of rollups of one stream, of which the runs are in order of time.
func (m *rowMaker) rollups(rows []rollupRow, id streamID, tool string, runs []run) []rollupRow {
	var shared [len(Levels)][]openRow
	for _, metric := range metricsOf(runs) {
		m.column(runs, metric)
		kept := m.keeps(tool, m.names[metric])
		for level := range Levels {
			first, _ := slices.BinarySearch(m.times, m.expired(kept.Rollups[level]))
			roll(level, metric, m.times[first:], m.values[first:], m.bins[first:], func(start int64, buckets []bucket) {
				if packed[level] {
					shared[level] = addToRow(shared[level], start, buckets)
				} else {
					rows = append(rows, rollupRow{rollupKey{level, start, id.series(metric)}, appendBuckets(nil, buckets), false})
				}
			})
		}
	}
	for level, open := range shared {
		for _, r := range open {
			rows = append(rows, rollupRow{rollupKey{level, r.start, id.rowOf(level, 0)}, r.data, false})
		}
	}
	return rows
}

// column takes one metric out of runs.
func (m *rowMaker) column(runs []run, metric metricID) {
	m.times, m.values, m.bins = m.times[:0], m.values[:0], m.bins[:0]
	for _, r := range runs {
		if v, has := r.get(metric); has {
			m.times, m.values, m.bins = append(m.times, r.time), append(m.values, v), append(m.bins, stat.SketchBin(v))
		}
	}
}

// openRow is a row of all metrics to which more are to come.
type openRow struct {
	start int64
	data  []byte
	last  int // number of its last bucket
}

func addToRow(rows []openRow, start int64, buckets []bucket) []openRow {
	at, found := slices.BinarySearchFunc(rows, start, func(r openRow, start int64) int {
		return cmp.Compare(r.start,
			start)
	})
	if !found {
		return slices.Insert(rows, at, openRow{start, appendBuckets(make([]byte, 0, 2048), buckets),
			buckets[len(buckets)-1].number})
	}
	r := &rows[at]
	r.data, r.last = appendMoreBuckets(r.data, buckets, r.last)
	return rows
}
