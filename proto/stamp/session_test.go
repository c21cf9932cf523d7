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
		if got := s.next(a, number, now); got == nil || got.count-1 != want {
			t.Errorf("session %d: %+v; want %d answers before", number, got, want)
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
	if one := s.next(a, 4, now); one != nil || len(s.all) > mostSessions {
		t.Errorf("%d sessions are kept, and one more: %+v", len(s.all), one)
	}
	now = now.Add(refWait + time.Second)
	next(5, 0)
	if len(s.all) != 1 {
		t.Errorf("%d sessions are kept of which nothing was heard", len(s.all)-1)
	}
}
