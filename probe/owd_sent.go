package probe

import "github.com/pathwise-net/pathwise/proto/control"

// sentTimes are the time stamps in the packets of a session that may still be answered, by index. An answer has to repeat that of its packet, which
// nobody off the path can know.
type sentTimes struct {
	first int // index of at[0]
	at    []control.Timestamp
}

// add notes the time stamp of a packet, which is the next one.
func (s *sentTimes) add(t control.Timestamp) { s.at = append(s.at, t) }

// packet is the index of the packet whose number an answer repeats, modulo 2^32 as packets have it, if its time stamp is that packet's.
func (s *sentTimes) packet(number uint32, t control.Timestamp) (index int, ok bool) {
	index = s.first + int(number-uint32(s.first))
	return index, index-s.first < len(s.at) && s.at[index-s.first] == t
}

// forget drops the packets before an index.
func (s *sentTimes) forget(before int) {
	if gone := min(before-s.first, len(s.at)); gone > 0 {
		s.first, s.at = s.first+gone, append(s.at[:0], s.at[gone:]...)
	}
}
