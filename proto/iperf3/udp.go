package iperf3

import (
	"errors"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// udpBuffer is asked for as receive buffer when the caller asked for none: datagrams that the kernel drops
	// because this process was not scheduled for some milliseconds are not the path's loss. At high rates it is what comes in
	// udpBufferTime, up to udpBufferMost. The kernel cuts it to net.core.rmem_max, unless the process may go beyond (CAP_NET_ADMIN).
	udpBuffer     = 4 << 20
	udpBufferMost = 64 << 20
	udpBufferTime = 50 * time.Millisecond

	udpSettle = 2 * time.Millisecond  // without a datagram, at the end: the queue is empty
	udpLinger = 50 * time.Millisecond // in all, whatever still comes
	udpPoll   = 50 * time.Millisecond // longest sleep, so that the end of a test is seen
)

// connectUDP opens one stream at the client: it sends udpHello until the server answers, or, in reverse, sends data.
func connectUDP(conn *net.UDPConn, limit time.Duration) error {
	const tries = 4
	var buf [1 << 16]byte
	for range tries {
		if _, err := conn.Write(udpHello[:]); err != nil && !errors.Is(err, unix.ECONNREFUSED) {
			return err
		}
		conn.SetReadDeadline(time.Now().Add(limit / tries))
		for {
			n, err := conn.Read(buf[:])
			if err == nil && (isUDPAnswer(buf[:n]) || n >= minUDPLength) {
				return conn.SetReadDeadline(time.Time{})
			}
			if err != nil && !errors.Is(err, unix.ECONNREFUSED) {
				break // try again
			}
			if errors.Is(err, unix.ECONNREFUSED) { // a port that is not open yet, or not at all
				time.Sleep(limit / tries / 4)
				break
			}
		}
	}
	return ErrUDPBlocked
}
