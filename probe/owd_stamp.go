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

const (
	owdPort  = stamp.DefaultPort
	leastOWD = stamp.LeastBytes
)

// stampPackets are packets of one session of STAMP, which TWAMP-light reflectors answer as well.
type stampPackets struct {
	bytes    []byte // of the one that leaves
	session  uint16
	estimate control.ErrorEstimate
	sent     []control.Timestamp
}

// reflector is what the packets of the protocol are. clock is this host's.
func (p OWD) reflector(clock measure.Clock) reflector {
	return newStampPackets(p.Rand, p.Size, clock)
}

// newStampPackets are packets of a session of their own, of size bytes each. What is beyond the least is an Extra Padding TLV (RFC 8972
// section 4.1), since reflectors read what follows a packet as TLVs.
func newStampPackets(random *rand.Rand, size int, clock measure.Clock) *stampPackets {
	s := &stampPackets{bytes: make([]byte, leastOWD, size), estimate: control.Unknown, session: uint16(1 + random.IntN(math.MaxUint16))}
	if padding := size - leastOWD - tlvHeader; padding >= 0 {
		s.bytes = stamp.AppendTLV(s.bytes, stamp.TLV{Type: stamp.ExtraPadding, Value: make([]byte, padding)})
	}
	if clock.ErrorSeconds != nil {
		s.estimate = control.EstimateOf(time.Duration(*clock.ErrorSeconds*float64(time.Second)), clock.Synchronized)
	}
	return s
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

func (s *stampPackets) packet(index int, at time.Time) []byte {
	sent := control.TimestampOf(at)
	s.sent = append(s.sent, sent)
	stamp.Probe{Sequence: uint32(index), Sent: sent, Error: s.estimate, Session: s.session}.Put(s.bytes)
	return s.bytes
}

// reflected takes no answer for one that does not have the time at which the packet was sent, which nobody off the path can know.
func (s *stampPackets) reflected(data []byte) (reflection, bool) {
	a, whole := stamp.ReadAnswer(data)
	index := int(a.Probe.Sequence)
	if !whole || index >= len(s.sent) || a.Probe.Sent != s.sent[index] {
		return reflection{}, false
	}
	moment := func(t control.Timestamp) time.Time {
		if a.Error.PTP() { // seconds since 1970 in the upper half, nanoseconds in the lower (RFC 8186)
			return time.Unix(int64(t>>32), int64(uint32(t)))
		}
		return t.Time()
	}
	return reflection{index: index, count: a.Sequence, answered: moment(a.Answered), arrived: moment(a.Arrived),
		ttl: int(a.TTL), clock: measure.NewClock(a.Error.Bound())}, true
}
