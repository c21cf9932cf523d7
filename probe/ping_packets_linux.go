package probe

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// pingPackets are the packets of one protocol to ping by. Requests are counted from 0; sent is how many there were so far.
type pingPackets interface {
	// request is the packet that the request of an index consists of, with size bytes of payload where the protocol has one.
	request(index, size int) []byte
	// answered is which request a packet from an address answers; ok is false of a packet that answers none.
	answered(packet []byte, from netip.Addr, sent int) (index int, ok bool)
	// quoted is which request an ICMP error quotes.
	quoted(packet []byte, sent int) (index int, ok bool)
}

// holding are pingPackets whose answers say how long the far end held the request.
type holding interface {
	held(answer []byte) time.Duration
}

// packetSender is a pingSender of single packets, which the kernel stamps.
type packetSender struct {
	*sock.Socket
	packets pingPackets
	target  netip.Addr
	port    uint16       // of the target; 0: the protocol has none, or writes it by itself
	sent    []sock.Stamp // by index of the request, which is also the ID of the kernel's stamp

	refusalAnswers bool // a port unreachable from the target is an answer

	tellsMarks bool // the kernel tells the DSCP of answers, and that means something
}

func (s *packetSender) send(index, size int) (time.Time, error) {
	_, before, err := s.Send(s.packets.request(index, size), netip.AddrPortFrom(s.target, s.port))
	if err == nil {
		s.sent = append(s.sent, sock.Stamp{User: before})
	}
	return before, err
}

func (s *packetSender) receive(until time.Time) (any, error) {
	event, err := s.ReceivePunctually(until)
	return s.heard(event), err
}

// heard is what an event of the socket means for the requests.
func (s *packetSender) heard(event sock.Event) any {
	switch e := event.(type) {
	case sock.Sent:
		if int(e.ID) < len(s.sent) {
			s.sent[e.ID].Kernel = e.Kernel
		}
	case sock.Packet:
		from := e.From.Addr()
		if index, ok := s.packets.answered(e.Data, from, len(s.sent)); ok {
			a := s.answer(index, from, e.At)
			a.ttl = e.TTL
			if s.tellsMarks && e.DSCP >= 0 {
				a.dscp = new(e.DSCP)
			}
			if h, is := s.packets.(holding); is {
				a.rtt = max(0, a.rtt-h.held(e.Data))
			}
			return a
		}
	case sock.ICMPError:
		if index, ok := s.packets.quoted(e.Quoted, len(s.sent)); ok {
			if s.refusalAnswers && e.Reason() == sock.PortUnreachable && e.Offender == s.target.WithZone("") {
				a := s.answer(index, e.Offender, e.At)
				a.ttl, a.unreachable = e.TTL, true
				return a
			}
			why := string(e.Reason())
			if e.MTU > 0 {
				why += fmt.Sprintf(" (MTU %d bytes)", e.MTU)
			}
			return pingRefusal{index: index, from: e.Offender, why: why, noWay: noWay(e.Reason())}
		}
	}
	return nil
}

func (s *packetSender) answer(index int, from netip.Addr, at sock.Stamp) pingAnswer {
	a := pingAnswer{index: index}
	a.rtt, a.kernel = sock.Elapsed(s.sent[index], at)
	if from != s.target.WithZone("") {
		a.from = from
	}
	return a
}

func (s *packetSender) interrupt() { s.Interrupt() }

func (s *packetSender) socket() string {
	if s.Raw() {
		return "raw"
	}
	return "datagram"
}

func (s *packetSender) close() { s.Close() }
