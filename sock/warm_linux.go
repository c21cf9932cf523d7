package sock

import (
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

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
