package archive

import (
	"encoding/binary"

	"github.com/pathwise-net/pathwise/stat"
)

// A row of a rollup:
//
//	0x01  (number  length  sketch)...      number: metric * buckets in a row + bucket; the first, then the distance from
//	                                       the last. In rows of one metric it is 0
const rollupVersion = 0x01

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
	old, out   []bucket
	added      []bucket
	mine, ours stat.Sketch
	bytes      []byte
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

// both merges two sketches as they are written.
func (m *blender) both(a, b []byte) ([]byte, error) {
	if _, err := m.mine.DecodeBinary(a); err != nil {
		return nil, err
	}
	if _, err := m.ours.DecodeBinary(b); err != nil {
		return nil, err
	}
	m.mine.Merge(&m.ours)
	start := len(m.bytes)
	m.bytes = m.mine.AppendBinary(m.bytes)
	return m.bytes[start:len(m.bytes):len(m.bytes)], nil
}

// roll sorts the values of one metric, which are in order of time, into the buckets of a level, and calls each for
// those of every row. They are good until each returns.
func roll(level int, m metricID, times []int64, values []float64, bins []int32, each func(start int64,
	buckets []bucket)) {
	var (
		sketch  stat.Sketch
		buckets []bucket
		bytes   []byte
	)
	for i := 0; i < len(times); {
		start, number := chunkStart(level, times[i]), numberOf(level, m, times[i])
		next := (floorDiv(times[i], int64(Levels[level])) + 1) * int64(Levels[level])
		from, first := len(bytes), i
		for i++; i < len(times) && times[i] < next; i++ {
			if i == first+1 {
				sketch.Reset()
				sketch.AddBin(values[first], bins[first])
			}
			sketch.AddBin(values[i], bins[i])
		}
		if i == first+1 { // as in most of the finest buckets
			bytes = stat.AppendSketchOf(bytes, values[first])
		} else {
			bytes = sketch.AppendBinary(bytes)
		}
		buckets = append(buckets, bucket{number, bytes[from:len(bytes):len(bytes)]})
		if i == len(times) || chunkStart(level, times[i]) != start {
			each(start, buckets)
			buckets, bytes = buckets[:0], bytes[:0]
		}
	}
}
