package sock

import (
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// portAt is where a TCP header has its destination port, in bytes from its start.
const portAt = 2

// OpenSYN opens a raw socket that sends TCP segments from a port of local and hears those that come to it. The port is held, so
// that nothing else on this host uses it; nobody listens there, so the kernel ends by itself (RST) what a far end opens. Segments
// begin with the TCP header, and their checksum is for the caller to compute. It needs CAP_NET_RAW; without it the error is
// a PermissionError.
func OpenSYN(local netip.Addr) (s *Socket, port uint16, err error) {
	held, port, err := holdPort(local)
	if err != nil {
		return nil, 0, fmt.Errorf("hold a TCP port: %w", err)
	}
	s, err = open(local.Is6(), unix.SOCK_RAW, unix.IPPROTO_TCP)
	if err != nil {
		held.Close()
		if denied(err) {
			err = &PermissionError{Op: "open raw socket", Err: err, Remedy: "run as root, or setcap cap_net_raw+ep on this program"}
		}
		return nil, 0, err
	}
	s.held = held
	filter := wordFilter(portAt, port, s.ipv6)
	if _, err = control(s.conn, func(fd int) (struct{}, error) { return struct{}{}, s.only(fd, filter) }); err != nil {
		s.Close()
		return nil, 0, err
	}
	return s, port, nil
}

// holdPort binds a TCP socket to a free port of an address, and does nothing more with it.
func holdPort(local netip.Addr) (*os.File, uint16, error) {
	held, fd, err := openTCP(local.Is6(), 0)
	if err != nil {
		return nil, 0, err
	}
	if err := unix.Bind(fd, sockaddr(netip.AddrPortFrom(local, 0), local.Is6())); err != nil {
		held.Close()
		return nil, 0, os.NewSyscallError("bind", err)
	}
	bound, err := unix.Getsockname(fd)
	if err != nil {
		held.Close()
		return nil, 0, os.NewSyscallError("getsockname", err)
	}
	if a, is := bound.(*unix.SockaddrInet6); is {
		return held, uint16(a.Port), nil
	}
	return held, uint16(bound.(*unix.SockaddrInet4).Port), nil
}

// openTCP opens a TCP socket. flags are those of socket(2), beside SOCK_CLOEXEC.
func openTCP(ipv6 bool, flags int) (*os.File, int, error) {
	domain := unix.AF_INET
	if ipv6 {
		domain = unix.AF_INET6
	}
	fd, err := unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|flags, 0)
	if err != nil {
		return nil, 0, os.NewSyscallError("socket", err)
	}
	return os.NewFile(uintptr(fd), "TCP socket"), fd, nil
}
