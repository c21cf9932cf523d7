package probe

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"time"
)

// mostDatagram is what a datagram carries at most, in bytes.
const mostDatagram = 65535

// askDatagram sends a request from a port of its own, and returns the first datagram that answers takes for its answer, with the moments just
// before it was sent and just after it came. answers must not keep what it is given.
func askDatagram(ctx context.Context, to netip.AddrPort, request []byte, answers func([]byte) bool) (answer []byte, sent, came time.Time, err error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "udp", to.String()) // connected: nobody else's datagrams come, and ICMP errors do
	if err != nil {
		return nil, sent, came, err
	}
	defer conn.Close()
	defer endWith(ctx, conn)()
	sent = time.Now()
	if _, err := conn.Write(request); err != nil {
		return nil, sent, came, err
	}
	buffer := make([]byte, mostDatagram)
	for {
		n, err := conn.Read(buffer)
		came = time.Now()
		if err != nil {
			return nil, sent, came, err
		}
		if answers(buffer[:n]) {
			return buffer[:n], sent, came, nil
		}
	}
}

// endWith makes what waits on a connection end when ctx does. What it returns is called when the connection is no longer used.
func endWith(ctx context.Context, conn net.Conn) (release func()) {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	return func() { stop() }
}

// isSilence reports whether nothing came in time.
func isSilence(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}
