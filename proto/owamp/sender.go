package owamp

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/sock"
)

// sender sends the packets of one session. Run is called once; what it says of the session is known when that has returned.
type sender struct {
	id     control.SID
	terms  Terms
	sealer *control.Sealer
	mode   control.Mode
	to     netip.AddrPort
	socket *sock.Socket
	clock  endpoint.Clock
	stamps bool // keep when packets left, by the kernel

	mu     sync.Mutex
	next   uint32
	skips  []Skip
	left   []control.Timestamp // by number, when the kernel says that packets left; shorter where it does not
	byID   []uint32            // numbers of the packets that the kernel counts
	bytes  int64
	failed error // of the last packet that could not be sent
}

// mostLate is how late a packet is sent, and says so. One that would be later is skipped: after a stall they would leave in one burst.
const mostLate = 100 * time.Millisecond

// run sends by the schedule that begins at a moment, and then waits for what is under way, until the timeout is over at the far end, too, which began
// when the first packet came. Interrupt of the socket ends it.
func (s *sender) run(begin time.Time) {
	schedule := NewSchedule(s.id, s.terms.Slots)
	packet := control.NewPacket(s.mode, s.terms.Padding)
	worth := endpoint.Estimates{Clock: s.clock}
	if err := s.mark(); err != nil {
		s.failed = err
	}
	due := begin
	for sequence := range uint32(s.terms.Packets) {
		due = begin.Add(schedule.Next())
		if !s.wait(due) {
			return
		}
		now := time.Now()
		if now.Sub(due) > min(mostLate, s.terms.Timeout) {
			s.note(func() { s.next, s.skips = sequence+1, addSkip(s.skips, sequence) })
			continue
		}
		s.sealer.Seal(packet, control.Packet{Sequence: sequence, Sent: control.TimestampOf(s.clock.Read()), Error: worth.At(now)})
		_, _, err := s.socket.Send(packet, s.to)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		s.note(func() { s.sent(sequence, len(packet), err) })
	}
	s.wait(due.Add(s.terms.Timeout + linger))
}

func (s *sender) note(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// sent notes what became of a packet. One that could not be sent is skipped: it is not for the network to answer for it.
func (s *sender) sent(sequence uint32, bytes int, err error) {
	s.next = sequence + 1
	if err != nil {
		s.skips, s.failed = addSkip(s.skips, sequence), err
		return
	}
	s.bytes += int64(bytes)
	if s.stamps {
		s.byID = append(s.byID, sequence)
	}
}

// sentTTL is the TTL or hop limit of test packets, so that receivers know how many hops they passed: owping reckons from 255.
const sentTTL = 255

// mark gives the packets their TTL and DSCP.
func (s *sender) mark() error {
	conn, err := s.socket.SyscallConn()
	if err == nil {
		err = sock.SetTTL(conn, sentTTL)
	}
	if err == nil && s.terms.DSCP != 0 {
		err = sock.SetDSCP(conn, s.terms.DSCP)
	}
	if err != nil {
		return fmt.Errorf("mark packets: %w", err)
	}
	return nil
}

// wait waits until a moment, and takes what the kernel says of packets that left; false: the session is to end.
func (s *sender) wait(until time.Time) bool {
	for {
		event, err := s.socket.ReceivePunctually(until)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return time.Until(until) <= 0
		}
		if err != nil {
			s.note(func() { s.failed = err })
			return false
		}
		if sent, is := event.(sock.Sent); is {
			s.note(func() { s.stamp(sent) })
		}
	}
}

func (s *sender) stamp(sent sock.Sent) {
	if int(sent.ID) >= len(s.byID) {
		return
	}
	at := int(s.byID[sent.ID])
	if more := at + 1 - len(s.left); more > 0 {
		s.left = append(s.left, make([]control.Timestamp, more)...)
	}
	s.left[at] = control.TimestampOf(sent.Kernel)
}

// description is what is told of the session when it ends.
func (s *sender) description() stopped {
	s.mu.Lock()
	defer s.mu.Unlock()
	return stopped{s.id, s.next, s.skips}
}
