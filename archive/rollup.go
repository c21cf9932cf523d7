package archive

import (
	"encoding/binary"
	"time"

	"github.com/pathwise-net/pathwise/stat"
)

// The rollups of one level are kept in rows of neighbouring buckets, so that a row is some hundred bytes to a few kB:
// few enough rows to write and to draw a year from, small enough ones to write again when a value comes late. Fine
// levels are drawn for hours and days, and written most: a row of theirs holds all metrics of a stream. Coarse ones are
// drawn for years: a row of theirs holds one metric.
//
//	0x01  (number  length  sketch)...      number: metric * buckets in a row + bucket; the first, then the distance from
//	                                       the last. In rows of one metric it is 0
const rollupVersion = 0x01

// chunkSpans is how much time one row holds at each of the Levels, and packed whether it holds all metrics.
var (
	chunkSpans = [len(Levels)]time.Duration{10 * time.Minute, 30 * time.Minute, 24 * time.Hour, 8 * 24 * time.Hour}
	packed     = [len(Levels)]bool{true, true, false, false}
)

// rollupKey names a row. start is in seconds since 1970, a multiple of the level's chunk span; series is of metric 0
// where the row holds all metrics.
type rollupKey struct {
	level  int // index into Levels
	start  int64
	series seriesID
}

// rowOf is the series in the key of the row that holds a metric at a level.
func (s streamID) rowOf(level int, m metricID) seriesID {
	if packed[level] {
		return s.series(0)
	}
	return s.series(m)
}

// chunkStart is the start of the row in which a time (ns) lies, in seconds.
func chunkStart(level int, ns int64) int64 {
	return floorDiv(ns, int64(chunkSpans[level])) * int64(chunkSpans[level]/time.Second)
}

func bucketsIn(level int) int { return int(chunkSpans[level] / Levels[level]) }

// numberOf is the number of the bucket of a metric in which a time lies, in its row.
func numberOf(level int, m metricID, ns int64) int {
	span, step := int64(chunkSpans[level]), int64(Levels[level])
	bucket := int((ns - floorDiv(ns, span)*span) / step)
	if packed[level] {
		return int(m)*bucketsIn(level) + bucket
	}
	return bucket
}

// metric is which metric the bucket of a number belongs to, in a row of this key.
func (k rollupKey) metric(number int) metricID {
	if packed[k.level] {
		return metricID(number / bucketsIn(k.level))
	}
	_, m := k.series.split()
	return m
}

// begins is when the bucket of a number begins, in ns.
func (k rollupKey) begins(number int) int64 {
	return k.start*int64(time.Second) + int64(number%bucketsIn(k.level))*int64(Levels[k.level])
}

// mostNumbers is above every number in a row of a level.
func mostNumbers(level int) int {
	if packed[level] {
		return bucketsIn(level) << 16
	}
	return bucketsIn(level)
}

// newestRows is the start of the newest row of each level, by any series.
type newestRows [len(Levels)]int64

func (n *newestRows) note(rows []rollupRow) {
	for i := range rows {
		n[rows[i].level] = max(n[rows[i].level], rows[i].start)
	}
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

// decodeBuckets appends the buckets of a row to buckets; they share its memory. The sketches are not looked into.
func decodeBuckets(buckets []bucket, data []byte, level int) ([]bucket, error) {
	r := reader{data: data}
	if r.uint(256) != rollupVersion {
		return nil, errDamaged
	}
	number, before := 0, -1
	for len(r.data) > 0 {
		number += int(r.uint(uint64(mostNumbers(level))))
		sketch := r.take(r.uint(uint64(len(r.data)) + 1))
		if r.err != nil || number <= before || number >= mostNumbers(level) {
			return nil, errDamaged
		}
		buckets, before = append(buckets, bucket{number, sketch}), number
	}
	return buckets, r.err
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
