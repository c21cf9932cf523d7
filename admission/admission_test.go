package admission

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// standing is a connection from an address that does nothing.
type standing struct {
	net.Conn
	address string
	closed  bool
}

func (s *standing) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(s.address))
}
func (s *standing) Close() error { s.closed = true; return nil }

// Networks have their share and all together theirs, with and without a spare eighth to be told so; who is exempt may take all;
// what leaves makes room, and nothing is remembered.
func TestConnections(t *testing.T) {
	exempt := func(a netip.Addr) bool { return a == netip.MustParseAddr("192.0.2.1") }
	for _, step := range []struct {
		limits        Limits
		address, want string // % is the connection's number; . in, n or a in to be told, N or A not in
	}{
		{Limits{All: 16, Each: 4}, "10.0.0.1:1", "....NN"},
		{Limits{All: 16, Each: 4}, "[::ffff:10.0.0.1]:1", "....NN"},
		{Limits{All: 16, Each: 4}, "[2001:db8::%]:1", "....NN"},
		{Limits{All: 6, Each: 4}, "[2001:db8:0:%::1]:1", "......AA"},
		{Limits{All: 6, Each: 4, Exempt: exempt}, "192.0.2.1:1", "......AA"},
		{Limits{All: 16, Each: 8, Spare: true}, "10.0.0.1:1", "........nNN"},
		{Limits{All: 16, Each: 4, Spare: true}, "10.0.%.1:1", "................aaAA"},
		{Limits{All: 16, Each: 4, Spare: true, Exempt: exempt}, "192.0.2.1:1", "................aaAA"},
	} {
		c := NewConnections(step.limits)
		for range 2 { // what leaves makes room
			got := ""
			var all []*standing
			for i := range len(step.want) {
				s := &standing{address: strings.Replace(step.address, "%", strconv.Itoa(i), 1)}
				in, err := c.Enter(s)
				mark := map[error]string{nil: ".", ErrNetwork: "n", ErrAll: "a"}[err]
				if !in {
					mark = strings.ToUpper(mark)
				}
				got += mark
				all = append(all, s)
			}
			if got != step.want {
				t.Errorf("%s, %+v: %s, want %s", step.address, step.limits, got, step.want)
			}
			c.Close()
			for i, s := range all {
				if in := step.want[i] == '.' || step.want[i] >= 'a'; s.closed != in {
					t.Errorf("%s, %+v: connection %d closed: %v, want %v", step.address, step.limits, i, s.closed, in)
				}
				c.Leave(s)
				c.Leave(s)
			}
		}
		if c.Now() != 0 || len(c.open)+len(c.count.of) > 0 {
			t.Errorf("%v and %v are remembered", c.open, c.count.of)
		}
	}
}

func TestNetworkOf(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.7": "192.0.2.7/32", "::ffff:192.0.2.7": "192.0.2.7/32", "2001:db8::1:2": "2001:db8::/64", "fe80::1%eth0": "fe80::/64",
	} {
		if got := NetworkOf(netip.MustParseAddr(text)).String(); got != want {
			t.Errorf("%s counts as %s, want %s", text, got, want)
		}
	}
	if NetworkOf(netip.Addr{}) != (netip.Prefix{}) {
		t.Error("what is no address has a network")
	}
}

// Who takes nothing ends a write.
func TestWithWriteTimeout(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	if _, err := WithWriteTimeout(here, 10*time.Millisecond).Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("writing to who takes nothing: %v", err)
	}
}
