package probe

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// pingPackets are the packets of one protocol to ping by. Requests are counted from 0; sent is how many there were so far.
type pingPackets interface {
	// request is the packet that the request of an index consists of.
	request(index int) []byte
	// answered is which request a packet from an address answers; ok is false of a packet that answers none.
	answered(packet []byte, from netip.Addr, sent int) (index int, ok bool)
	// quoted is which request an ICMP error quotes.
	quoted(packet []byte, sent int) (index int, ok bool)
}

// packetSender is a pingSender of single packets, which the kernel stamps.
type packetSender struct {
	*sock.Socket
	packets pingPackets
	target  netip.Addr
	sent    []sock.Stamp // by index of the request, which is also the ID of the kernel's stamp

	tellsMarks bool // the kernel tells the DSCP of answers, and that means something
}

func (s *packetSender) send(index int) (time.Time, error) {
	_, before, err := s.Send(s.packets.request(index), netip.AddrPortFrom(s.target, 0))
	if err == nil {
		s.sent = append(s.sent, sock.Stamp{User: before})
	}
	return before, err
}

func (s *packetSender) receive(until time.Time) (any, error) {
	event, err := s.Receive(until)
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
			return s.answer(index, from, e)
		}
	case sock.ICMPError:
		if index, ok := s.packets.quoted(e.Quoted, len(s.sent)); ok {
			why := string(e.Reason())
			if e.MTU > 0 {
				why += fmt.Sprintf(" (MTU %d bytes)", e.MTU)
			}
			return pingRefusal{index: index, from: e.Offender, why: why, noWay: noWay(e.Reason())}
		}
	}
	return nil
}

func (s *packetSender) answer(index int, from netip.Addr, p sock.Packet) pingAnswer {
	a := pingAnswer{index: index, ttl: p.TTL}
	if s.tellsMarks && p.DSCP >= 0 {
		a.dscp = new(p.DSCP)
	}
	a.rtt, a.kernel = sock.Elapsed(s.sent[index], p.At)
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
