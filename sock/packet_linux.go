package sock

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// An Event is what Receive returns: a Packet, a Sent or an ICMPError.
type Event interface{ event() }

// Packet is one that came in.
type Packet struct {
	Data []byte // valid until the next Receive
	From netip.AddrPort
	TTL  int // on arrival; 0 when not known
	DSCP int // on arrival; -1 when not known: see TellDSCP
	ECN  int // on arrival, where DSCP is known
	At   Stamp
}

// Sent is the kernel's stamp of a packet that left. It comes before any reply to that packet.
type Sent struct {
	ID     uint32 // as Send returned it
	Kernel time.Time
}

func (Packet) event()    {}
func (Sent) event()      {}
func (ICMPError) event() {}

// An ICMP error makes one later call on the socket fail with an errno that is not of that call. Such a call is repeated;
// failures in a row are then of the call itself. A route's routers answer in a burst: on a machine so busy that each call
// took milliseconds, three of their errors came one within each of three calls.
const tries = 16

// Send sends one packet and returns the ID by which a later Sent event gives the kernel's stamp, and the time just
// before sending.
func (s *Socket) Send(packet []byte, to netip.AddrPort) (id uint32, before time.Time, err error) {
	address := s.sockaddr(to)
	for range tries {
		var failed error
		err = s.conn.Write(func(fd uintptr) bool {
			_, _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ERROR) // reading clears it
			before = time.Now()
			failed = unix.Sendto(int(fd), packet, 0, address)
			return !errors.Is(failed, unix.EAGAIN)
		})
		if err == nil && failed == nil {
			return s.numbers.sent(), before, nil
		}
		if err == nil {
			if hasNumber(failed) {
				s.numbers.refuse()
			}
			err = os.NewSyscallError("sendto", failed)
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
	}
	return 0, before, fmt.Errorf("send to %s: %w", to.Addr(), err)
}

// Receive waits for the next event until a moment; then it returns os.ErrDeadlineExceeded.
func (s *Socket) Receive(until time.Time) (Event, error) {
	if err := s.file.SetReadDeadline(until); err != nil {
		return nil, err
	}
	if s.interrupted.Load() { // Interrupt may have come before the deadline was moved
		return nil, os.ErrDeadlineExceeded
	}
	var event Event
	var failed error
	err := s.conn.Read(func(fd uintptr) bool {
		event, failed = s.poll(int(fd))
		return !errors.Is(failed, unix.EAGAIN)
	})
	if err != nil {
		return nil, err
	}
	return event, failed
}

// poll returns the next event, or EAGAIN when there is none. It reads the error queue first, so that the stamp of a
// packet comes before the reply to it.
func (s *Socket) poll(fd int) (Event, error) {
	for failures := 0; ; {
		event, err := s.receive(fd, unix.MSG_ERRQUEUE)
		if errors.Is(err, unix.EAGAIN) {
			event, err = s.receive(fd, 0)
		}
		switch {
		case err == nil && event != nil:
			return event, nil
		case errors.Is(err, unix.EAGAIN):
			return nil, err
		case err != nil: // most likely the errno that an ICMP error left
			if failures++; failures == tries {
				return nil, os.NewSyscallError("recvmsg", err)
			}
		}
	}
}

// arrival is what one call of recvmsg may fill: the largest packet that IP can carry, and more control messages than the
// options of a Socket can yield.
type arrival struct {
	packet [65536]byte
	oob    [512]byte
}

// arrivals are shared by all sockets, of which there may be hundreds: each keeps no more than the packet that it received.
var arrivals = sync.Pool{New: func() any { return new(arrival) }}

// receive makes one call of recvmsg. A nil event without an error is something to pass over.
func (s *Socket) receive(fd, flags int) (Event, error) {
	b := arrivals.Get().(*arrival)
	defer arrivals.Put(b)
	n, oobn, _, from, err := syscall.Recvmsg(fd, b.packet[:], b.oob[:], flags) // package unix asks for the protocol each time
	if err != nil {
		return nil, err
	}
	now := time.Now()
	s.packet = append(s.packet[:0], b.packet[:n]...)
	data, a := s.packet, parseAncillary(b.oob[:oobn])
	at := Stamp{User: now, Kernel: a.kernel}
	if flags&unix.MSG_ERRQUEUE != 0 {
		return s.ofSend(queued(data, a, addrPort(from), at)), nil
	}
	if s.raw && !s.ipv6 {
		if data = afterIPv4Header(data); data == nil {
			return nil, nil
		}
	}
	return Packet{Data: data, From: addrPort(from), TTL: a.ttl, DSCP: a.dscp, ECN: max(0, a.tos) & ecnMask, At: at}, nil
}

// ofSend gives a stamp the ID that Send returned; nil: of a packet that was refused there is nothing to tell.
func (s *Socket) ofSend(event Event) Event {
	sent, is := event.(Sent)
	if !is {
		return event
	}
	if sent.ID, is = s.numbers.of(sent.ID); !is {
		return nil
	}
	return sent
}

// queued makes an event of an entry of the error queue, or nil of one that tells nothing new: an error of this host's
// own making has failed Send already.
func queued(data []byte, a ancillary, to netip.AddrPort, at Stamp) Event {
	if a.extended == nil {
		return nil
	}
	switch a.extended.Origin {
	case unix.SO_EE_ORIGIN_TIMESTAMPING:
		if a.extended.Info == unix.SCM_TSTAMP_SND {
			return Sent{ID: a.extended.Data, Kernel: a.kernel}
		}
	case unix.SO_EE_ORIGIN_ICMP, unix.SO_EE_ORIGIN_ICMP6:
		e := ICMPError{IPv6: a.extended.Origin == unix.SO_EE_ORIGIN_ICMP6, Type: a.extended.Type, Code: a.extended.Code,
			Offender: a.offender, To: to, TTL: a.ttl, At: at}
		e.Quoted, e.Extensions = splitQuoted(data, a.extended.Data)
		if e.Reason() == TooBig {
			e.MTU = int(a.extended.Info)
		}
		return e
	}
	return nil
}

// afterIPv4Header returns what follows the IPv4 header, or nil when the packet is no whole one. The low half of the
// first byte counts the header's 32-bit words (RFC 791, 3.1).
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

func (s *Socket) sockaddr(to netip.AddrPort) unix.Sockaddr {
	port := int(to.Port())
	if s.raw {
		port = 0 // raw IPv6 sockets take it for a protocol number
	}
	return sockaddr(netip.AddrPortFrom(to.Addr(), uint16(port)), s.ipv6)
}

// sockaddr is an address as the kernel takes it on a socket of a family.
func sockaddr(to netip.AddrPort, ipv6 bool) unix.Sockaddr {
	if !ipv6 {
		return &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().Unmap().As4()}
	}
	return &unix.SockaddrInet6{Port: int(to.Port()), Addr: to.Addr().As16(), ZoneId: zone(to.Addr().Zone())}
}

func addrPort(address syscall.Sockaddr) netip.AddrPort {
	switch a := address.(type) {
	case *syscall.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *syscall.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), uint16(a.Port))
	}
	return netip.AddrPort{}
}

// zone turns the zone of a link-local address, an interface by name or number, into the number.
func zone(name string) uint32 {
	if name == "" {
		return 0
	}
	if i, err := net.InterfaceByName(name); err == nil {
		return uint32(i.Index)
	}
	index, _ := strconv.ParseUint(name, 10, 32)
	return uint32(index)
}
