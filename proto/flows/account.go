package flows

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/pathwise-net/pathwise/stat"
)

// SoFar is what came of a flow until some moment.
type SoFar struct {
	Packets int   // each counted once
	Bytes   int64 // of them, of UDP payload
}

// Account is what a server saw of a test.
type Account struct {
	Foreign   int64 // datagrams of the test that its terms do not have
	Strangers int64 // datagrams that came to the port meanwhile and are of no test
	Flows     []FlowAccount
}

// FlowAccount is what a server saw of a flow. Times are of delays that differ, so that clocks that are apart do not matter.
type FlowAccount struct {
	SoFar
	Copies     int // arrivals beyond the first of each packet (RFC 5560)
	Reordered  int // packets that arrived after one that was sent later (RFC 4737)
	MaxExtent  int // of reordering, in packets
	MaxN       int // the largest n for which a packet is n-reordered
	LossRuns   int // runs of packets lost one after another (RFC 3357)
	LongestRun int
	Remarked   int           // arrived with another DSCP than they left with
	Span       time.Duration // from the first arrival to the last
	IPDVP95    time.Duration // 95th percentile of the variation from one packet to the next (RFC 3393)
	PDVP95     time.Duration // 95th percentile of the delay above the least one (RFC 5481)
	PDVMost    time.Duration // the most of it
}

// figures are those of a FlowAccount in the order in which they are sent, each as 64 bits.
func (f *FlowAccount) figures() []int64 {
	return []int64{int64(f.Packets), f.Bytes, int64(f.Copies), int64(f.Reordered), int64(f.MaxExtent), int64(f.MaxN), int64(f.LossRuns),
		int64(f.LongestRun), int64(f.Remarked), int64(f.Span), int64(f.IPDVP95), int64(f.PDVP95), int64(f.PDVMost)}
}

// flowFigures is how many figures a flow has.
const flowFigures = 13

func accountBytes(flows int) int { return 16 + 8*flowFigures*flows }

// mark | foreign:64 | strangers:64 | of each flow: its figures, each :64
func (a *Account) encode() []byte {
	b := append([]byte{}, accountMark...)
	b = binary.BigEndian.AppendUint64(b, uint64(a.Foreign))
	b = binary.BigEndian.AppendUint64(b, uint64(a.Strangers))
	for i := range a.Flows {
		for _, v := range a.Flows[i].figures() {
			b = binary.BigEndian.AppendUint64(b, uint64(v))
		}
	}
	return b
}

// decodeAccount reads what follows the mark: accountBytes. Figures that cannot be are those of another protocol.
func decodeAccount(b []byte) (a Account, err error) {
	next := func() int64 {
		v := binary.BigEndian.Uint64(b)
		b = b[8:]
		if v > math.MaxInt64 {
			err = errForeign
		}
		return int64(v)
	}
	a.Foreign, a.Strangers = next(), next()
	for len(b) >= 8*flowFigures {
		a.Flows = append(a.Flows, FlowAccount{SoFar: SoFar{int(next()), next()}, Copies: int(next()), Reordered: int(next()), MaxExtent: int(next()),
			MaxN: int(next()), LossRuns: int(next()), LongestRun: int(next()), Remarked: int(next()), Span: time.Duration(next()),
			IPDVP95: time.Duration(next()), PDVP95: time.Duration(next()), PDVMost: time.Duration(next())})
	}
	return a, err
}

// mark | of each flow: packets:64 | bytes:64
func encodeSoFar(all []SoFar) []byte {
	b := append([]byte{}, soFarMark...)
	for _, f := range all {
		b = binary.BigEndian.AppendUint64(b, uint64(f.Packets))
		b = binary.BigEndian.AppendUint64(b, uint64(f.Bytes))
	}
	return b
}

func decodeSoFar(b []byte) (all []SoFar) {
	for ; len(b) >= soFarBytes; b = b[soFarBytes:] {
		all = append(all, SoFar{int(binary.BigEndian.Uint64(b)), int64(binary.BigEndian.Uint64(b[8:]))})
	}
	return all
}

// arrivals are those of one flow. One goroutine at a time uses it.
type arrivals struct {
	most        int // packets that the terms have
	soFar       SoFar
	copies      int
	remarked    int
	first, last int64    // arrivals, ns since 1970
	order       []uint32 // numbers of the packets, each once, in the order in which they came
	delays      []int64  // by number, in ns, by two clocks; notCome: it has not
}

// notCome is a delay that no two clocks show.
const notCome = math.MinInt64

// take notes a datagram; false: it is none of the flow.
func (a *arrivals) take(d datagram, bytes int, at int64, dscp int) bool {
	seq := int(d.seq)
	if seq >= a.most {
		return false
	}
	for len(a.delays) <= seq {
		a.delays = append(a.delays, notCome)
	}
	if a.delays[seq] != notCome {
		a.copies++
		return true
	}
	if a.soFar.Packets == 0 {
		a.first = at
	}
	a.last = at
	a.delays[seq] = at - d.sent
	a.order = append(a.order, d.seq)
	a.soFar.Packets++
	a.soFar.Bytes += int64(bytes)
	if dscp >= 0 && dscp != d.dscp {
		a.remarked++
	}
	return true
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
	return f
}
