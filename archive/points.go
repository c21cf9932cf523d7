package archive

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/stat"
)

// The points of one stream within one slot of time, moved at once, are one row, column by column: who asks for one
// metric skips the others, and a column that never changes takes as much as one value.
//
//	0x01  runs  time...           columns  column...
//	            since the slot,            metric (distance from the last)  length  body
//	            then since the last
//	body: 0x00 value               the same in every run
//	      0x01 value...            one for each run
//	      0x02 bits... value...    one for each run whose bit is set
//	      0x03 bits... (length sketch)...  of a distribution: the same
//	times in ns
const (
	pointsVersion = 0x01
	columnSame    = 0x00
	columnFull    = 0x01
	columnHoles   = 0x02
	columnSketch  = 0x03
)

// mostValues in a row: several times what is moved at once, so that damaged data cannot ask for all memory.
const mostValues = 1 << 23

// Points are sorted into slots of time, ns long: with a run a minute and a dozen metrics, one of a stream fits into a
// page.
const (
	slotSpan   = int64(20 * time.Minute)
	slotsInDay = day / slotSpan
	day        = int64(24 * time.Hour)
)

// slotOf is the number of the slot since 1970 in which a time lies.
func slotOf(ns int64) int64 { return floorDiv(ns, slotSpan) }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// appendPoints writes runs of one slot that are in order of time.
func appendPoints(b []byte, runs []run) []byte {
	b = append(b, pointsVersion)
	b = binary.AppendUvarint(b, uint64(len(runs)))
	last := slotOf(runs[0].time) * slotSpan
	for _, r := range runs {
		b = binary.AppendUvarint(b, uint64(r.time-last))
		last = r.time
	}
	metrics := metricsOf(runs)
	b = binary.AppendUvarint(b, uint64(len(metrics)))
	var body []byte
	previous := metricID(0)
	for _, m := range metrics {
		body = appendColumn(body[:0], runs, m)
		b = binary.AppendUvarint(b, uint64(m-previous))
		b = binary.AppendUvarint(b, uint64(len(body)))
		b, previous = append(b, body...), m
	}
	return b
}

// metricsOf returns the metrics of runs in ascending order.
func metricsOf(runs []run) []metricID {
	var metrics []metricID
	for i, r := range runs {
		if i > 0 && sameMetrics(r.values, runs[i-1].values) {
			continue
		}
		for _, v := range r.values {
			if at, found := slices.BinarySearch(metrics, v.metric); !found {
				metrics = slices.Insert(metrics, at, v.metric)
			}
		}
	}
	return metrics
}

func sameMetrics(a, b []value) bool {
	return slices.EqualFunc(a, b, func(x, y value) bool { return x.metric == y.metric })
}

func appendColumn(b []byte, runs []run, m metricID) []byte {
	if slices.ContainsFunc(runs, func(r run) bool { v, _ := r.find(m); return v.sketch != nil }) {
		return appendSketches(b, runs, m)
	}
	first, full := runs[0].get(m)
	same := full
	for _, r := range runs[1:] {
		v, has := r.get(m)
		full = full && has
		same = same && has && v == first
	}
	switch {
	case same:
		return stat.AppendFloat(append(b, columnSame), first)
	case full:
		b = append(b, columnFull)
	default:
		b = appendMask(append(b, columnHoles), runs, m)
	}
	for _, r := range runs {
		if v, has := r.get(m); has {
			b = stat.AppendFloat(b, v)
		}
	}
	return b
}

// appendMask writes a bit for each run, which is set if it has a metric.
func appendMask(b []byte, runs []run, m metricID) []byte {
	mask := make([]byte, (len(runs)+7)/8)
	for i, r := range runs {
		if _, has := r.get(m); has {
			mask[i/8] |= 1 << (i % 8)
		}
	}
	return append(b, mask...)
}

func appendSketches(b []byte, runs []run, m metricID) []byte {
	b = appendMask(append(b, columnSketch), runs, m)
	for _, r := range runs {
		if v, has := r.find(m); has {
			b = append(binary.AppendUvarint(b, uint64(len(v.sketch))), v.sketch...)
		}
	}
	return b
}

// decodePoints reads what appendPoints wrote for a slot. Of the columns it reads those that want says, nil for all.
func decodePoints(data []byte, slotNumber int64, want func(metricID) bool) ([]run, error) {
	r := reader{data: data}
	if r.uint(256) != pointsVersion {
		return nil, errDamaged
	}
	runs := make([]run, r.count(1))
	last := slotNumber * slotSpan
	for i := range runs {
		last += int64(r.uint(uint64(slotSpan)))
		runs[i].time = last
	}
	if len(runs) == 0 || slotOf(last) != slotNumber {
		return nil, errDamaged
	}
	metric, columns := uint64(0), r.count(3)
	if len(runs)*columns > mostValues {
		return nil, errDamaged
	}
	for range columns {
		metric += r.uint(1 << 16)
		body := r.take(r.uint(uint64(len(r.data)) + 1))
		if r.err != nil || metric >= 1<<16 {
			return nil, errDamaged
		}
		if m := metricID(metric); want == nil || want(m) {
			if err := decodeColumn(body, runs, m); err != nil {
				return nil, err
			}
		}
	}
	return runs, r.err
}

func decodeColumn(body []byte, runs []run, m metricID) error {
	r := reader{data: body}
	kind := r.uint(256)
	var mask []byte
	if kind >= columnHoles {
		mask = r.take(uint64(len(runs)+7) / 8)
	}
	if r.err != nil || kind > columnSketch {
		return errDamaged
	}
	var v float64
	for i := range runs {
		if mask != nil && mask[i/8]&(1<<(i%8)) == 0 {
			continue
		}
		x := value{metric: m}
		switch {
		case kind == columnSketch: // data is of a row that is read, and not kept
			x.sketch = append([]byte{}, r.take(r.uint(uint64(len(r.data))+1))...)
		case i == 0 || kind != columnSame:
			v = r.float()
		}
		if kind != columnSketch {
			x.value = v
		}
		if runs[i].values = append(runs[i].values, x); r.err != nil {
			return r.err
		}
	}
	return nil
}
