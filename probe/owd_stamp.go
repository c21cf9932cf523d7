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
	sealer   *stamp.Sealer
	session  uint16
	estimate control.ErrorEstimate
	sent     sentTimes
}

// newStampPackets are packets of a session of their own, of size bytes each, authenticated with a key if there is one. clock is this host's. What
// is beyond the least is an Extra Padding TLV (RFC 8972 section 4.1), since reflectors read what follows a packet as TLVs.
func newStampPackets(random *rand.Rand, size int, clock measure.Clock, key []byte) *stampPackets {
	s := &stampPackets{sealer: stamp.NewSealer(key), estimate: estimateOf(clock), session: uint16(1 + random.IntN(math.MaxUint16))}
	least := s.sealer.LeastBytes()
	s.bytes = make([]byte, least, size)
	if padding := size - least - tlvHeader; padding >= 0 {
		s.bytes = stamp.AppendTLV(s.bytes, stamp.TLV{Type: stamp.ExtraPadding, Value: make([]byte, padding)})
	}
	return s
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
	return reflection{index: index, count: a.Sequence, answered: moment(a.Answered, a.Error), arrived: moment(a.Arrived, a.Error),
		ttl: int(a.TTL), clock: measure.NewClock(a.Error.Bound())}, true
}

// moment is the time of a stamp, in the format that its error estimate says.
func moment(t control.Timestamp, e control.ErrorEstimate) time.Time {
	if e.PTP() { // seconds since 1970 in the upper half, nanoseconds in the lower (RFC 8186)
		return time.Unix(int64(t>>32), int64(uint32(t)))
	}
	return t.Time()
}
