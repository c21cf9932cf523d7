package stamp

import (
	"net/netip"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

func askedFrom(from netip.AddrPort) sock.Asked {
	return sock.Asked{Data: make([]byte, LeastBytes), From: from}
}

// Sessions are counted apart, from the beginning again after a long silence, and forged ones take no more room than there is.
func TestSessions(t *testing.T) {
	var s sessions
	now := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	a := netip.MustParseAddrPort("192.0.2.1:1000")
	next := func(number uint16, want uint32) {
		t.Helper()
		if got, ok := s.next(a, number, now); !ok || got != want {
			t.Errorf("session %d: %d, %v; want %d", number, got, ok, want)
		}
	}
	next(1, 0)
	next(2, 0)
	next(1, 1)
	now = now.Add(refWait + time.Second)
	next(1, 0)
	for i := range mostSessions {
		s.next(netip.AddrPortFrom(a.Addr(), uint16(i)), 3, now)
	}
	if _, ok := s.next(a, 4, now); ok || len(s.all) > mostSessions {
		t.Errorf("%d sessions are kept, and one more: %v", len(s.all), ok)
	}
	now = now.Add(refWait + time.Second)
	next(5, 0)
	if len(s.all) != 1 {
		t.Errorf("%d sessions are kept of which nothing was heard", len(s.all)-1)
	}
}
