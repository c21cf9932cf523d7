package iperf3

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/sock"
)

// sleepFor sleeps in the kernel instead of in Go's scheduler, which wakes half a millisecond late; signals may end it
// early, so callers loop until their time has come.
func sleepFor(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &ts, nil)
}

// exactSleep lets the calling thread's sleeps end within a nanosecond of their time instead of 50 us after it.
func exactSleep() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // worse pacing is all that a failure brings
}

// stampArrivals asks the kernel for its own receive time of each datagram.
func stampArrivals(c syscall.RawConn) error {
	return sock.SetInt(c, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, 1)
}

// cutBursts makes the kernel cut what is written to a UDP socket into datagrams of a size (UDP_SEGMENT, udp(7)). 0: no more.
func cutBursts(c syscall.RawConn, size int) error {
	return sock.SetInt(c, unix.SOL_UDP, unix.UDP_SEGMENT, size)
}

// setMSS sets the largest segment in bytes that the connection will offer and use; it is to be called before connect.
func setMSS(c syscall.RawConn, mss int) error {
	return sock.SetInt(c, unix.IPPROTO_TCP, unix.TCP_MAXSEG, mss)
}

// liftWindowClamp lets a connection that is already established use a receive buffer set after its handshake: the
// kernel derived the largest window to show from the buffer of that moment (tcp_init_buffer_space).
func liftWindowClamp(c syscall.RawConn, bytes int) error {
	return sock.SetInt(c, unix.IPPROTO_TCP, unix.TCP_WINDOW_CLAMP, bytes)
}

// shareAddress lets several sockets bind to one address, as the connected sockets of a UDP server do.
func shareAddress(_, _ string, c syscall.RawConn) error {
	return sock.SetInt(c, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
}

// pathMTU is the largest packet in bytes that the kernel sends whole to where a socket is connected; 0: it does not say.
func pathMTU(c syscall.RawConn) (bytes int) {
	_ = c.Control(func(fd uintptr) {
		var err error
		if bytes, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_MTU); err != nil {
			bytes, _ = unix.GetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_MTU)
		}
	})
	return bytes
}

// tellUnsent makes the kernel tell a sender that its own queue dropped a datagram (ip(7), IP_RECVERR), which UDP keeps to itself otherwise.
func tellUnsent(c syscall.RawConn) error {
	err := sock.SetInt(c, unix.IPPROTO_IP, unix.IP_RECVERR, 1)
	if six := sock.SetInt(c, unix.IPPROTO_IPV6, unix.IPV6_RECVERR, 1); six == nil { // of an IPv6 socket, which may refuse the other
		return nil
	}
	return err
}
