package beacon

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/pathwise-net/pathwise/stat"
)

// arrival is one probe that came, or one of its copies. Times are nanoseconds of Unix time, each by the clock of its end.
type arrival struct {
	sent, at int64
	sequence uint32
	hops     int16 // -1: not known
	remarked bool
}

// stream is what came of one sender, in the order of arrival, and what is known of what it sent.
type stream struct {
	began    int64         // when it sent number 0, by its clock
	interval time.Duration // at which it means to send
	known    uint32        // how many it sent at least
	arrivals []arrival
}

// judge reduces the probes that were due to arrive from since to until, by the receiver's clock, to figures. There must be an arrival.
func (s *stream) judge(since, until int64) Figures {
	due := s.dueTimes()
	from := uint32(sort.Search(int(s.known), func(k int) bool { return due.of(uint32(k)) >= since }))
	to := uint32(sort.Search(int(s.known), func(k int) bool { return due.of(uint32(k)) > until }))
	f := Figures{From: from, To: max(from, to), Hops: -1, HopsMost: -1}
	sequences := make([]uint64, 0, f.Judged())
	delays := make([]float64, f.Judged())
	for i := range delays {
		delays[i] = stat.Lost
	}
	for _, a := range s.arrivals {
		if a.sequence < f.From || a.sequence >= f.To {
			continue
		}
		sequences = append(sequences, uint64(a.sequence))
		if a.remarked {
			f.Remarked++
		}
		f.passed(int(a.hops))
		if d := &delays[a.sequence-f.From]; math.IsNaN(*d) {
			*d = time.Duration(a.at - a.sent).Seconds()
		}
	}
	f.count(sequences, delays)
	f.time(delays)
	return f
}

// passed adds the hops of one arrival.
func (f *Figures) passed(hops int) {
	if hops < 0 {
		return
	}
	if f.Hops < 0 || hops < f.Hops {
		f.Hops = hops
	}
	f.HopsMost = max(f.HopsMost, hops)
}

// count adds losses, copies and order.
func (f *Figures) count(sequences []uint64, delays []float64) {
	copies, order := stat.Duplication(sequences), stat.Ordering(sequences)
	f.Received, f.Duplicates = uint32(copies.Arrived), uint32(copies.Extra)
	f.Reordered, f.MaxExtent = uint32(order.Reordered), uint32(order.MaxExtent)
	lost := make([]bool, len(delays))
	for i, d := range delays {
		lost[i] = math.IsNaN(d)
	}
	if runs := stat.LossRuns(lost); len(runs) > 0 {
		f.LossRun = uint32(slices.Max(runs))
	}
}

// time adds delays, those in the order of sending, and their variation.
func (f *Figures) time(delays []float64) {
	if v, ok := stat.VariationOf(delays); ok {
		f.Variation = Variation{PDV: inTime(v.PDVP95), IPDV: inTime(v.IPDVP95)}
	}
	arrived := slices.DeleteFunc(delays, math.IsNaN)
	if len(arrived) == 0 {
		return
	}
	slices.Sort(arrived)
	f.Delay = Delay{Min: inTime(arrived[0]), Median: inTime(stat.Median(arrived)), P95: inTime(stat.Quantile(arrived, 0.95))}
}

func inTime(seconds float64) time.Duration { return time.Duration(math.Round(seconds * 1e9)) }

// schedule is when probes were due to arrive: those that came, by when they were sent; those between them in proportion; those behind the last one
// at the sender's interval.
type schedule struct {
	points   []arrival // one of each sequence that is known, in their order, number 0 among them
	shift    int64     // from when a probe was sent, by the sender's clock, to when it was due, by the receiver's
	interval int64
}

// dueTimes makes the schedule of what came.
func (s *stream) dueTimes() schedule {
	d := schedule{points: slices.Clone(s.arrivals), shift: math.MaxInt64, interval: int64(s.interval)}
	for _, a := range d.points {
		d.shift = min(d.shift, a.at-a.sent)
	}
	if !slices.ContainsFunc(d.points, func(a arrival) bool { return a.sequence == 0 }) {
		d.points = append(d.points, arrival{sent: s.began})
	}
	slices.SortFunc(d.points, func(a, b arrival) int { return cmp.Compare(a.sequence, b.sequence) })
	d.points = slices.CompactFunc(d.points, func(a, b arrival) bool { return a.sequence == b.sequence })
	return d
}

// of is when a probe was due to arrive.
func (d *schedule) of(sequence uint32) int64 {
	i, found := slices.BinarySearchFunc(d.points, sequence, func(a arrival, s uint32) int { return cmp.Compare(a.sequence, s) })
	if found {
		return d.points[i].sent + d.shift
	}
	before := d.points[i-1] // there is number 0
	if i == len(d.points) {
		return before.sent + d.shift + d.interval*int64(sequence-before.sequence)
	}
	after := d.points[i]
	share := float64(sequence-before.sequence) / float64(after.sequence-before.sequence)
	return before.sent + d.shift + int64(share*float64(after.sent-before.sent))
}
