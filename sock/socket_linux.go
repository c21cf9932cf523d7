package sock

import (
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
	ident       ident    // of a raw socket for echoes
	held        *os.File // of a raw socket for TCP: what keeps its port from others
	unconnected error    // why the connection that BeginConnect began is not open, and will not be
	numbers     numbering
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
		if err := SetInt(s.conn, level, unix.IPV6_V6ONLY, 1); err != nil && !s.raw {
			return os.NewSyscallError("setsockopt IPV6_V6ONLY", err)
		}
	}
	if err := SetInt(s.conn, level, icmp, 1); err != nil {
		return os.NewSyscallError("setsockopt IP_RECVERR", err)
	}
	if err := SetInt(s.conn, level, ttl, 1); err != nil {
		return os.NewSyscallError("setsockopt IP_RECVTTL", err)
	}
	return os.NewSyscallError("setsockopt SO_TIMESTAMPING",
		SetInt(s.conn, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, stamping))
}

// SyscallConn gives access to the descriptor, for the options of this package.
func (s *Socket) SyscallConn() (syscall.RawConn, error) { return s.conn, nil }

// Close closes the socket.
func (s *Socket) Close() error {
	if s.stamped.Swap(false) {
		stamping.Add(-1) // before it is closed: see stamping
	}
	err := s.file.Close()
	if s.held != nil {
		s.held.Close()
	}
	s.ident.free() // after it, so that nobody is given the identifier before
	return err
}

// SetTTL sets the TTL, or hop limit, of the packets sent from now on: 1..255.
func (s *Socket) SetTTL(ttl int) error { return SetTTL(s.conn, ttl) }

// Interrupt makes the present and all later calls of Receive and Send end at once with os.ErrDeadlineExceeded.
func (s *Socket) Interrupt() {
	s.interrupted.Store(true)
	_ = s.file.SetDeadline(time.Unix(1, 0)) // fails only on a closed socket, which has ended the calls by itself
}
