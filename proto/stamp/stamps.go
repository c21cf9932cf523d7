package stamp

import (
	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/sock"
)

// stamps are the kernel's of answers that left, which it tells after they did: for most of them at once, for those that wait in a queue of this host
// later. Each becomes that of the session's last answer, until there is another.
type stamps struct {
	pending [mostPending]pending // by ID, modulo mostPending
	open    int                  // stamps that were not told yet
}

// mostPending is of how many answers a stamp is awaited at once: 10 ms of 100,000 packets/s. One that comes later than that is of no use.
const mostPending = 1024

// pending is an answer whose stamp is awaited; of no session: none is.
type pending struct {
	id    uint32
	of    *session
	count uint32 // of the session, at that answer
}

// send answers and awaits the stamp.
func (p *stamps) send(s *sock.Answering, answer []byte, to sock.Asked, tos int, of *session) error {
	id, err := s.AnswerStamped(answer, to, tos)
	if err != nil { // which has the IDs begin again
		*p = stamps{}
		return err
	}
	p.pending[id%mostPending] = pending{id, of, of.count}
	p.open = min(p.open+1, mostPending)
	return nil
}

// take notes what the kernel has told since.
func (p *stamps) take(s *sock.Answering) {
	for p.open > 0 {
		sent, told := s.Left()
		if !told {
			return
		}
		p.open--
		one := &p.pending[sent.ID%mostPending]
		if one.of != nil && one.id == sent.ID && one.of.count == one.count && !sent.Kernel.IsZero() {
			one.of.left = control.TimestampOf(sent.Kernel)
		}
		*one = pending{}
	}
}
