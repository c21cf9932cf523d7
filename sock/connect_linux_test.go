package sock

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func parseAll(addresses string) (all []netip.Addr) {
	for text := range strings.FieldsSeq(addresses) {
		all = append(all, netip.MustParseAddr(text))
	}
	return all
}

// attempts is a dialer that notes when it was told to connect where, and for which some addresses never answer.
type attempts struct {
	net.Dialer
	silent map[netip.AddrPort]bool
	mutex  sync.Mutex
	at     map[netip.AddrPort]time.Time
}

func newAttempts(silent ...netip.AddrPort) *attempts {
	a := &attempts{silent: map[netip.AddrPort]bool{}, at: map[netip.AddrPort]time.Time{}}
	for _, s := range silent {
		a.silent[s] = true
	}
	a.ControlContext = func(ctx context.Context, _, address string, _ syscall.RawConn) error {
		to := netip.MustParseAddrPort(address)
		a.mutex.Lock()
		a.at[to] = time.Now()
		a.mutex.Unlock()
		if a.silent[to] {
			<-ctx.Done()
			return context.Cause(ctx)
		}
		return nil
	}
	return a
}

// The next address has its turn when the one before fails, or stays silent for 250 ms, and not before.
func TestConnectGoesOn(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	open := netip.MustParseAddrPort(l.Addr().String())
	closed := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.2"), open.Port())
	silent := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.3"), open.Port())
	never := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.4"), open.Port())
	for _, test := range []struct {
		name   string
		first  netip.AddrPort
		within [2]time.Duration // from the first attempt to the second
	}{
		{"one that refuses", closed, [2]time.Duration{0, attemptDelay}},
		{"one that is silent", silent, [2]time.Duration{attemptDelay, time.Minute}},
	} {
		dialer := newAttempts(silent)
		conn, err := Connect(t.Context(), &dialer.Dialer, []netip.AddrPort{test.first, open, never})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := conn.RemoteAddr().String(); got != open.String() {
			t.Errorf("%s: connected to %s", test.name, got)
		}
		conn.Close()
		waited := dialer.at[open].Sub(dialer.at[test.first])
		if waited < test.within[0] || waited >= test.within[1] {
			t.Errorf("%s: the next was tried after %v, want %v to %v", test.name, waited, test.within[0], test.within[1])
		}
	}
}

// Where no address answers, the error is that of each; and the end of ctx ends the wait.
func TestConnectFails(t *testing.T) {
	closed := netip.MustParseAddrPort("127.0.0.2:9")
	dialer := newAttempts()
	_, err := Connect(t.Context(), &dialer.Dialer, []netip.AddrPort{closed, netip.MustParseAddrPort("[::1]:9")})
	if !errors.Is(err, unix.ECONNREFUSED) || !strings.Contains(err.Error(), "127.0.0.2") || !strings.Contains(err.Error(), "::1") {
		t.Errorf("both refuse: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dialer = newAttempts(closed)
	if _, err := Connect(ctx, &dialer.Dialer, []netip.AddrPort{closed}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
