package sock

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// What becomes of a connection is told as the far end, or this host, says it: over both families, and to an address that needs its
// zone.
func TestBeginConnect(t *testing.T) {
	inNamespace(t, func() {
		if err := silentNeighbours("192.0.2.1/24", "2001:db8::1/64", "fe80::1/64"); err != nil {
			t.Error(err)
			return
		}
		for _, host := range []string{"127.0.0.1", "::1", "::ffff:127.0.0.1", "fe80::1%silent"} {
			l, err := net.Listen("tcp", net.JoinHostPort(netip.MustParseAddr(host).Unmap().String(), "0"))
			if err != nil {
				t.Error(err)
				return
			}
			to := netip.AddrPortFrom(netip.MustParseAddr(host), l.Addr().(*net.TCPAddr).AddrPort().Port())
			if err := becomes(to); err != nil {
				t.Errorf("%s, where somebody listens: %v", to, err)
			}
			l.Close()
			if err := becomes(to); !errors.Is(err, unix.ECONNREFUSED) {
				t.Errorf("%s, where nobody listens: %v", to, err)
			}
		}
		for _, address := range []string{"192.0.2.2", "2001:db8::2"} {
			if err := becomes(netip.AddrPortFrom(netip.MustParseAddr(address), 80)); !errors.Is(err, unix.EHOSTUNREACH) {
				t.Errorf("%s, of which no neighbour has the address: %v", address, err)
			}
		}
		for _, address := range []string{"198.51.100.1", "2001:db8:1::1"} {
			if c, err := BeginConnect(netip.AddrPortFrom(netip.MustParseAddr(address), 80), nil); !errors.Is(err, unix.ENETUNREACH) {
				t.Errorf("%s, to which there is no route: %v, %v", address, c, err)
			}
		}
	})
}

// becomes opens a connection, and waits for what comes of it.
func becomes(to netip.AddrPort) error {
	c, err := BeginConnect(to, func(raw syscall.RawConn) error { return SetTTL(raw, 9) })
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	return c.Wait()
}

// The socket is prepared before anything is sent, and an error of that is the caller's.
func TestBeginConnectPrepares(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	to := l.Addr().(*net.TCPAddr).AddrPort()
	c, err := BeginConnect(to, func(raw syscall.RawConn) error { return SetDSCP(raw, 46) })
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if dscp, err := dscpOf(raw(t, c)); err != nil || dscp != 46 {
		t.Errorf("DSCP %d, %v; want 46", dscp, err)
	}
	why := errors.New("not this one")
	if c, err := BeginConnect(to, func(syscall.RawConn) error { return why }); !errors.Is(err, why) || c != nil {
		t.Errorf("%v, %v; want what prepare said", c, err)
	}
}

// A deadline ends the wait for an answer that does not come; one that came before the deadline counts, however late it is seen.
func TestConnectingDeadline(t *testing.T) {
	inNamespace(t, func() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Error(err)
			return
		}
		defer l.Close()
		c, err := BeginConnect(l.Addr().(*net.TCPAddr).AddrPort(), nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		peer, err := l.Accept() // the answer has come by now
		if err != nil {
			t.Error(err)
			return
		}
		defer peer.Close()
		if err := errors.Join(c.SetDeadline(time.Unix(1, 0)), c.Wait()); err != nil {
			t.Errorf("open before its deadline: %v", err)
		}
		if err := silentNeighbours("192.0.2.1/24"); err != nil {
			t.Error(err)
			return
		}
		link, err := netlink.LinkByName("silent")
		if err != nil {
			t.Error(err)
			return
		}
		neighbour := &netlink.Neigh{LinkIndex: link.Attrs().Index, IP: net.IPv4(192, 0, 2, 2), HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 0, 2},
			State: netlink.NUD_PERMANENT} // nobody has it, and the kernel does not ask
		if err := netlink.NeighAdd(neighbour); err != nil {
			t.Error(err)
			return
		}
		silent, err := BeginConnect(netip.MustParseAddrPort("192.0.2.2:80"), nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer silent.Close()
		if err := errors.Join(silent.SetDeadline(time.Now().Add(10*time.Millisecond)), silent.Wait()); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("no answer: %v", err)
		}
	})
}
