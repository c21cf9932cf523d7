package stamp

import (
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// The log tells how many packets were not answered since the beginning, by the reason, now and then and at the end.
func TestRefusalsAreTold(t *testing.T) {
	var said logged
	log := slog.New(slog.NewTextHandler(&said, nil))
	var r refusals
	now := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	for i := range 30 {
		r.add(log, now.Add(time.Duration(i)*time.Second), []string{"short", "forged"}[i%2], netip.AddrPort{})
	}
	r.tell(log)
	r.tell(log)
	var got []string
	for line := range strings.Lines(said.String()) {
		_, counts, _ := strings.Cut(line, " packets.")
		got = append(got, strings.TrimSpace(counts))
	}
	want := []string{"short=1", "forged=5 packets.short=6", "forged=10 packets.short=11", "forged=15 packets.short=15"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, said.String())
	}
}
