package sock

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// BindTo binds the socket to a local address and port, and returns the port; 0: the one that the kernel gives it. Of a datagram socket for echoes that is the
// identifier of its requests. One that another socket has is refused with EADDRINUSE.
func (s *Socket) BindTo(local netip.AddrPort) (uint16, error) {
	return control(s.conn, func(fd int) (uint16, error) {
		// Datagram sockets for echoes share an identifier unless one of them does not want to (net/ipv4/ping.c, INET_PROTOSW_REUSE): each would hear but some replies.
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 0); err != nil {
			return 0, os.NewSyscallError("setsockopt SO_REUSEADDR", err)
		}
		if err := unix.Bind(fd, sockaddr(local, s.ipv6)); err != nil {
			return 0, os.NewSyscallError("bind", err)
		}
		name, err := syscall.Getsockname(fd)
		return addrPort(name).Port(), os.NewSyscallError("getsockname", err)
	})
}

// OpenICMP opens a raw socket that hears the ICMP errors and echo replies that come to this host, about whomever's packets. Its Packets
// begin with the ICMP header. It needs CAP_NET_RAW; without it the error is a PermissionError.
func OpenICMP(ipv6 bool) (*Socket, error) {
	protocol := unix.IPPROTO_ICMP
	if ipv6 {
		protocol = unix.IPPROTO_ICMPV6
	}
	s, err := open(ipv6, unix.SOCK_RAW, protocol)
	if denied(err) {
		return nil, &PermissionError{Op: "open raw ICMP socket", Err: err, Remedy: "run as root, or setcap cap_net_raw+ep on this program"}
	}
	if err != nil {
		return nil, fmt.Errorf("open raw ICMP socket: %w", err)
	}
	level, option := unix.IPPROTO_IP, unix.IP_RECVERR // what its error queue would have comes as packets, too
	if ipv6 {
		level, option = unix.IPPROTO_IPV6, unix.IPV6_RECVERR
	}
	if err = SetInt(s.conn, level, option, 0); err == nil {
		_, err = control(s.conn, s.onlyErrorsAndReplies)
	}
	_ = SetInt(s.conn, unix.SOL_SOCKET, unix.SO_RCVBUF, icmpBuffer)      // as much as net.core.rmem_max allows
	_ = SetInt(s.conn, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, icmpBuffer) // or beyond it
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("open raw ICMP socket: %w", err)
	}
	return s, nil
}

// icmpBuffer holds some five thousand messages, for each of which the kernel reckons some 800 bytes: such a socket hears what comes for all of this host, and of a flood of
// that the answers to its own packets are not to be lost while this process waits for a processor.
const icmpBuffer = 4 << 20

// onlyErrorsAndReplies spares the socket all other ICMP: a bit of the filter of IPv4 that is set blocks its type (linux/icmp.h), as one of
// IPv6's does on Linux (RFC 3542, 3.2).
func (s *Socket) onlyErrorsAndReplies(fd int) (struct{}, error) {
	if !s.ipv6 {
		const solRaw, icmpFilter = 255, 1
		const wanted = 1<<0 | 1<<3 | 1<<11 | 1<<12 // echo reply, unreachable, time exceeded, bad parameter
		return struct{}{}, unix.SetsockoptInt(fd, solRaw, icmpFilter, ^wanted&0x7fffffff)
	}
	var filter unix.ICMPv6Filter
	for i := range filter.Data {
		filter.Data[i] = ^uint32(0)
	}
	for _, kind := range []int{1, 2, 3, 4, 129} { // unreachable, too big, time exceeded, bad parameter, echo reply
		filter.Data[kind/32] &^= 1 << (kind % 32)
	}
	return struct{}{}, unix.SetsockoptICMPv6Filter(fd, unix.IPPROTO_ICMPV6, 1, &filter)
}

// The options by which an entry of the error queue tells where the extensions of its ICMP error begin (RFC 4884; Linux 5.9).
const (
	ipErrorExtensions   = 26 // IP_RECVERR_RFC4884, linux/in.h
	ipv6ErrorExtensions = 31 // IPV6_RECVERR_RFC4884, linux/in6.h
)

// HearExtensions has ICMPErrors of the error queue tell their Extensions. Kernels before Linux 5.9 refuse; they tell none.
func HearExtensions(c syscall.RawConn) error {
	_, err := control(c, func(fd int) (struct{}, error) {
		domain, err := family(fd)
		if err != nil {
			return struct{}{}, err
		}
		if domain == unix.AF_INET6 {
			return struct{}{}, unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, ipv6ErrorExtensions, 1)
		}
		return struct{}{}, unix.SetsockoptInt(fd, unix.IPPROTO_IP, ipErrorExtensions, 1)
	})
	return os.NewSyscallError("setsockopt IP_RECVERR_RFC4884", err)
}

// splitQuoted parts what an entry of the error queue holds into the quote and the extensions behind it. word is that of struct
// sock_extended_err which says where: | offset : 16 | flags : 8 | 0 : 8 |; an offset of 0 says that there are none.
func splitQuoted(data []byte, word uint32) (quoted, extensions []byte) {
	var raw [4]byte
	binary.NativeEndian.PutUint32(raw[:], word)
	offset := int(binary.NativeEndian.Uint16(raw[:]))
	if offset == 0 || offset > len(data) {
		return data, nil
	}
	return data[:offset], data[offset:]
}
