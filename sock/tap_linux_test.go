package sock

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// A tap sees each segment of its port alone, as it leaves and as it comes, over both families, and ends with what was seen.
func TestTap(t *testing.T) {
	inNamespace(t, func() {
		for _, host := range []string{"127.0.0.1", "::1"} {
			l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
			if err != nil {
				t.Error(err)
				return
			}
			to := l.Addr().(*net.TCPAddr).AddrPort()
			l.Close() // so that the kernel refuses
			tap, err := OpenTap(to.Port())
			if err != nil {
				t.Error(err)
				return
			}
			for _, port := range []uint16{to.Port() ^ 1, to.Port()} {
				if err := becomes(netip.AddrPortFrom(to.Addr(), port)); !errors.Is(err, unix.ECONNREFUSED) {
					t.Error(err)
				}
			}
			tap.Finish()
			type sight struct {
				Out   bool
				Flags uint8
				TTL   int
				Name  string
			}
			var got []sight
			for {
				seen, err := tap.Receive()
				if err != nil {
					if !errors.Is(err, os.ErrDeadlineExceeded) {
						t.Error(err)
					}
					break
				}
				got = append(got, sight{seen.Out, seen.Flags, seen.TTL, InterfaceName(seen.Interface)})
			}
			const ttl = 9 // that becomes sets
			want := []sight{{true, FlagSYN, ttl, "lo"}, {false, FlagSYN, ttl, "lo"}, {true, FlagRST | FlagACK, 64, "lo"}, {false, FlagRST | FlagACK, 64, "lo"}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", host, diff)
			}
			tap.Close()
		}
	})
}

// A listener tells at which addresses it takes connections, and how many wait.
func TestListeners(t *testing.T) {
	inNamespace(t, func() {
		all, err := net.Listen("tcp", ":0")
		if err != nil {
			t.Error(err)
			return
		}
		defer all.Close()
		one, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Error(err)
			return
		}
		defer one.Close()
		only, err := net.Listen("tcp6", "[::]:0")
		if err != nil {
			t.Error(err)
			return
		}
		defer only.Close()
		conn, err := net.Dial("tcp", one.Addr().String()) // and nobody accepts it
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		listeners, err := Listeners()
		if err != nil {
			t.Error(err)
		}
		v4, v6 := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")
		type told struct {
			Waiting      int
			V4, V6, More bool
		}
		got := map[string]told{}
		for _, l := range listeners {
			got[l.Local.String()] = told{l.Waiting, l.Covers(v4), l.Covers(v6), l.Most > 0 && l.Inode > 0}
		}
		want := map[string]told{all.Addr().String(): {0, true, true, true}, one.Addr().String(): {1, true, false, true}, only.Addr().String(): {0, false, true, true}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// An ICMP error that ends a connection tells who sent it: of an address that no neighbour has this host itself. The neighbour is known to be silent.
func TestConnectingICMP(t *testing.T) {
	inNamespace(t, func() {
		if err := silentNeighbours("192.0.2.1/24", "2001:db8::1/64"); err != nil {
			t.Error(err)
			return
		}
		for own, address := range map[string]string{"192.0.2.1": "192.0.2.2", "2001:db8::1": "2001:db8::2"} {
			to := netip.MustParseAddr(address)
			c, err := BeginConnect(netip.AddrPortFrom(to, 80), HearICMP(to.Is6()))
			if err != nil {
				t.Error(err)
				return
			}
			if c.Local().Addr().String() != own || c.Local().Port() == 0 {
				t.Errorf("%s: this end is %s", address, c.Local())
			}
			if err := errors.Join(c.SetDeadline(time.Now().Add(patience)), c.Wait()); !errors.Is(err, unix.EHOSTUNREACH) {
				t.Errorf("%s: %v", address, err)
			}
			if e, ok := c.ICMP(); !ok || e.Reason() != HostUnreachable || e.Offender.String() != own || e.To.Port() != 80 {
				t.Errorf("%s: %v, %s said by %s of %s", address, ok, e.Reason(), e.Offender, e.To)
			}
			c.Close()
			if hop, silent := SilentNeighbour(to); !silent || hop != to {
				t.Errorf("%s: silent neighbour %s, %v", address, hop, silent)
			}
		}
		if hop, silent := SilentNeighbour(netip.MustParseAddr("127.0.0.1")); silent {
			t.Errorf("loopback: silent neighbour %s", hop)
		}
	})
}
