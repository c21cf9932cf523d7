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
	packet [1 << 16]byte // the largest that IP can carry
	oob    [512]byte
	from   [64]byte // control messages of an answer
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
	return &Answering{conn: conn.(*net.UDPConn)}, nil
}

// answerTTL is the TTL or hop limit of answers: who gets one can tell how many hops it passed (RFC 5357 section 4.2, RFC 8762 section 4.3).
const answerTTL = 255

// tellAll asks for stamps of arrivals, and for TTL, marks and local address of each, and sets the TTL of answers. A socket of IPv6 may hear IPv4
// as well.
func tellAll(c syscall.RawConn, ipv6 bool) error {
	options := []struct{ level, name, value int }{
		{unix.SOL_SOCKET, unix.SO_TIMESTAMPING, unix.SOF_TIMESTAMPING_SOFTWARE | unix.SOF_TIMESTAMPING_RX_SOFTWARE},
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
	beside := fromAddress(a.from[:0], to.Local)
	if tos != 0 {
		beside = marked(beside, to.From.Addr(), tos)
	}
	_, _, err := a.conn.WriteMsgUDPAddrPort(data, beside, to.From)
	return err
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
	level, name := unix.IPPROTO_IPV6, unix.IPV6_TCLASS
	if to.Is4() {
		level, name = unix.IPPROTO_IP, unix.IP_TOS
	}
	at := len(b)
	b = append(b, make([]byte, unix.CmsgSpace(4))...)
	head := (*unix.Cmsghdr)(unsafe.Pointer(&b[at]))
	head.Level, head.Type = int32(level), int32(name)
	head.SetLen(unix.CmsgLen(4))
	binary.NativeEndian.PutUint32(b[at+unix.CmsgLen(0):], uint32(tos))
	return b
}
