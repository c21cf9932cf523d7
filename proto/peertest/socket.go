package peertest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// Socket sends test packets with a TTL of 255 (RFC 4656 section 4.1.2), and receives the TTL and the traffic class with them.
type Socket struct {
	*net.UDPConn
	Port uint16
}

// Listen opens a socket at an address, at a port that is free if the port is zero.
func Listen(at netip.AddrPort) (*Socket, error) {
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
	if err != nil {
		return nil, err
	}
	raw, err := conn.SyscallConn()
	if err == nil {
		err = errors.Join(raw.Control(func(fd uintptr) { err = setOptions(int(fd), at.Addr().Is6()) }), err)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("set options of %v: %w", at, err), conn.Close())
	}
	return &Socket{conn, conn.LocalAddr().(*net.UDPAddr).AddrPort().Port()}, nil
}

func setOptions(fd int, six bool) error {
	if six {
		return errors.Join(syscall.SetsockoptInt(fd, syscall.IPPROTO_IPV6, syscall.IPV6_UNICAST_HOPS, 255),
			syscall.SetsockoptInt(fd, syscall.IPPROTO_IPV6, syscall.IPV6_RECVHOPLIMIT, 1),
			syscall.SetsockoptInt(fd, syscall.IPPROTO_IPV6, syscall.IPV6_RECVTCLASS, 1))
	}
	return errors.Join(syscall.SetsockoptInt(fd, syscall.IPPROTO_IP, syscall.IP_TTL, 255),
		syscall.SetsockoptInt(fd, syscall.IPPROTO_IP, syscall.IP_RECVTTL, 1),
		syscall.SetsockoptInt(fd, syscall.IPPROTO_IP, syscall.IP_RECVTOS, 1))
}

// Datagram is what a socket received.
type Datagram struct {
	Octets []byte
	At     Timestamp
	From   netip.AddrPort
	TTL    byte
	TOS    byte // the traffic class: DSCP in 6 bits, ECN in 2
}

// Read waits for a datagram.
func (s *Socket) Read() (Datagram, error) {
	octets, oob := make([]byte, 65536), make([]byte, 128)
	n, m, _, from, err := s.ReadMsgUDPAddrPort(octets, oob)
	if err != nil {
		return Datagram{}, err
	}
	d := Datagram{Octets: octets[:n], At: Stamp(time.Now()), From: netip.AddrPortFrom(from.Addr().Unmap(), from.Port())}
	messages, err := syscall.ParseSocketControlMessage(oob[:m])
	if err != nil {
		return Datagram{}, fmt.Errorf("read control message: %w", err)
	}
	for _, m := range messages {
		switch {
		case m.Header.Level == syscall.IPPROTO_IP && m.Header.Type == syscall.IP_TTL,
			m.Header.Level == syscall.IPPROTO_IPV6 && m.Header.Type == syscall.IPV6_HOPLIMIT:
			d.TTL = byte(binary.NativeEndian.Uint32(m.Data))
		case m.Header.Level == syscall.IPPROTO_IP && m.Header.Type == syscall.IP_TOS:
			d.TOS = m.Data[0]
		case m.Header.Level == syscall.IPPROTO_IPV6 && m.Header.Type == syscall.IPV6_TCLASS:
			d.TOS = byte(binary.NativeEndian.Uint32(m.Data))
		}
	}
	return d, nil
}

// Write sends a datagram with a traffic class.
func (s *Socket) Write(octets []byte, to netip.AddrPort, tos byte) error {
	level, kind := syscall.IPPROTO_IP, syscall.IP_TOS
	if to.Addr().Is6() {
		level, kind = syscall.IPPROTO_IPV6, syscall.IPV6_TCLASS
	}
	oob := make([]byte, syscall.CmsgSpace(4))
	binary.NativeEndian.PutUint64(oob, uint64(syscall.CmsgLen(4)))
	binary.NativeEndian.PutUint32(oob[8:], uint32(level))
	binary.NativeEndian.PutUint32(oob[12:], uint32(kind))
	binary.NativeEndian.PutUint32(oob[16:], uint32(tos))
	if _, _, err := s.WriteMsgUDPAddrPort(octets, oob, to); err != nil {
		return fmt.Errorf("send test packet: %w", err)
	}
	return nil
}
