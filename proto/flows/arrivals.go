package flows

import (
	"math"
	"time"

	"github.com/pathwise-net/pathwise/stat"
)

// arrivals are those of one flow. One goroutine at a time uses it.
type arrivals struct {
	most        int // packets that the terms have
	soFar       SoFar
	copies      int
	remarked    int
	first, last int64    // arrivals, ns since 1970
	order       []uint32 // numbers of the packets, each once, in the order in which they came
	delays      []int64  // by number, in ns, by two clocks; notCome: it has not
	least       int64    // of delays
	intervals   []interval
}

// interval counts the packets of an interval of the script.
type interval struct {
	soFar     SoFar
	sum, most int64 // of delays, of the sum less firstOf each, as two clocks that are far apart make delays too large to add up
	firstOf   int64 // the first delay of the interval
}

// notCome is a delay that no two clocks show.
const notCome = math.MinInt64

// take notes a datagram; false: it is none of the flow.
func (a *arrivals) take(d datagram, bytes int, at int64, dscp int) bool {
	seq := int(d.seq)
	if seq >= a.most || d.during >= len(a.intervals) {
		return false
	}
	for len(a.delays) <= seq {
		a.delays = append(a.delays, notCome)
	}
	if a.delays[seq] != notCome {
		a.copies++
		return true
	}
	delay := at - d.sent
	if a.soFar.Packets == 0 {
		a.first, a.least = at, delay
	}
	a.last, a.least = at, min(a.least, delay)
	a.delays[seq] = delay
	a.intervals[d.during].take(bytes, delay)
	a.order = append(a.order, d.seq)
	a.soFar.Packets++
	a.soFar.Bytes += int64(bytes)
	if dscp >= 0 && dscp != d.dscp {
		a.remarked++
	}
	return true
}

func (i *interval) take(bytes int, delay int64) {
	if i.soFar.Packets == 0 {
		i.firstOf, i.most = delay, delay
	}
	i.soFar.Packets++
	i.soFar.Bytes += int64(bytes)
	i.sum += delay - i.firstOf
	i.most = max(i.most, delay)
}

// above is what came of the packets of an interval, their delays above the least one of the flow.
func (i *interval) above(least int64) Interval {
	if i.soFar.Packets == 0 {
		return Interval{}
	}
	return Interval{i.soFar, time.Duration(max(0, i.firstOf-least+i.sum/int64(i.soFar.Packets))), time.Duration(max(0, i.most-least))}
}

// account is what came of a flow of which so many packets were sent.
func (a *arrivals) account(sent int) FlowAccount {
	f := FlowAccount{SoFar: a.soFar, Copies: a.copies, Remarked: a.remarked, Span: max(0, time.Duration(a.last-a.first))}
	seqs := make([]uint64, len(a.order))
	for i, s := range a.order {
		seqs[i] = uint64(s)
	}
	order := stat.Ordering(seqs)
	f.Reordered, f.MaxExtent, f.MaxN = order.Reordered, order.MaxExtent, order.MaxN
	lost, delays := make([]bool, max(sent, len(a.delays))), make([]float64, max(sent, len(a.delays)))
	for i := range lost {
		lost[i], delays[i] = true, stat.Lost
		if i < len(a.delays) && a.delays[i] != notCome {
			lost[i], delays[i] = false, float64(a.delays[i])
		}
	}
	for _, run := range stat.LossRuns(lost) {
		f.LossRuns++
		f.LongestRun = max(f.LongestRun, run)
	}
	if v, ok := stat.VariationOf(delays); ok {
		f.IPDVP95, f.PDVP95 = time.Duration(v.IPDVP95), time.Duration(v.PDVP95)
		for _, d := range stat.PDV(delays) {
			f.PDVMost = max(f.PDVMost, time.Duration(d))
		}
	}
	for i := range a.intervals {
		f.Intervals = append(f.Intervals, a.intervals[i].above(a.least))
	}
	return f
}
