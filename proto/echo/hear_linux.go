package echo

import (
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/sock"
)

// hear takes what has come in: stamps of requests and ICMP errors first, so that a stamp is there before the reply.
func (f *family) hear(fd int) error {
	if err := f.hearErrors(fd); err != nil {
		return err
	}
	for {
		n, err := f.replies.receive(fd, 0)
		if err != nil {
			return err
		}
		now := time.Now()
		looked := false // whether stamps were looked for since these replies came
		for i := range n {
			a := f.replies.arrival(i)
			mark, ok := f.replied(a.data)
			if !ok {
				continue
			}
			if !looked && f.ledger.lacksStamp(mark) {
				if err := f.hearErrors(fd); err != nil {
					return err
				}
				looked = true
			}
			at := sock.Stamp{User: now}
			if a.kernel != 0 {
				at.Kernel = time.Unix(0, a.kernel)
			}
			from := a.peer
			if int(mark.Place) < len(f.targets) && from == f.targets[mark.Place] {
				from = netip.Addr{}
			}
			f.ledger.answered(mark, at, a.ttl, from)
		}
		if n < batchSize {
			return nil
		}
	}
}

// replied is the mark of a reply to a request of ours; ok is false of any other packet.
func (f *family) replied(packet []byte) (m Mark, ok bool) {
	if f.socket.Raw() && !f.ipv6 {
		packet = afterIPv4Header(packet)
	}
	reply, ok := Parse(packet, f.ipv6)
	if !ok || !reply.Reply || !f.isOurs(reply) {
		return Mark{}, false
	}
	m, ok = MarkOf(reply.Payload)
	return m, ok && m.Token == f.token && uint16(m.Sequence) == reply.Sequence
}

// isOurs reports whether a message has our identifier, as far as that tells: to a datagram socket the kernel hands no others.
func (f *family) isOurs(m Message) bool { return !f.socket.Raw() || m.Ident == f.message.Ident }

// afterIPv4Header returns what follows the IPv4 header, or nil when the packet is no whole one. The low half of the first byte counts the
// header's 32-bit words (RFC 791 section 3.1).
func afterIPv4Header(packet []byte) []byte {
	if len(packet) == 0 {
		return nil
	}
	length := int(packet[0]&0xf) * 4
	if length < 20 || length > len(packet) {
		return nil
	}
	return packet[length:]
}

// hearErrors takes what is in the error queue: stamps of requests that left, and ICMP errors.
func (f *family) hearErrors(fd int) error {
	for {
		n, err := f.errors.receive(fd, unix.MSG_ERRQUEUE)
		if err != nil {
			return err
		}
		for i := range n {
			a := f.errors.arrival(i)
			if id, ok := a.stampID(); ok {
				f.ledger.stamped(id, a.kernel)
			} else if e, ok := a.icmpError(); ok {
				f.refused(e)
			}
		}
		if n < batchSize {
			return nil
		}
	}
}

// refused takes an ICMP error, about a request of ours or about a packet of others.
func (f *family) refused(e sock.ICMPError) {
	request, ok := Parse(e.Quoted, f.ipv6)
	if !ok || request.Reply || !f.isOurs(request) {
		return
	}
	number, ok := f.quoted(request, e.To.Addr())
	if ok {
		f.ledger.refused(number, Event{TTL: e.TTL, From: e.Offender, Why: string(e.Reason()), MTU: e.MTU})
	}
}

// quoted is the number of the request that an ICMP error quotes: by its mark, or where a router quotes only the 8 bytes that it must (RFC 792),
// by where it went and the half of its sequence number that its header has.
func (f *family) quoted(request Message, to netip.Addr) (number uint64, ok bool) {
	if m, whole := MarkOf(request.Payload); whole {
		return f.ledger.plan.number(m.Sequence, m.Place), m.Token == f.token && int(m.Place) < len(f.targets)
	}
	i, ok := slices.BinarySearchFunc(f.sorted, to.WithZone(""), func(place uint32, to netip.Addr) int { return f.targets[place].Compare(to) })
	if !ok {
		return 0, false
	}
	return f.ledger.newest(f.sorted[i], request.Sequence)
}
