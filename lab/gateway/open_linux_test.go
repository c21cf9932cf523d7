package gateway

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/lab/link"
)

// badInput reports whether an error is the caller's to mend.
func badInput(err error) bool {
	var bad interface{ BadInput() bool }
	return errors.As(err, &bad) && bad.BadInput()
}

// add makes an interface for the test, raised if it shall be.
func add(t *testing.T, l netlink.Link, up bool) {
	t.Helper()
	err := netlink.LinkAdd(l)
	if err == nil && up {
		err = netlink.LinkSetUp(l)
	}
	if errors.Is(err, unix.EOPNOTSUPP) {
		t.Skipf("this kernel knows no %s", l.Type())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netlink.LinkDel(l) })
}

func named(name string) netlink.LinkAttrs {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = name
	return attrs
}

func TestOpenRefuses(t *testing.T) {
	a := newStation(t, 1)
	add(t, &netlink.Veth{LinkAttrs: named("twin1"), PeerName: "twin2"}, true)
	add(t, &netlink.Veth{LinkAttrs: named("down1"), PeerName: "down2"}, false)
	twin2, err := netlink.LinkByName("twin2")
	if err != nil {
		t.Fatal(err)
	}
	if err := netlink.LinkSetUp(twin2); err != nil {
		t.Fatal(err)
	}
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		t.Fatal(err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ first, second, fault string }{
		{a.port, a.port, "twice"},
		{a.port, "eth99", `"eth99": there is none`},
		{"lo", a.port, `"lo": is of type loopback`},
		{a.port, "down1", "ip link set down1 up"},
		{"twin1", "twin2", "joined already"},
	} {
		g, err := Open(c.first, c.second, Config{})
		if err == nil {
			g.Close()
		}
		if !badInput(err) || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s and %s: error %v; want one of the caller's, with %q", c.first, c.second, err, c.fault)
		}
	}
	traced := link.Shape{Trace: &link.Trace{File: "cell.trace"}}
	if _, err := Open(a.port, "twin1", Config{Forward: traced}); !badInput(err) {
		t.Errorf("a trace that has not been read: error %v", err)
	}
}

func TestOpenWarns(t *testing.T) {
	a, b := newStation(t, 1), newStation(t, 2)
	la, err := netlink.LinkByName(a.port)
	if err != nil {
		t.Fatal(err)
	}
	address, err := netlink.ParseAddr("192.0.2.1/24")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(netlink.AddrAdd(la, address), netlink.LinkSetMTU(la, 1400)); err != nil {
		t.Fatal(err)
	}
	g, err := Open(a.port, b.port, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	all := strings.Join(g.Warnings, "; ")
	for _, want := range []string{"192.0.2.1/24", "MTU 1400"} {
		if !strings.Contains(all, want) {
			t.Errorf("warnings %q; want one of %s", all, want)
		}
	}
}

// An interface and the bridge that it belongs to would be a loop; two of one bridge are a second way.
func TestOpenBesideBridge(t *testing.T) {
	a, b := newStation(t, 1), newStation(t, 2)
	bridge := &netlink.Bridge{LinkAttrs: named("bridge1")}
	add(t, bridge, true)
	for _, s := range []*station{a, b} {
		l, err := netlink.LinkByName(s.port)
		if err != nil {
			t.Fatal(err)
		}
		if err := netlink.LinkSetMaster(l, bridge); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(a.port, "bridge1", Config{}); !badInput(err) {
		t.Errorf("an interface and its bridge: error %v", err)
	}
	g, err := Open(a.port, b.port, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if len(g.Warnings) != 2 || !strings.Contains(g.Warnings[0], "nomaster") {
		t.Errorf("warnings %q; want that both belong to a bridge", g.Warnings)
	}
}

// Without the privilege the error says what is missing, and is not the caller's spelling.
func TestOpenWithoutPrivilege(t *testing.T) {
	a, b := newStation(t, 1), newStation(t, 2)
	before, failed := descriptors(t), make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with what it gave up
		none := [2]unix.CapUserData{}
		if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
			failed <- os.NewSyscallError("capset", err)
			return
		}
		g, err := Open(a.port, b.port, Config{})
		if err == nil {
			g.Close()
		}
		failed <- err
	}()
	if err := <-failed; !errors.Is(err, unix.EPERM) || !strings.Contains(err.Error(), "CAP_NET_RAW") || badInput(err) {
		t.Errorf("error %v; want EPERM and a hint", err)
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}
