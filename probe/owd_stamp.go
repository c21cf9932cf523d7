package probe

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/stamp"
)

// stampPackets are packets of one session of STAMP, which TWAMP-light reflectors answer as well.
type stampPackets struct {
	bytes    []byte // of the one that leaves
	counters []byte // in bytes, the value of Direct Measurement; nil: there is none
	class    []byte // in bytes, the value of Class of Service; nil: there is none
	marks    []int  // of packets by turn, which their answers are to have, too
	sealer   *stamp.Sealer
	session  uint16
	estimate control.ErrorEstimate
	sent     sentTimes
}

// newStampPackets are packets of a session of their own, of size bytes each, authenticated with a key if there is one. clock is this host's. They ask for
// as much as has room; what is beyond is an Extra Padding TLV (RFC 8972 section 4.1), since reflectors read what follows a packet as TLVs.
func newStampPackets(random *rand.Rand, size int, clock measure.Clock, key []byte, asks []stamp.TLV) *stampPackets {
	s := &stampPackets{sealer: stamp.NewSealer(key), estimate: estimateOf(clock), session: uint16(1 + random.IntN(math.MaxUint16))}
	least := s.sealer.LeastBytes()
	s.bytes = make([]byte, least, size)
	asks, padding := fittingTLVs(size-least, len(key) > 0, asks)
	for _, t := range asks {
		s.bytes = stamp.AppendTLV(s.bytes, t)
		switch value := s.bytes[len(s.bytes)-len(t.Value):]; t.Type {
		case stamp.DirectMeasurement:
			s.counters = value
		case stamp.ClassOfService:
			s.class = value
		}
	}
	if len(asks) > 0 && len(key) > 0 {
		s.bytes = stamp.AppendSeal(s.bytes)
	}
	if padding >= tlvHeader {
		s.bytes = stamp.AppendTLV(s.bytes, stamp.TLV{Type: stamp.ExtraPadding, Value: make([]byte, padding-tlvHeader)})
	}
	return s
}

// owdAsks is what packets ask of a reflector beside its stamps, what matters most first: that it counts, which tells by which way packets were lost;
// and when the answer before really left, which its own stamp is some microseconds too early for.
func owdAsks() []stamp.TLV {
	return []stamp.TLV{{Type: stamp.DirectMeasurement, Value: make([]byte, stamp.CountersBytes)},
		{Type: stamp.FollowUpTelemetry, Value: make([]byte, stamp.FollowUpBytes)}}
}

// asks is what packets ask, by STAMP. Those with a mark ask with which one they arrived, and that the answer leaves with it.
func (p OWD) asks() []stamp.TLV {
	all := owdAsks()
	if p.DSCP != 0 || p.Classes != "" {
		all = append(all, stamp.TLV{Type: stamp.ClassOfService, Value: make([]byte, stamp.ClassBytes)})
	}
	return all
}

// turns are the marks of packets, by turn.
func (p OWD) turns() []int {
	if marks, err := readClasses(p.Classes); err == nil {
		return marks
	}
	return []int{p.DSCP}
}

// tlvBytes is how long TLVs are, with the HMAC that they need where packets are authenticated.
func tlvBytes(authenticated bool, all []stamp.TLV) (n int) {
	for _, t := range all {
		n += t.Bytes()
	}
	if n > 0 && authenticated {
		n += stamp.SealBytes
	}
	return n
}

// fittingTLVs are the first of some TLVs that fit into so many bytes, so that the rest, if any, has room for the header of padding.
func fittingTLVs(room int, authenticated bool, all []stamp.TLV) (fit []stamp.TLV, rest int) {
	for n := len(all); n > 0; n-- {
		if rest := room - tlvBytes(authenticated, all[:n]); rest == 0 || rest >= tlvHeader {
			return all[:n], rest
		}
	}
	return nil, room
}

// estimateOf is what packets tell of this host's clock.
func estimateOf(clock measure.Clock) control.ErrorEstimate {
	if clock.ErrorSeconds == nil {
		return control.Unknown
	}
	return control.EstimateOf(time.Duration(*clock.ErrorSeconds*float64(time.Second)), clock.Synchronized)
}

// tlvHeader is the length of a TLV without a value (RFC 8972 section 4).
const tlvHeader = 4

// checkPadding refuses sizes that are beyond the least and have no room for the header of a TLV.
func checkPadding(size, least int) error {
	if size > least && size < least+tlvHeader {
		return &input.Error{Field: "size", Value: strconv.Itoa(size),
			Remedy: fmt.Sprintf("give %d, or at least %d: padding has a header of %d bytes", least, least+tlvHeader, tlvHeader)}
	}
	return nil
}

func (s *stampPackets) forget(before int) { s.sent.forget(before) }

func (s *stampPackets) packet(index int, at time.Time) []byte {
	sent := control.TimestampOf(at)
	s.sent.add(sent)
	if s.counters != nil {
		stamp.Counters{Sent: uint32(index + 1)}.Put(s.counters)
	}
	if s.class != nil {
		stamp.Class{Wanted: s.marks[classOf(index, len(s.marks))]}.Put(s.class)
	}
	s.sealer.SealProbe(s.bytes, stamp.Probe{Sequence: uint32(index), Sent: sent, Error: s.estimate, Session: s.session})
	return s.bytes
}

// reflected takes no answer for one that does not have the time at which the packet was sent, which nobody off the path can know.
func (s *stampPackets) reflected(data []byte) (reflection, bool) {
	a, err := s.sealer.OpenAnswer(data)
	if err != nil {
		return reflection{}, false
	}
	index, ok := s.sent.packet(a.Probe.Sequence, a.Probe.Sent)
	if !ok {
		return reflection{}, false
	}
	r := reflection{index: index, count: a.Sequence, answered: moment(a.Answered, a.Error), arrived: moment(a.Arrived, a.Error),
		ttl: int(a.TTL), clock: measure.NewClock(a.Error.Bound())}
	s.tell(&r, data, a)
	return r, true
}

// tell fills in what the reflector said of what it was asked.
func (s *stampPackets) tell(r *reflection, data []byte, a stamp.Answer) {
	tlvs, _ := s.sealer.OpenTLVs(data) // of those that are forged there are none
	for _, t := range tlvs {
		switch t.Type {
		case stamp.DirectMeasurement: // the answers with this one or, as some read the RFC, without; else the sequence is no count of them
			c, ok := stamp.ReadCounters(t.Value)
			r.counts = ok && c.Answered-a.Sequence <= 1
		case stamp.ClassOfService:
			if c, ok := stamp.ReadClass(t.Value); ok {
				r.class = &c
			}
		case stamp.FollowUpTelemetry:
			f, ok := stamp.ReadFollowUp(t.Value)
			if left := moment(f.Left, a.Error); ok && f.Stamped() && left.Before(r.answered) {
				r.before = departure{f.Sequence, left}
			}
		}
	}
}

// moment is the time of a stamp, in the format that its error estimate says.
func moment(t control.Timestamp, e control.ErrorEstimate) time.Time {
	if e.PTP() { // seconds since 1970 in the upper half, nanoseconds in the lower (RFC 8186)
		return time.Unix(int64(t>>32), int64(uint32(t)))
	}
	return t.Time()
}
