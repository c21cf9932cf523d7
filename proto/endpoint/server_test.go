package endpoint

import (
	"io"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
)

// Silent clients are let go: before their connection is set up, and where they ask for nothing after that.
func TestSilentClient(t *testing.T) {
	for name, c := range map[string]struct {
		said  []byte
		after time.Duration
	}{
		"says nothing":   {nil, GreetTimeout},
		"stops half-way": {make([]byte, 100), GreetTimeout},
		"asks nothing":   {control.SetUp{Mode: control.Open}.Encode(), IdleTimeout},
	} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			s := &Server{Has: control.Open, Visit: func(v *Visit) error {
				return v.Commands(func() bool { return true }, func([]byte) error { return nil })
			}}
			d := s.door()
			d.prepare()
			began := time.Now()
			go func() {
				_, _ = near.Write(c.said)
			}()
			go func() { _, _ = io.Copy(io.Discard, near) }()
			d.admit(t.Context(), addressed{far})
			d.group.Wait()
			if took := time.Since(began); took != c.after || len(s.places.free) > 0 {
				t.Errorf("%s: let go after %v, %d places taken; want %v", name, took, len(s.places.free), c.after)
			}
			near.Close()
		})
	}
}

// addressed is a connection that has addresses as one over TCP has.
type addressed struct{ net.Conn }

func (addressed) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), 1))
}
func (addressed) LocalAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), 2))
}
