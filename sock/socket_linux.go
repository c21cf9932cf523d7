package sock

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Socket sends and receives single packets that the kernel stamps, and hears the ICMP errors that they meet. It is not
// connected. One goroutine at a time may use it, except that any may call Interrupt.
type Socket struct {
	file        *os.File // owns the descriptor, and waits on it through the runtime's poller
	conn        syscall.RawConn
	ipv6        bool
	raw         bool
	sent        uint32 // packets that the kernel has numbered
	interrupted atomic.Bool
	stamped     atomic.Bool // it counts among those in stamping
	packet      []byte      // the last one received
}

// OpenUDP opens a UDP socket on a free port, for IPv4 or for IPv6.
func OpenUDP(ipv6 bool) (*Socket, error) {
	s, err := open(ipv6, unix.SOCK_DGRAM, unix.IPPROTO_UDP)
	if err != nil {
		return nil, fmt.Errorf("open UDP socket: %w", err)
	}
	return s, nil
}

// OpenEcho opens a socket for ICMP echo, of ICMP or ICMPv6: a datagram socket, which needs no privilege where
// net.ipv4.ping_group_range allows it, else a raw one, which needs CAP_NET_RAW. Where the kernel allows neither it
// returns a PermissionError. Packets sent and received start with the ICMP header in both cases.
func OpenEcho(ipv6 bool) (*Socket, error) {
	protocol := unix.IPPROTO_ICMP
	if ipv6 {
		protocol = unix.IPPROTO_ICMPV6
	}
	s, err := open(ipv6, unix.SOCK_DGRAM, protocol)
	if denied(err) {
		if s, err = open(ipv6, unix.SOCK_RAW, protocol); err == nil {
			if err = s.onlyEchoReplies(); err != nil {
				s.Close()
			}
		}
	}
	switch {
	case err == nil:
		return s, nil
	case denied(err):
		return nil, &PermissionError{Op: "open ICMP socket", Err: err,
			Remedy: `let root run: sysctl -w net.ipv4.ping_group_range="0 2147483647", or setcap cap_net_raw+ep on this program`}
	}
	return nil, fmt.Errorf("open ICMP socket: %w", err)
}

func denied(err error) bool { return errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) }

// open opens a socket on which the kernel has begun to stamp.
func open(ipv6 bool, kind, protocol int) (*Socket, error) {
	s, err := openCold(ipv6, kind, protocol)
	if err != nil {
		return nil, err
	}
	if stamping.Load() > 0 || warm() {
		s.stamped.Store(true)
		stamping.Add(1)
	}
	return s, nil
}

// openCold opens a socket whose first arrivals may lack the kernel's stamp.
func openCold(ipv6 bool, kind, protocol int) (*Socket, error) {
	domain := unix.AF_INET
	if ipv6 {
		domain = unix.AF_INET6
	}
	fd, err := unix.Socket(domain, kind|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	s := &Socket{file: os.NewFile(uintptr(fd), "socket"), ipv6: ipv6, raw: kind == unix.SOCK_RAW}
	if s.conn, err = s.file.SyscallConn(); err == nil {
		err = s.prepare()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// prepare asks for stamps of both directions, numbered and without a copy of the packet, for the TTL of arrivals, and
// for ICMP errors (Documentation/networking/timestamping.rst, ip(7) IP_RECVERR).
func (s *Socket) prepare() error {
	const stamping = unix.SOF_TIMESTAMPING_SOFTWARE | unix.SOF_TIMESTAMPING_RX_SOFTWARE |
		unix.SOF_TIMESTAMPING_TX_SOFTWARE | unix.SOF_TIMESTAMPING_OPT_ID | unix.SOF_TIMESTAMPING_OPT_TSONLY
	level, icmp, ttl := unix.IPPROTO_IP, unix.IP_RECVERR, unix.IP_RECVTTL
	if s.ipv6 {
		level, icmp, ttl = unix.IPPROTO_IPV6, unix.IPV6_RECVERR, unix.IPV6_RECVHOPLIMIT
		if err := setInt(s.conn, level, unix.IPV6_V6ONLY, 1); err != nil && !s.raw {
			return os.NewSyscallError("setsockopt IPV6_V6ONLY", err)
		}
	}
	if err := setInt(s.conn, level, icmp, 1); err != nil {
		return os.NewSyscallError("setsockopt IP_RECVERR", err)
	}
	if err := setInt(s.conn, level, ttl, 1); err != nil {
		return os.NewSyscallError("setsockopt IP_RECVTTL", err)
	}
	return os.NewSyscallError("setsockopt SO_TIMESTAMPING",
		setInt(s.conn, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, stamping))
}

// onlyEchoReplies spares a raw socket all other ICMP. Errors about our own packets come by the error queue regardless.
func (s *Socket) onlyEchoReplies() error {
	const echoReply, echoReply6 = 0, 129
	_, err := control(s.conn, func(fd int) (struct{}, error) {
		if !s.ipv6 {
			const solRaw, icmpFilter = 255, 1 // linux/icmp.h; a bit that is set blocks its type
			return struct{}{}, unix.SetsockoptInt(fd, solRaw, icmpFilter, ^(1<<echoReply)&0x7fffffff)
		}
		var filter unix.ICMPv6Filter
		for i := range filter.Data {
			filter.Data[i] = ^uint32(0)
		}
		filter.Data[echoReply6/32] &^= 1 << (echoReply6 % 32)
		return struct{}{}, unix.SetsockoptICMPv6Filter(fd, unix.IPPROTO_ICMPV6, 1, &filter)
	})
	return os.NewSyscallError("setsockopt ICMP_FILTER", err)
}

// Raw says whether this is a raw socket: its user then hears the packets of others as well.
func (s *Socket) Raw() bool { return s.raw }

// SyscallConn gives access to the descriptor, for the options of this package.
func (s *Socket) SyscallConn() (syscall.RawConn, error) { return s.conn, nil }

// Close closes the socket.
func (s *Socket) Close() error {
	if s.stamped.Swap(false) {
		stamping.Add(-1) // before it is closed: see stamping
	}
	return s.file.Close()
}

// SetTTL sets the TTL, or hop limit, of the packets sent from now on: 1..255.
func (s *Socket) SetTTL(ttl int) error {
	var err error
	if s.ipv6 {
		err = setInt(s.conn, unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS, ttl)
	} else {
		err = setInt(s.conn, unix.IPPROTO_IP, unix.IP_TTL, ttl)
	}
	if err != nil {
		return fmt.Errorf("set TTL %d: %w", ttl, err)
	}
	return nil
}

// Interrupt makes the present and all later calls of Receive and Send end at once with os.ErrDeadlineExceeded.
func (s *Socket) Interrupt() {
	s.interrupted.Store(true)
	_ = s.file.SetDeadline(time.Unix(1, 0)) // fails only on a closed socket, which has ended the calls by itself
}
