package archive

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/pathwise-net/pathwise/stat"
)

// run is the numbers of one Result: what remains of it in journal, points and rollups. One without values failed.
type run struct {
	time   int64 // ns since 1970
	values []value
}

// value is one metric of a run. A run has its values in ascending order of metrics.
type value struct {
	metric metricID
	value  float64
	sketch []byte // of a distribution, as it is written; nil: it is a number
}

func (r run) get(m metricID) (float64, bool) {
	v, has := r.find(m)
	return v.value, has
}

func (r run) find(m metricID) (value, bool) {
	for _, v := range r.values {
		if v.metric == m {
			return v, true
		}
	}
	return value{}, false
}

// sketchFollows stands where a number has how many bytes it takes, which are 8 at most.
const sketchFollows = 9

// appendRun writes one line of a journal: stream, time, how many values, and (metric, value) each. A distribution is sketchFollows,
// its length, and its bytes.
func appendRun(b []byte, s streamID, r run) []byte {
	b = binary.AppendUvarint(b, uint64(s))
	b = binary.AppendVarint(b, r.time)
	b = binary.AppendUvarint(b, uint64(len(r.values)))
	for _, v := range r.values {
		b = binary.AppendUvarint(b, uint64(v.metric))
		if v.sketch != nil {
			b = binary.AppendUvarint(append(b, sketchFollows), uint64(len(v.sketch)))
			b = append(b, v.sketch...)
			continue
		}
		b = stat.AppendFloat(b, v.value)
	}
	return b
}

// readJournal calls each for every line of a journal, with the line itself.
func readJournal(data []byte, each func(s streamID, r run, line []byte)) error {
	r := reader{data: data}
	for len(r.data) > 0 {
		line := r.data
		s, at := streamID(r.uint(1<<47)), r.int()
		values := make([]value, r.count(2))
		for i := range values {
			values[i] = r.value(metricID(r.uint(1 << 16)))
		}
		if r.err != nil {
			return r.err
		}
		each(s, run{at, values}, line[:len(line)-len(r.data)])
	}
	return r.err
}

// readValues calls each for the values of every run in a journal that lies in [from, to), those that are wanted. They are good until
// it returns. It is readJournal for whoever asks for little of much.
func readValues(data []byte, from, to int64, wants func(metricID) bool, each func(ns int64, values []value)) error {
	r := reader{data: data}
	var values []value
	for len(r.data) > 0 {
		r.uint(1 << 47)
		at := r.int()
		inside := at >= from && at < to
		values = values[:0]
		for range r.count(2) {
			if m := metricID(r.uint(1 << 16)); inside && wants(m) {
				values = append(values, r.value(m))
			} else {
				r.passValue()
			}
		}
		if r.err != nil {
			return r.err
		}
		if len(values) > 0 {
			each(at, values)
		}
	}
	return r.err
}

// value reads a number or a distribution. Its sketch shares the memory of what is read.
func (r *reader) value(m metricID) value {
	if len(r.data) > 0 && r.data[0] == sketchFollows {
		r.data = r.data[1:]
		return value{metric: m, sketch: r.take(r.uint(uint64(len(r.data)) + 1))}
	}
	return value{metric: m, value: r.float()}
}

// passValue moves past a number or a distribution without decoding it.
func (r *reader) passValue() {
	switch {
	case len(r.data) == 0:
		r.fail()
	case r.data[0] == sketchFollows:
		r.data = r.data[1:]
		r.take(r.uint(uint64(len(r.data)) + 1))
	default:
		r.take(1 + uint64(r.data[0]))
	}
}

// pending is the runs of one generation: in the journal, and not yet moved to points and rollups. They are kept as in
// the journal, which takes a third of the memory and nothing of the garbage collector. Only the writer adds; readers
// take a stream's bytes as they are, which do not change when more are appended.
type pending struct {
	generation int64
	runs       map[streamID][]byte
	values     int
}

func newPending(generation int64) *pending {
	return &pending{generation: generation, runs: map[streamID][]byte{}}
}

// add takes a line of a journal, of which the run has so many values.
func (p *pending) add(s streamID, line []byte, values int) {
	p.runs[s] = append(p.runs[s], line...)
	p.values += 1 + values // a failed run takes space, too
}

// of returns the runs of a stream in order of time.
func (p *pending) of(s streamID) ([]run, error) {
	var runs []run
	err := readJournal(p.runs[s], func(_ streamID, r run, _ []byte) { runs = append(runs, r) })
	slices.SortStableFunc(runs, func(a, b run) int { return cmp.Compare(a.time, b.time) })
	return runs, err
}

// order returns the streams that there are in ascending order: that in which they are moved.
func (p *pending) order() []streamID {
	order := make([]streamID, 0, len(p.runs))
	for s := range p.runs {
		order = append(order, s)
	}
	slices.Sort(order)
	return order
}

// progress is how far moving has come, as the database says: generations up to moved are in points and rollups, and of
// the next one the streams up to upto.
type progress struct {
	moved int64
	upto  streamID
}

// has tells whether a stream of a generation has been moved.
func (p progress) has(generation int64, s streamID) bool {
	return generation <= p.moved || generation == p.moved+1 && s <= p.upto
}
