package probe

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/control"
)

// STAMP in unauthenticated mode (RFC 8762 section 4, with the session identifier of RFC 8972), which TWAMP-light reflectors answer as well:
//
//	sent       | sequence : 32 | time : 64 | error : 16 | session : 16 | - : 224 |
//	reflected  | its sequence : 32 | answered : 64 | error : 16 | session : 16 | arrived : 64 | sequence, time, error as sent : 112 | - : 16 |
//	           | time to live on arrival : 8 | - : 24 |
const (
	owdPort  = 862
	leastOWD = 44 // both ways, so that no answer is longer than what asked for it

	stampErrorAt    = 12
	stampSessionAt  = 14
	stampArrivedAt  = 16
	stampSentSeqAt  = 24
	stampSentTimeAt = 28
	stampTTLAt      = 40
)

// stampPackets are packets of one session.
type stampPackets struct {
	bytes []byte // of the one that leaves
	sent  []control.Timestamp
}

// reflector is what the packets of the protocol are. clock is this host's.
func (p OWD) reflector(clock measure.Clock) reflector {
	s := &stampPackets{bytes: make([]byte, p.Size)}
	estimate := control.Unknown
	if clock.ErrorSeconds != nil {
		estimate = control.EstimateOf(time.Duration(*clock.ErrorSeconds*float64(time.Second)), clock.Synchronized)
	}
	binary.BigEndian.PutUint16(s.bytes[stampErrorAt:], uint16(estimate))
	binary.BigEndian.PutUint16(s.bytes[stampSessionAt:], uint16(1+p.Rand.IntN(math.MaxUint16)))
	return s
}

func (s *stampPackets) packet(index int, at time.Time) []byte {
	stamp := control.TimestampOf(at)
	s.sent = append(s.sent, stamp)
	binary.BigEndian.PutUint32(s.bytes, uint32(index))
	binary.BigEndian.PutUint64(s.bytes[4:], uint64(stamp))
	return s.bytes
}

// reflected takes no answer for one that does not have the time at which the packet was sent, which nobody off the path can know.
func (s *stampPackets) reflected(data []byte) (reflection, bool) {
	if len(data) < leastOWD {
		return reflection{}, false
	}
	index := int(binary.BigEndian.Uint32(data[stampSentSeqAt:]))
	if index >= len(s.sent) || control.Timestamp(binary.BigEndian.Uint64(data[stampSentTimeAt:])) != s.sent[index] {
		return reflection{}, false
	}
	estimate := control.ErrorEstimate(binary.BigEndian.Uint16(data[stampErrorAt:]))
	moment := func(at int) time.Time {
		if estimate.PTP() { // seconds since 1970 in the upper half, nanoseconds in the lower (RFC 8186)
			return time.Unix(int64(binary.BigEndian.Uint32(data[at:])), int64(binary.BigEndian.Uint32(data[at+4:])))
		}
		return control.Timestamp(binary.BigEndian.Uint64(data[at:])).Time()
	}
	return reflection{index: index, count: binary.BigEndian.Uint32(data), answered: moment(4), arrived: moment(stampArrivedAt),
		ttl: int(data[stampTTLAt]), clock: measure.NewClock(estimate.Bound())}, true
}
