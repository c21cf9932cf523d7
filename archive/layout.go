package archive

import "time"

// The rollups of one level are kept in rows of neighbouring buckets, so that a row is some hundred bytes to some kB:
// few enough rows to write and to draw a year from, small enough ones to write again when a value comes late. How rows
// are made up depends on who reads them; what one looks like stands in rollup.go.
//
//	                     one stream, later ->                 many streams, one after the other
//	                    +-----------------------+            +---------+
//	all its metrics     | 1 min, 5 min          | hours      |         |
//	                    +-----------------------+            |         |
//	one metric          | 1 h, 1 d              | years      | 5 min.. | a look at all pairs at once
//	                    +-----------------------+            +---------+
//
// Fine levels of a stream are drawn for hours and days, and written most: a row of theirs holds all metrics. Coarse
// ones are drawn for years: a row of theirs holds one metric. Rows across streams hold what is written there once more:
// who asks for one hour of 39,800 pairs reads some hundred of them, and not 39,800 of which each holds a day.
type layout struct {
	level int           // index into Levels
	span  time.Duration // how much time a row holds
	holds content
}

type content byte

const (
	allMetrics  content = iota // of one stream
	oneMetric                  // of one stream
	manyStreams                // of one metric, acrossStreams of them
)

// layouts are all there are. The number of one is what the tables call level: for the first ones, which are of one
// stream, that of the level indeed.
var layouts = [...]layout{
	{0, 10 * time.Minute, allMetrics},
	{1, 30 * time.Minute, allMetrics},
	{2, 24 * time.Hour, oneMetric},
	{3, 8 * 24 * time.Hour, oneMetric},
	{1, time.Hour, manyStreams},
	{2, time.Hour, manyStreams},
	{3, 24 * time.Hour, manyStreams},
}

const numLayouts = len(layouts)

// acrossStreams is how many neighbouring streams share a row: it is a few kB then. Steps of moving must not part them.
const acrossStreams = 64

// across is the layout of rows across streams of each level; 0: it has none. Finer than 5 minutes they would take half
// as much space again as all else.
var across = [len(Levels)]int{0, 4, 5, 6}

// step is how long a bucket is.
func (l layout) step() time.Duration { return Levels[l.level] }

// buckets is how many buckets of one metric of one stream a row has.
func (l layout) buckets() int { return int(l.span / l.step()) }

// group is the number of the row across streams that a stream is in.
func (s streamID) group() int64 { return int64(s) / acrossStreams }

// rollupKey names a row. start is in seconds since 1970, a multiple of the layout's span. series is that whose row it
// is, with metric 0 where it holds all of them; in rows across streams the number of the group stands for the stream,
// and so all rows of a group and start, which are written together, are neighbours.
type rollupKey struct {
	layout int // index into layouts
	start  int64
	series seriesID
}

// rowOf is the series in the key of the row that holds a metric in a layout.
func (s streamID) rowOf(layout int, m metricID) seriesID {
	switch layouts[layout].holds {
	case allMetrics:
		return s.series(0)
	case manyStreams:
		return groupRow(m, s.group())
	}
	return s.series(m)
}

// groupRow is the series in the key of a row across streams.
func groupRow(m metricID, group int64) seriesID { return streamID(group).series(m) }

// chunkStart is the start of the row in which a time (ns) lies, in seconds.
func chunkStart(layout int, ns int64) int64 {
	span := layouts[layout].span
	return floorDiv(ns, int64(span)) * int64(span/time.Second)
}

// numberOf is the number of the bucket in which a time lies, in the row of its metric and stream. Those of one bucket
// are neighbours in rows across streams, those of one metric in rows of all metrics.
func numberOf(layout int, s streamID, m metricID, ns int64) int {
	l := layouts[layout]
	bucket := int((ns - floorDiv(ns, int64(l.span))*int64(l.span)) / int64(l.step()))
	switch l.holds {
	case allMetrics:
		return int(m)*l.buckets() + bucket
	case manyStreams:
		return bucket*acrossStreams + int(s%acrossStreams)
	}
	return bucket
}

// metric is which metric the bucket of a number belongs to, in a row of this key.
func (k rollupKey) metric(number int) metricID {
	if l := layouts[k.layout]; l.holds == allMetrics {
		return metricID(number / l.buckets())
	}
	_, m := k.series.split()
	return m
}

// stream is which stream the bucket of a number belongs to.
func (k rollupKey) stream(number int) streamID {
	s, _ := k.series.split()
	if layouts[k.layout].holds == manyStreams {
		return s*acrossStreams + streamID(number%acrossStreams)
	}
	return s
}

// begins is when the bucket of a number begins, in ns.
func (k rollupKey) begins(number int) int64 {
	l := layouts[k.layout]
	if l.holds == manyStreams {
		number /= acrossStreams
	}
	return k.start*int64(time.Second) + int64(number%l.buckets())*int64(l.step())
}

// mostNumbers is above every number in a row.
func mostNumbers(layout int) int {
	switch l := layouts[layout]; l.holds {
	case allMetrics:
		return l.buckets() << 16
	case manyStreams:
		return l.buckets() * acrossStreams
	default:
		return l.buckets()
	}
}

// newestRows is the start of the newest row of each layout, by any series.
type newestRows [numLayouts]int64

func (n *newestRows) note(rows []rollupRow) {
	for i := range rows {
		n[rows[i].layout] = max(n[rows[i].layout], rows[i].start)
	}
}
