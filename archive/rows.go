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

	of map[metricID]metricID // distributions that metrics are of

	times    []int64 // of one metric
	values   []float64
	bins     []int32
	said     []bool   // whether the run says the samples that the metric is of
	sketches [][]byte // of one distribution

	sum contents
	one stat.Sketch
}

func (k *keeper) newRowMaker(names []measure.Metric) *rowMaker {
	return &rowMaker{keeps: k.keepsSeries, names: names, pruned: k.pruned, of: sampledBy(names)}
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
		rows = appendPointsRows(rows, generation, id, part)
	}
	return rows
}

// mostPointsBytes keeps a row within what SQLite has room for in a page beside others: of 8 kB, a quarter. A larger one gets pages of
// its own, of which most would be empty.
const mostPointsBytes = 1900

// pieceOf is the generation of a piece of a row, a number of its own: generations are one every some minutes.
func pieceOf(generation, piece int64) int64 { return generation + piece<<40 }

// appendPointsRows appends the rows of runs of one slot: more than one where they are large.
func appendPointsRows(rows []pointsRow, generation int64, id streamID, runs []run) []pointsRow {
	data := appendPoints(nil, runs)
	together := max(1, len(runs)*mostPointsBytes/len(data))
	if together >= len(runs) {
		return append(rows, pointsRow{slotOf(runs[0].time), id, generation, data})
	}
	for piece, from := int64(0), 0; from < len(runs); piece, from = piece+1, from+together {
		part := runs[from:min(from+together, len(runs))]
		rows = append(rows, pointsRow{slotOf(part[0].time), id, pieceOf(generation, piece), appendPoints(nil, part)})
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
		_, distribution := samplesOf(m.names[metric])
		for level := range Levels {
			first, _ := slices.BinarySearch(m.times, m.expired(kept.Rollups[level]))
			roll(level, metric, m.times[first:], func(b []byte, from, to int) []byte {
				return m.appendBucket(b, first+from, first+to)
			}, func(start int64, buckets []bucket) {
				if packed[level] && (!distribution || fitsIn(shared[level], start, buckets)) {
					shared[level] = addToRow(shared[level], start, buckets)
				} else {
					rows = append(rows, rollupRow{rollupKey{level, start, id.rowOf(level, metric, distribution)}, appendBuckets(nil, buckets), false})
				}
			})
		}
	}
	for level, open := range shared {
		for _, r := range open {
			rows = append(rows, rollupRow{rollupKey{level, r.start, id.rowOf(level, 0, false)}, r.data, false})
		}
	}
	return rows
}

// column takes one metric, or distribution, out of runs.
func (m *rowMaker) column(runs []run, metric metricID) {
	m.times, m.values, m.bins, m.said, m.sketches = m.times[:0], m.values[:0], m.bins[:0], m.said[:0], m.sketches[:0]
	d, sampled := m.of[metric]
	for _, r := range runs {
		v, has := r.find(metric)
		if !has {
			continue
		}
		m.times = append(m.times, r.time)
		if v.sketch != nil {
			m.sketches = append(m.sketches, v.sketch)
			continue
		}
		said := false
		if sampled {
			_, said = r.find(d)
		}
		m.values, m.bins, m.said = append(m.values, v.value), append(m.bins, stat.SketchBin(v.value)), append(m.said, said)
	}
}

// appendBucket writes the values of a part of the column.
func (m *rowMaker) appendBucket(b []byte, from, to int) []byte {
	if len(m.sketches) > 0 {
		return m.appendSamples(b, from, to)
	}
	if to == from+1 { // as in most of the finest buckets
		if m.said[from] {
			b = append(b, bucketSaid)
		}
		return stat.AppendSketchOf(b, m.values[from])
	}
	m.sum.values.Reset()
	m.sum.said.Reset()
	for i := from; i < to; i++ {
		if m.said[i] {
			m.sum.said.AddBin(m.values[i], m.bins[i])
		} else {
			m.sum.values.AddBin(m.values[i], m.bins[i])
		}
	}
	m.sum.runs = 0
	return m.sum.append(b)
}

// appendSamples writes the distributions of a part of the column, merged.
func (m *rowMaker) appendSamples(b []byte, from, to int) []byte {
	if to == from+1 {
		return append(appendRuns(b, 1), m.sketches[from]...)
	}
	m.sum.samples.Reset()
	for _, sketch := range m.sketches[from:to] {
		_, _ = mergeSketch(&m.sum.samples, sketch, &m.one) // of what was filed none is damaged
	}
	m.sum.runs = uint64(to - from)
	return m.sum.append(b)
}

// mostSharedBytes is how large a row of all metrics may become by a distribution: a third of what a page has room for, since the row that
// is written longest is added to that often.
const mostSharedBytes = mostPointsBytes / 3

// fitsIn tells whether the row of a start has room for the buckets of a distribution.
func fitsIn(rows []openRow, start int64, buckets []bucket) bool {
	size := 0
	if at, found := findRow(rows, start); found {
		size = len(rows[at].data)
	}
	for _, b := range buckets {
		size += len(b.sketch)
	}
	return size <= mostSharedBytes
}

// openRow is a row of all metrics to which more are to come.
type openRow struct {
	start int64
	data  []byte
	last  int // number of its last bucket
}

func findRow(rows []openRow, start int64) (at int, found bool) {
	return slices.BinarySearchFunc(rows, start, func(r openRow, start int64) int { return cmp.Compare(r.start, start) })
}

func addToRow(rows []openRow, start int64, buckets []bucket) []openRow {
	at, found := findRow(rows, start)
	if !found {
		return slices.Insert(rows, at, openRow{start, appendBuckets(make([]byte, 0, 2048), buckets),
			buckets[len(buckets)-1].number})
	}
	r := &rows[at]
	r.data, r.last = appendMoreBuckets(r.data, buckets, r.last)
	return rows
}
