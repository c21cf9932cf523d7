package sock

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// BeginConnect begins a TCP connection by the port that a socket of OpenSYN holds, and does not wait for it: its segments come to the socket as well as to the
// kernel, which keeps the connection open until the socket is closed, and then ends it with an RST.
func (s *Socket) BeginConnect(to netip.AddrPort) error {
	held, err := s.held.SyscallConn()
	if err != nil {
		return fmt.Errorf("connect to %s: %w", to, err)
	}
	_, err = control(held, func(fd int) (struct{}, error) {
		if err := unix.SetNonblock(fd, true); err != nil {
			return struct{}{}, os.NewSyscallError("fcntl", err)
		}
		if err := unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}); err != nil {
			return struct{}{}, os.NewSyscallError("setsockopt SO_LINGER", err)
		}
		err := unix.Connect(fd, sockaddr(to, s.ipv6))
		if errors.Is(err, unix.EINPROGRESS) {
			err = nil
		}
		return struct{}{}, err
	})
	if errors.Is(err, unix.ECONNREFUSED) { // which is an answer, and comes to the socket, too
		s.unconnected = unix.ECONNREFUSED
		return nil
	}
	if err != nil {
		return fmt.Errorf("connect to %s: %w", to, err)
	}
	return nil
}

// Connected says what the kernel, which knows what it sent, makes of the answers to BeginConnect: open, or an error such as ECONNREFUSED; neither: it waits for one.
func (s *Socket) Connected() (open bool, err error) {
	if s.unconnected != nil {
		return false, s.unconnected
	}
	held, err := s.held.SyscallConn()
	if err != nil {
		return false, err
	}
	open, s.unconnected = control(held, func(fd int) (bool, error) {
		if code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR); err != nil || code != 0 { // reading clears it
			return false, cmp.Or(err, error(unix.Errno(code)))
		}
		_, opening := unix.Getpeername(fd)
		return opening == nil, nil
	})
	return open, s.unconnected
}
