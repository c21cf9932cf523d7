package probe

import (
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/twamp"
)

// twampPackets are packets of one session of TWAMP (RFC 5357).
type twampPackets struct {
	bytes    []byte // of the one that leaves
	sealer   *twamp.Sealer
	estimate control.ErrorEstimate
	sent     sentTimes
}

// newTWAMPPackets are packets of a session, with its padding.
func newTWAMPPackets(s *twamp.Session, clock measure.Clock) *twampPackets {
	return &twampPackets{bytes: twamp.NewPacket(s.Mode, s.Terms.Padding), sealer: s.Sealer, estimate: estimateOf(clock)}
}

func (t *twampPackets) forget(before int) { t.sent.forget(before) }

func (t *twampPackets) packet(index int, at time.Time) []byte {
	sent := control.TimestampOf(at)
	t.sent.add(sent)
	t.sealer.Seal(t.bytes, control.Packet{Sequence: uint32(index), Sent: sent, Error: t.estimate})
	return t.bytes
}

// noTTL is what a reflection has where its sender does not know the TTL of the packet (RFC 5357 section 4.2.1).
const noTTL = 255

// reflected takes no answer for one that does not have the time at which the packet was sent. All servers count what they answer.
func (t *twampPackets) reflected(data []byte) (reflection, bool) {
	a, err := t.sealer.OpenReflection(data)
	if err != nil {
		return reflection{}, false
	}
	index, ok := t.sent.packet(a.Packet.Sequence, a.Packet.Sent)
	if !ok {
		return reflection{}, false
	}
	ttl := int(a.TTL)
	if ttl == noTTL {
		ttl = 0
	}
	return reflection{index: index, count: a.Sequence, counts: true, answered: moment(a.Sent, a.Error), arrived: moment(a.Received, a.Error),
		ttl: ttl, clock: measure.NewClock(a.Error.Bound())}, true
}
