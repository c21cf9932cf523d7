package archive

import (
	"encoding/binary"
	"math"

	"github.com/pathwise-net/pathwise/stat"
)

// A row of a rollup:
//
//	0x01  (number  length  sketch)...      number: metric * buckets in a row + bucket; the first, then the distance from
//	                                       the last. In rows of one metric it is 0
//
// In place of a sketch, which is of values of runs that do not say their samples, there may be
//
//	0x20 runs sketch      samples of so many runs: of a distribution
//	0x21 sketch           values of runs that say their samples
//	0x22 sketch sketch    values of such runs, and of others
const (
	rollupVersion = 0x01
	bucketSamples = 0x20 // with what no sketch begins
	bucketSaid    = 0x21
	bucketBoth    = 0x22
)

// appendRuns begins a bucket of a distribution of so many runs.
func appendRuns(b []byte, runs uint64) []byte {
	return binary.AppendUvarint(append(b, bucketSamples), runs)
}

// contents are what is in a bucket. The zero value is empty.
type contents struct {
	values  stat.Sketch // of runs that do not say their samples
	said    stat.Sketch // of the others
	samples stat.Sketch
	runs    uint64 // of which samples are
}

// read reads a bucket, in place of what was there.
func (c *contents) read(data []byte) error {
	c.reset()
	return c.merge(data, nil)
}

// reset empties c and keeps its memory.
func (c *contents) reset() {
	c.values.Reset()
	c.said.Reset()
	c.samples.Reset()
	c.runs = 0
}

// merge adds a bucket as it is written. one is to read it with; nil where c is empty. After an error c is of no use.
func (c *contents) merge(data []byte, one *stat.Sketch) (err error) {
	kind := byte(0)
	if len(data) > 0 {
		kind = data[0]
	}
	switch kind {
	case bucketSamples:
		r := reader{data: data[1:]}
		runs := r.uint(math.MaxInt64)
		if runs == 0 || r.err != nil {
			return errDamaged
		}
		c.runs += runs
		data, err = mergeSketch(&c.samples, r.data, one)
	case bucketSaid, bucketBoth:
		data, err = mergeSketch(&c.said, data[1:], one)
		if err == nil && kind == bucketBoth {
			data, err = mergeSketch(&c.values, data, one)
		}
	default:
		data, err = mergeSketch(&c.values, data, one)
	}
	if err == nil && len(data) > 0 {
		err = errDamaged
	}
	return err
}

// mergeSketch adds to s what data begins with, and returns what comes after it. one is to read it with where s is not empty.
func mergeSketch(s *stat.Sketch, data []byte, one *stat.Sketch) (rest []byte, err error) {
	if s.Count() == 0 { // as always where the step is the level
		return s.DecodeBinary(data)
	}
	if rest, err = one.DecodeBinary(data); err == nil {
		s.Merge(one)
	}
	return rest, err
}

// append writes a bucket.
func (c *contents) append(b []byte) []byte {
	switch {
	case c.runs > 0:
		return c.samples.AppendBinary(appendRuns(b, c.runs))
	case c.said.Count() == 0:
		return c.values.AppendBinary(b)
	case c.values.Count() == 0:
		return c.said.AppendBinary(append(b, bucketSaid))
	}
	return c.values.AppendBinary(c.said.AppendBinary(append(b, bucketBoth)))
}

// bucketTotals returns how many runs are in a bucket, and the sum of the values where they are numbers.
func bucketTotals(data []byte) (runs uint64, sum float64, err error) {
	if len(data) == 0 || data[0] < bucketSamples {
		return stat.SketchTotals(data)
	}
	if data[0] == bucketSaid {
		return stat.SketchTotals(data[1:])
	}
	var c contents
	err = c.read(data)
	return c.runs + c.values.Count() + c.said.Count(), c.values.Sum() + c.said.Sum(), err
}

// bucket is one step of a rollup, as it is written.
type bucket struct {
	number int // in its row
	sketch []byte
}

// appendBuckets writes a row of buckets in ascending order.
func appendBuckets(b []byte, buckets []bucket) []byte {
	b, _ = appendMoreBuckets(append(b, rollupVersion), buckets, 0)
	return b
}

// appendMoreBuckets continues a row after the bucket of number last, and returns the number of its new last one.
func appendMoreBuckets(b []byte, buckets []bucket, last int) ([]byte, int) {
	for _, k := range buckets {
		b = binary.AppendUvarint(b, uint64(k.number-last))
		b = binary.AppendUvarint(b, uint64(len(k.sketch)))
		b, last = append(b, k.sketch...), k.number
	}
	return b, last
}

// decodeBuckets appends the buckets of a row to buckets; they share its memory.
func decodeBuckets(buckets []bucket, data []byte, level int) ([]bucket, error) {
	err := eachBucket(data, level, func(b bucket) error {
		buckets = append(buckets, b)
		return nil
	})
	return buckets, err
}

// eachBucket calls f for the buckets of a row, until it returns an error. The sketches are not looked into.
func eachBucket(data []byte, level int, f func(bucket) error) error {
	r := reader{data: data}
	if r.uint(256) != rollupVersion {
		return errDamaged
	}
	most := mostNumbers(level)
	number, before := 0, -1
	for len(r.data) > 0 {
		number += int(r.uint(uint64(most)))
		sketch := r.take(r.uint(uint64(len(r.data)) + 1))
		if r.err != nil || number <= before || number >= most {
			return errDamaged
		}
		if err := f(bucket{number, sketch}); err != nil {
			return err
		}
		before = number
	}
	return r.err
}

// blender merges rows. It keeps its memory from one to the next.
type blender struct {
	old, out []bucket
	added    []bucket
	sum      contents
	one      stat.Sketch
	bytes    []byte
}

// add returns the row that holds what is in two rows of one key.
func (m *blender) add(level int, old, fresh []byte) (both []byte, err error) {
	if m.old, err = decodeBuckets(m.old[:0], old, level); err != nil {
		return nil, err
	}
	if m.added, err = decodeBuckets(m.added[:0], fresh, level); err != nil {
		return nil, err
	}
	was, added := m.old, m.added
	m.out, m.bytes = m.out[:0], m.bytes[:0]
	for len(was) > 0 && len(added) > 0 {
		switch {
		case was[0].number < added[0].number:
			m.out, was = append(m.out, was[0]), was[1:]
		case was[0].number > added[0].number:
			m.out, added = append(m.out, added[0]), added[1:]
		default:
			both, err := m.both(was[0].sketch, added[0].sketch)
			if err != nil {
				return nil, err
			}
			m.out = append(m.out, bucket{was[0].number, both})
			was, added = was[1:], added[1:]
		}
	}
	m.out = append(append(m.out, was...), added...)
	return appendBuckets(make([]byte, 0, len(old)+len(fresh)), m.out), nil
}

// both merges two buckets as they are written.
func (m *blender) both(a, b []byte) ([]byte, error) {
	if err := m.sum.read(a); err != nil {
		return nil, err
	}
	samples := m.sum.runs > 0
	if err := m.sum.merge(b, &m.one); err != nil {
		return nil, err
	}
	if samples != (b[0] == bucketSamples) {
		return nil, errDamaged
	}
	start := len(m.bytes)
	m.bytes = m.sum.append(m.bytes)
	return m.bytes[start:len(m.bytes):len(m.bytes)], nil
}

// roll sorts the runs of one metric, which are in order of time, into the buckets of a level, and calls each for those of every row.
// They are good until each returns. write appends a bucket of the runs from one up to another.
func roll(level int, m metricID, times []int64, write func(b []byte, from, to int) []byte, each func(start int64, buckets []bucket)) {
	var (
		buckets []bucket
		bytes   []byte
	)
	for i := 0; i < len(times); {
		start, number := chunkStart(level, times[i]), numberOf(level, m, times[i])
		next := (floorDiv(times[i], int64(Levels[level])) + 1) * int64(Levels[level])
		from, first := len(bytes), i
		for i++; i < len(times) && times[i] < next; i++ {
		}
		bytes = write(bytes, first, i)
		buckets = append(buckets, bucket{number, bytes[from:len(bytes):len(bytes)]})
		if i == len(times) || chunkStart(level, times[i]) != start {
			each(start, buckets)
			buckets, bytes = buckets[:0], bytes[:0]
		}
	}
}
