package sock

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// A connection that a raw socket began is open where somebody listens; where nobody does it is refused, and stays so however often it is asked for.
func TestConnected(t *testing.T) {
	for _, local := range loopbacks {
		l, err := net.Listen("tcp", netip.AddrPortFrom(local, 0).String())
		if err != nil {
			t.Fatal(err)
		}
		at := l.Addr().(*net.TCPAddr).AddrPort()
		connected(t, at, true, nil)
		l.Close()
		connected(t, at, false, unix.ECONNREFUSED)
	}
}

func connected(t *testing.T, to netip.AddrPort, open bool, failed error) {
	t.Helper()
	s, _, err := OpenSYN(netip.AddrPortFrom(to.Addr(), 0))
	if denied := (*PermissionError)(nil); errors.As(err, &denied) {
		t.Skipf("this user may not open raw sockets: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.BeginConnect(to); err != nil {
		t.Fatal(err)
	}
	polled := []unix.PollFd{{Fd: int32(s.held.Fd()), Events: unix.POLLOUT}}
	if n, err := unix.Poll(polled, int(patience.Milliseconds())); n != 1 {
		t.Fatalf("the kernel waits for an answer from %v: %v", to, err)
	}
	for range 2 {
		if got, err := s.Connected(); got != open || !errors.Is(err, failed) {
			t.Errorf("connection to %v: open %v, %v; want %v, %v", to, got, err, open, failed)
		}
	}
}
