package sock

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Answering is a UDP socket that hears packets on a port and answers each from the address that it was sent to, whatever others the host has.
// One goroutine at a time may use it, except that any may call Interrupt.
type Answering struct {
	conn   *net.UDPConn
	raw    syscall.RawConn // of conn
	packet [1 << 16]byte   // the largest that IP can carry
	oob    [512]byte
	none   [1]byte  // what there is of a packet beside the stamp of an answer
	from   [96]byte // control messages of an answer
	asked  uint32   // answers that the kernel was asked to stamp, by which it numbers them
}

// Asked is a packet that came in.
type Asked struct {
	Data  []byte // valid until the next Receive
	From  netip.AddrPort
	Local netip.Addr // that it was sent to; the zero value: not known
	TTL   int        // on arrival; 0: not known
	TOS   int        // DSCP and ECN on arrival; -1: not known
	At    Stamp
}

// answeringBuffer holds what comes while this process waits for a processor: 100,000 small packets/s for 40 ms, each of which the kernel counts
// as some 800 bytes.
const answeringBuffer = 4 << 20

// ListenAnswering opens HOST:PORT; without a host all addresses of the host, of both families.
func ListenAnswering(ctx context.Context, address string) (*Answering, error) {
	config := net.ListenConfig{Control: func(network, _ string, c syscall.RawConn) error {
		// Without privilege the kernel grants up to net.core.rmem_max, and says nothing of it.
		_ = SetInt(c, unix.SOL_SOCKET, unix.SO_RCVBUF, answeringBuffer)
		_ = SetInt(c, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, answeringBuffer)
		return tellAll(c, network == "udp6")
	}}
	conn, err := config.ListenPacket(ctx, "udp", address)
	if errors.Is(err, unix.EADDRINUSE) {
		return nil, fmt.Errorf("listen at %s: another program is there; choose another port: %w", address, err)
	}
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w", address, err)
	}
	a := &Answering{conn: conn.(*net.UDPConn)}
	if a.raw, err = a.conn.SyscallConn(); err != nil {
		conn.Close()
		return nil, fmt.Errorf("listen at %s: %w", address, err)
	}
	return a, nil
}

// answerTTL is the TTL or hop limit of answers: who gets one can tell how many hops it passed (RFC 5357 section 4.2, RFC 8762 section 4.3).
const answerTTL = 255

// answeringStamps asks for stamps of arrivals, and has those of answers numbered and without a copy of the packet, where AnswerStamped asks for one
// (Documentation/networking/timestamping.rst).
const answeringStamps = unix.SOF_TIMESTAMPING_SOFTWARE | unix.SOF_TIMESTAMPING_RX_SOFTWARE | unix.SOF_TIMESTAMPING_OPT_ID | unix.SOF_TIMESTAMPING_OPT_TSONLY

// tellAll asks for stamps, and for TTL, marks and local address of each packet that comes, and sets the TTL of answers. A socket of IPv6 may hear
// IPv4 as well.
func tellAll(c syscall.RawConn, ipv6 bool) error {
	options := []struct{ level, name, value int }{
		{unix.SOL_SOCKET, unix.SO_TIMESTAMPING, answeringStamps},
		{unix.IPPROTO_IP, unix.IP_RECVTTL, 1}, {unix.IPPROTO_IP, unix.IP_RECVTOS, 1}, {unix.IPPROTO_IP, unix.IP_PKTINFO, 1},
		{unix.IPPROTO_IPV6, unix.IPV6_RECVHOPLIMIT, 1}, {unix.IPPROTO_IPV6, unix.IPV6_RECVTCLASS, 1}, {unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1},
		{unix.IPPROTO_IP, unix.IP_TTL, answerTTL}, {unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS, answerTTL},
	}
	for _, o := range options {
		if o.level == unix.IPPROTO_IPV6 && !ipv6 {
			continue
		}
		if err := SetInt(c, o.level, o.name, o.value); err != nil {
			return fmt.Errorf("set up for what comes and goes with packets: %w", err)
		}
	}
	return nil
}

// Addr is where it hears.
func (a *Answering) Addr() net.Addr { return a.conn.LocalAddr() }

// Share lets other sockets be bound to the same address from now on, if they share it, too (SO_REUSEADDR). The kernel gives a packet to the one
// that is connected to its source, if there is one.
func (a *Answering) Share() error {
	if err := SetInt(a.raw, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return fmt.Errorf("share %s: %w", a.Addr(), err)
	}
	return nil
}

// Close closes the socket.
func (a *Answering) Close() error { return a.conn.Close() }

// Interrupt makes the present and all later calls of Receive end at once with os.ErrDeadlineExceeded.
func (a *Answering) Interrupt() {
	_ = a.conn.SetReadDeadline(time.Unix(1, 0)) // fails only on a closed socket, which has ended the calls by itself
}

// Receive waits for a packet.
func (a *Answering) Receive() (Asked, error) {
	n, oobn, _, from, err := a.conn.ReadMsgUDPAddrPort(a.packet[:], a.oob[:])
	if err != nil {
		return Asked{}, err
	}
	beside := parseAncillary(a.oob[:oobn])
	return Asked{Data: a.packet[:n], From: netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), Local: beside.local, TTL: beside.ttl, TOS: beside.tos,
		At: Stamp{User: time.Now(), Kernel: beside.kernel}}, nil
}

// Answer sends a packet to who asked, from the address that was asked, with a DSCP and ECN.
func (a *Answering) Answer(data []byte, to Asked, tos int) error {
	_, _, err := a.conn.WriteMsgUDPAddrPort(data, a.beside(to, tos), to.From)
	return err
}

// AnswerStamped is Answer, and asks the kernel when the packet leaves: Left tells it by the ID. IDs begin again with 0 after an answer that could not be
// sent, of which nobody knows whether the kernel numbered it; stamps that were not told by then are lost.
func (a *Answering) AnswerStamped(data []byte, to Asked, tos int) (id uint32, err error) {
	beside := option(a.beside(to, tos), unix.SOL_SOCKET, unix.SO_TIMESTAMPING, unix.SOF_TIMESTAMPING_TX_SOFTWARE)
	if _, _, err = a.conn.WriteMsgUDPAddrPort(data, beside, to.From); err != nil {
		a.renumber()
		return 0, err
	}
	a.asked++
	return a.asked - 1, nil
}

// renumber has the kernel number stamps from 0 again, which it does when it begins to number them.
func (a *Answering) renumber() {
	for told := true; told; {
		_, told = a.Left()
	}
	for _, stamps := range []int{answeringStamps &^ unix.SOF_TIMESTAMPING_OPT_ID, answeringStamps} {
		_ = SetInt(a.raw, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, stamps) // what was allowed before is
	}
	a.asked = 0
}

// Left is what the kernel says next of an answer that left, for which it does not wait; told is false where it says nothing.
func (a *Answering) Left() (sent Sent, told bool) {
	for {
		var oobn int
		var failed error
		err := a.raw.Control(func(fd uintptr) {
			_, oobn, _, _, failed = syscall.Recvmsg(int(fd), a.none[:], a.oob[:], unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
		})
		if err != nil || failed != nil {
			return Sent{}, false
		}
		if sent, is := queued(nil, parseAncillary(a.oob[:oobn]), netip.AddrPort{}, Stamp{}).(Sent); is {
			return sent, true
		}
	}
}

// beside are the control messages of an answer.
func (a *Answering) beside(to Asked, tos int) []byte {
	b := fromAddress(a.from[:0], to.Local)
	if tos != 0 {
		b = marked(b, to.From.Addr(), tos)
	}
	return b
}

// fromAddress appends the control message by which a packet leaves from an address (ip(7), ipv6(7)); nothing for the zero value.
func fromAddress(b []byte, local netip.Addr) []byte {
	switch {
	case local.Is4():
		return append(b, unix.PktInfo4(&unix.Inet4Pktinfo{Spec_dst: local.As4()})...)
	case local.Is6():
		return append(b, unix.PktInfo6(&unix.Inet6Pktinfo{Addr: local.As16()})...)
	}
	return b
}

// marked appends the control message by which a packet to an address leaves with a DSCP and ECN (ip(7), ipv6(7)).
func marked(b []byte, to netip.Addr, tos int) []byte {
	if to.Is4() {
		return option(b, unix.IPPROTO_IP, unix.IP_TOS, tos)
	}
	return option(b, unix.IPPROTO_IPV6, unix.IPV6_TCLASS, tos)
}

// option appends a control message that sets an option for one packet.
func option(b []byte, level, name, value int) []byte {
	at := len(b)
	b = append(b, make([]byte, unix.CmsgSpace(4))...)
	head := (*unix.Cmsghdr)(unsafe.Pointer(&b[at]))
	head.Level, head.Type = int32(level), int32(name)
	head.SetLen(unix.CmsgLen(4))
	binary.NativeEndian.PutUint32(b[at+unix.CmsgLen(0):], uint32(value))
	return b
}
