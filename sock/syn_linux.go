package sock

import (
	"fmt"
	"net/netip"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// sourceAt and portAt are where a TCP header has its source and its destination port, in bytes from its start.
const sourceAt, portAt = 0, 2

// OpenSYN opens a raw socket that sends TCP segments from the port of local, 0: a free one, and hears those that come to it. The port is held and
// returned, so that nothing else on this host uses it; one that another socket has is refused with EADDRINUSE. Nobody listens there, so the kernel ends by
// itself (RST) what a far end opens. Segments begin with the TCP header, and their checksum is for the caller to compute. It needs CAP_NET_RAW; without it
// the error is a PermissionError.
func OpenSYN(local netip.AddrPort) (s *Socket, port uint16, err error) {
	return openSYN(local, 0, false)
}

// OpenSYNs is OpenSYN for a caller who sends from several ports, of which one is held: the socket hears all segments that come from a port, whichever port
// of this host they are for.
func OpenSYNs(local netip.AddrPort, from uint16) (s *Socket, port uint16, err error) {
	return openSYN(local, from, false)
}

// OpenTCP is OpenSYN for who speaks TCP by itself: the kernel keeps still about what comes to the port. It listens there with a filter that takes nothing,
// and what a filter drops is not answered.
func OpenTCP(local netip.AddrPort) (s *Socket, port uint16, err error) {
	return openSYN(local, 0, true)
}

// openSYN opens a socket that hears the segments from a port; 0: those to the port that is held. quiet: the kernel does not answer there.
func openSYN(local netip.AddrPort, from uint16, quiet bool) (s *Socket, port uint16, err error) {
	held, port, err := holdPort(local)
	if err == nil && quiet {
		if err = takeNothing(held); err != nil {
			held.Close()
		}
	}
	if err != nil {
		return nil, 0, fmt.Errorf("hold a TCP port: %w", err)
	}
	s, err = open(local.Addr().Is6(), unix.SOCK_RAW, unix.IPPROTO_TCP)
	if err != nil {
		held.Close()
		if denied(err) {
			err = &PermissionError{Op: "open raw socket", Err: err, Remedy: "run as root, or setcap cap_net_raw+ep on this program"}
		}
		return nil, 0, err
	}
	s.held = held
	filter := wordFilter(portAt, port, s.ipv6)
	if from != 0 {
		filter = wordFilter(sourceAt, from, s.ipv6)
	}
	if _, err = control(s.conn, func(fd int) (struct{}, error) { return struct{}{}, s.only(fd, filter) }); err != nil {
		s.Close()
		return nil, 0, err
	}
	return s, port, nil
}

// takeNothing listens on a TCP socket that is bound, with a filter that drops all that comes.
func takeNothing(held *os.File) error {
	conn, err := held.SyscallConn()
	if err != nil {
		return err
	}
	_, err = control(conn, func(fd int) (struct{}, error) {
		filter := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: 0}}
		if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &filter[0]}); err != nil {
			return struct{}{}, os.NewSyscallError("setsockopt SO_ATTACH_FILTER", err)
		}
		return struct{}{}, os.NewSyscallError("listen", unix.Listen(fd, 1))
	})
	return err
}

// holdPort binds a TCP socket to a port of an address, 0: a free one, and does nothing more with it.
func holdPort(local netip.AddrPort) (*os.File, uint16, error) {
	held, fd, err := openTCP(local.Addr().Is6(), 0)
	if err != nil {
		return nil, 0, err
	}
	if err := unix.Bind(fd, sockaddr(local, local.Addr().Is6())); err != nil {
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

// warmTime is more than the kernel needs to begin stamping, and less than a person notices.
const warmTime = 20 * time.Millisecond

// stamping counts this process's open sockets on which the kernel stamps arrivals. The kernel goes on to stamp, for the whole
// machine, while any socket is open that asked for it. So one that is opened, and has asked, while another is still counted
// here needs no warming, and counts in turn.
var stamping atomic.Int64

// warm waits until the kernel stamps arrivals, and reports whether it does. It begins to do so, for the whole machine, a while
// after the first socket asked for stamps (net/core/dev.c net_enable_timestamp, which leaves the work to a kernel thread);
// until then packets arrive without. warm sends packets to itself over loopback, on a socket of its own, until one comes with
// a stamp. Where none does, a Stamp without the kernel's time still has the process's.
func warm() bool {
	s, err := openCold(false, unix.SOCK_DGRAM, unix.IPPROTO_UDP)
	if err != nil {
		return false
	}
	defer s.Close()
	local := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	port, err := control(s.conn, func(fd int) (uint16, error) {
		if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: local.As4()}); err != nil {
			return 0, err
		}
		name, err := syscall.Getsockname(fd)
		return addrPort(name).Port(), err
	})
	if err != nil {
		return false
	}
	until := time.Now().Add(warmTime)
	for time.Now().Before(until) {
		if _, _, err := s.Send(nil, netip.AddrPortFrom(local, port)); err != nil {
			return false
		}
		for arrived := false; !arrived; {
			event, err := s.Receive(until)
			if err != nil {
				return false
			}
			packet, ok := event.(Packet)
			if arrived = ok; ok && !packet.At.Kernel.IsZero() {
				return true
			}
		}
	}
	return false
}
