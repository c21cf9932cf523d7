package archive

import (
	"cmp"
	"slices"
)

// acrossMaker gathers what becomes rows across streams: the buckets of one stream after the other.
type acrossMaker struct {
	rows  map[rollupKey][]bucket
	bytes []byte // of their sketches
}

// add takes the buckets of a row of one stream and metric.
func (a *acrossMaker) add(id streamID, m metricID, level int, start int64, buckets []bucket) {
	layout := across[level]
	if layout == 0 {
		return
	}
	if a.rows == nil {
		a.rows = map[rollupKey][]bucket{}
	}
	from := rollupKey{layout: level, start: start}
	for len(buckets) > 0 {
		key := rollupKey{layout, chunkStart(layout, from.begins(buckets[0].number)), id.rowOf(layout, m)}
		row := a.rows[key]
		for len(buckets) > 0 {
			at := from.begins(buckets[0].number)
			if chunkStart(layout, at) != key.start {
				break
			}
			begin := len(a.bytes)
			a.bytes = append(a.bytes, buckets[0].sketch...)
			row = append(row, bucket{numberOf(layout, id, m, at), a.bytes[begin:len(a.bytes):len(a.bytes)]})
			buckets = buckets[1:]
		}
		a.rows[key] = row
	}
}

// take appends the rows that have come together, in no order, and begins anew.
func (a *acrossMaker) take(rows []rollupRow) []rollupRow {
	for key, buckets := range a.rows {
		slices.SortFunc(buckets, func(a, b bucket) int { return cmp.Compare(a.number, b.number) })
		size := 1
		for _, b := range buckets {
			size += 4 + len(b.sketch)
		}
		rows = append(rows, rollupRow{key, appendBuckets(make([]byte, 0, size), buckets), false})
	}
	clear(a.rows)
	a.bytes = a.bytes[:0]
	return rows
}
