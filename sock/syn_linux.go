package sock

import (
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

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
	if _, err = control(s.conn, func(fd int) (struct{}, error) { return struct{}{}, s.only(fd, portFilter(port, s.ipv6)) }); err != nil {
		s.Close()
		return nil, 0, err
	}
	return s, port, nil
}

// holdPort binds a TCP socket to a free port of an address, and does nothing more with it.
func holdPort(local netip.Addr) (*os.File, uint16, error) {
	domain, address := unix.AF_INET, unix.Sockaddr(nil)
	if local.Is6() {
		domain, address = unix.AF_INET6, &unix.SockaddrInet6{Addr: local.As16(), ZoneId: zone(local.Zone())}
	} else {
		address = &unix.SockaddrInet4{Addr: local.As4()}
	}
	fd, err := unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, 0, os.NewSyscallError("socket", err)
	}
	held := os.NewFile(uintptr(fd), "held port")
	if err := unix.Bind(fd, address); err != nil {
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

// portFilter is a classic BPF program that passes TCP segments to a port: the 16 bits after the source port. Where the header of
// TCP begins is as in identFilter.
func portFilter(port uint16, ipv6 bool) []unix.SockFilter {
	filter := identFilter(port, ipv6)
	filter[1].K = 2
	return filter
}
