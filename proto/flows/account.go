package flows

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/pathwise-net/pathwise/traffic"
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
	Intervals  []Interval    // by when packets were due
}

// Interval is what a receiver saw of the packets of a flow that were due in an interval of the script.
type Interval struct {
	SoFar
	Mean, Most time.Duration // of the delay above the least one of the flow
}

// figures are those of a FlowAccount in the order in which they are sent, each as 64 bits.
func (f *FlowAccount) figures() []int64 {
	return []int64{int64(f.Packets), f.Bytes, int64(f.Copies), int64(f.Reordered), int64(f.MaxExtent), int64(f.MaxN), int64(f.LossRuns),
		int64(f.LongestRun), int64(f.Remarked), int64(f.Span), int64(f.IPDVP95), int64(f.PDVP95), int64(f.PDVMost)}
}

// flowFigures is how many figures a flow has.
const flowFigures = 13

// intervalBytes is what an interval of a flow takes.
const intervalBytes = 32

func accountBytes(flows, intervals int) int {
	return 16 + flows*(8*flowFigures+intervals*intervalBytes)
}

// mark | foreign:64 | strangers:64 | of each flow: its figures, each :64 | and of each interval: packets:64 | bytes:64 | mean, ns:64 | most, ns:64
func (a *Account) encode() []byte {
	b := append([]byte{}, accountMark...)
	put := func(values ...int64) {
		for _, v := range values {
			b = binary.BigEndian.AppendUint64(b, uint64(v))
		}
	}
	put(a.Foreign, a.Strangers)
	for i := range a.Flows {
		put(a.Flows[i].figures()...)
		for _, one := range a.Flows[i].Intervals {
			put(int64(one.Packets), one.Bytes, int64(one.Mean), int64(one.Most))
		}
	}
	return b
}

// decodeAccount reads what follows the mark: accountBytes. Figures that cannot be are those of another protocol.
func decodeAccount(b []byte, intervals int) (a Account, err error) {
	next := func() int64 {
		v := binary.BigEndian.Uint64(b)
		b = b[8:]
		if v > math.MaxInt64 {
			err = errForeign
		}
		return int64(v)
	}
	a.Foreign, a.Strangers = next(), next()
	for len(b) >= accountBytes(1, intervals)-16 {
		f := FlowAccount{SoFar: SoFar{int(next()), next()}, Copies: int(next()), Reordered: int(next()), MaxExtent: int(next()),
			MaxN: int(next()), LossRuns: int(next()), LongestRun: int(next()), Remarked: int(next()), Span: time.Duration(next()),
			IPDVP95: time.Duration(next()), PDVP95: time.Duration(next()), PDVMost: time.Duration(next())}
		for range intervals {
			f.Intervals = append(f.Intervals, Interval{SoFar{int(next()), next()}, time.Duration(next()), time.Duration(next())})
		}
		a.Flows = append(a.Flows, f)
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

// decodeSoFar reads what follows the mark: soFarBytes of each flow. Figures that cannot be are those of another protocol.
func decodeSoFar(b []byte) (all []SoFar, err error) {
	for ; len(b) >= soFarBytes; b = b[soFarBytes:] {
		one := SoFar{int(binary.BigEndian.Uint64(b)), int64(binary.BigEndian.Uint64(b[8:]))}
		if one.Packets < 0 || one.Bytes < 0 {
			err = errForeign
		}
		all = append(all, one)
	}
	return all, err
}

// mark | of each flow in reverse: packets:64 | bytes:64 | skipped:64 | refused:64 | late, p95, ns:64 | most, ns:64 | packets of each interval:32
func encodeSent(script *traffic.Script, all []Sent) []byte {
	b := append([]byte{}, sentMark...)
	for i := range all {
		if !script.Flows[i].Reverse {
			continue
		}
		s := &all[i]
		for _, v := range []int64{int64(s.Packets), s.Bytes, int64(s.Skipped), int64(s.Refused), int64(s.LateP95), int64(s.LateMost)} {
			b = binary.BigEndian.AppendUint64(b, uint64(v))
		}
		for _, n := range s.Intervals {
			b = binary.BigEndian.AppendUint32(b, uint32(n))
		}
	}
	return b
}

// decodeSent reads what follows the mark of a flow in reverse that has so many packets. Figures that cannot be are those of another protocol.
func decodeSent(b []byte, most int) (s Sent, err error) {
	figures := make([]int64, sentBytes/8)
	for i := range figures {
		figures[i] = int64(binary.BigEndian.Uint64(b[8*i:]))
		if figures[i] < 0 {
			err = errForeign
		}
	}
	during := int64(0)
	for b = b[sentBytes:]; len(b) >= 4; b = b[4:] {
		n := binary.BigEndian.Uint32(b)
		s.Intervals, during = append(s.Intervals, int(n)), during+int64(n)
	}
	if max(figures[0], figures[2], figures[3]) > int64(most) || during != figures[0] {
		err = errForeign
	}
	s.Packets, s.Bytes, s.Skipped, s.Refused = int(figures[0]), figures[1], int(figures[2]), int(figures[3])
	s.LateP95, s.LateMost = time.Duration(figures[4]), time.Duration(figures[5])
	return s, err
}
