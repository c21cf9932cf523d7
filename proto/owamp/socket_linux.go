package owamp

import (
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/sock"
)

// openAt opens a UDP socket at an address of this host, on a port or, where that is 0, on a free one, which it returns.
func openAt(local netip.Addr, port uint16) (s *sock.Socket, at uint16, err error) {
	s, err = sock.OpenUDP(local.Is6())
	if err != nil {
		return nil, 0, err
	}
	if at, err = bind(s, netip.AddrPortFrom(local, port)); err != nil {
		s.Close()
		return nil, 0, fmt.Errorf("open test port at %v: %w", local, err)
	}
	return s, at, nil
}

// receiveBuffer holds what comes while a receiver waits for a processor: a tenth of a second of 10,000 packets a second.
const receiveBuffer = 1 << 20

func bind(s *sock.Socket, local netip.AddrPort) (port uint16, err error) {
	conn, err := s.SyscallConn()
	if err != nil {
		return 0, err
	}
	_, _ = sock.SetReceiveBuffer(conn, receiveBuffer) // as much as is granted
	var bound unix.Sockaddr
	failed := conn.Control(func(fd uintptr) {
		if err = unix.Bind(int(fd), socketAddress(local)); err == nil {
			bound, err = unix.Getsockname(int(fd))
		}
	})
	if failed != nil || err != nil {
		return 0, os.NewSyscallError("bind", firstOf(failed, err))
	}
	switch a := bound.(type) {
	case *unix.SockaddrInet4:
		port = uint16(a.Port)
	case *unix.SockaddrInet6:
		port = uint16(a.Port)
	}
	return port, nil
}

func socketAddress(local netip.AddrPort) unix.Sockaddr {
	if local.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(local.Port()), Addr: local.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(local.Port()), Addr: local.Addr().As16()}
}
