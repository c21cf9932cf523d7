package archive

import "time"

// The rollups of one level are kept in rows of neighbouring buckets, so that a row is some hundred bytes to a few kB:
// few enough rows to write and to draw a year from, small enough ones to write again when a value comes late.
//
//	level   a row holds                       rows stand in order of
//	1 min   10 minutes  of all metrics        start, stream
//	5 min   30 minutes  of a stream           start, stream
//	1 h     24 hours    of one metric         start, metric, stream
//	1 d     8 days      of a stream           start, metric, stream
//
// Fine levels are drawn for hours and days of one pair, and written most. Coarse ones are drawn for years of one pair,
// which is a row here and there, and for a look at all pairs at once, which is one metric: its rows are neighbours.
var (
	chunkSpans = [len(Levels)]time.Duration{10 * time.Minute, 30 * time.Minute, 24 * time.Hour, 8 * 24 * time.Hour}
	packed     = [len(Levels)]bool{true, true, false, false} // all metrics
)

// rollupKey names a row. start is in seconds since 1970, a multiple of the level's chunk span; series is of metric 0
// where the row holds all metrics.
type rollupKey struct {
	level  int // index into Levels
	start  int64
	series seriesID
}

// rowOf is the series in the key of the row that holds a metric at a level, or a distribution by itself. A distribution is in the row of
// all metrics where it is small, as of a few runs, and has a row of its own where it would make that too large for a page. One and the same
// may be in both, since what comes later is larger or smaller: what there is of it is in the two together.
func (s streamID) rowOf(level int, m metricID, distribution bool) seriesID {
	if packed[level] && !distribution {
		return s.series(0)
	}
	return s.series(m)
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

// chunkStart is the start of the row in which a time (ns) lies, in seconds.
func chunkStart(level int, ns int64) int64 {
	return floorDiv(ns, int64(chunkSpans[level])) * int64(chunkSpans[level]/time.Second)
}

// bucketsIn is how many buckets of one metric a row has.
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
