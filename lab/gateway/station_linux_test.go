package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// station is a machine beside the gateway: a network namespace, and a thread that lives in it. Port is the interface of
// the tests' own namespace that its eth0 is connected to.
type station struct {
	port      string
	own, own6 string // addresses
	work      chan func()
}

var ports atomic.Int64 // names are used once: an interface goes a little after its namespace

// newStation makes the number-th station of a test, with 10.9.0.number. It has no IPv6, which is never quiet: see withIPv6.
func newStation(t testing.TB, number int) *station {
	t.Helper()
	if os.Getenv(roleKey) != roleInside {
		t.Skip("no namespaces")
	}
	s := &station{port: fmt.Sprintf("port%d", ports.Add(1)), work: make(chan func()),
		own: fmt.Sprintf("10.9.0.%d", number), own6: fmt.Sprintf("fd09::%d", number)}
	ready := make(chan error)
	var file *os.File
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends here, its children and its namespace with it
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			file, err = os.Open("/proc/thread-self/ns/net")
		}
		if err == nil {
			err = setIPv6(false)
		}
		ready <- err
		for f := range s.work {
			f()
		}
	}()
	t.Cleanup(func() { close(s.work) })
	if err := <-ready; err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	attrs := netlink.NewLinkAttrs()
	attrs.Name = s.port
	pair := &netlink.Veth{LinkAttrs: attrs, PeerName: "eth0", PeerNamespace: netlink.NsFd(int(file.Fd()))}
	if err := netlink.LinkAdd(pair); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netlink.LinkDel(pair) })
	if err := netlink.LinkSetUp(pair); err != nil {
		t.Fatal(err)
	}
	s.do(t, func() error { return errors.Join(s.setUp("lo"), s.setUp("eth0", s.own+"/24")) })
	return s
}

// withIPv6 gives a station fd09::number.
func (s *station) withIPv6(t testing.TB) {
	t.Helper()
	s.do(t, func() error { return errors.Join(setIPv6(true), s.setUp("eth0", s.own6+"/64")) })
}

// setIPv6 switches IPv6 on or off on all interfaces. Called on a station's thread.
func setIPv6(on bool) error {
	value := "1"
	if on {
		value = "0"
	}
	err := os.WriteFile("/proc/sys/net/ipv6/conf/all/disable_ipv6", []byte(value), 0)
	if errors.Is(err, os.ErrNotExist) && !on {
		return nil
	}
	return err
}

// do runs f on the station.
func (s *station) do(t testing.TB, f func() error) {
	t.Helper()
	done := make(chan error)
	s.work <- func() { done <- f() }
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// setUp gives an interface addresses and raises it. Called on the station's thread.
func (s *station) setUp(name string, addresses ...string) error {
	l, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	for _, text := range addresses {
		a, err := netlink.ParseAddr(text)
		if err != nil {
			return err
		}
		if a.IP.To4() == nil {
			a.Flags = unix.IFA_F_NODAD // it serves at once
		}
		if err := netlink.AddrAdd(l, a); err != nil {
			return err
		}
	}
	return netlink.LinkSetUp(l)
}

// tagged adds an interface of a VLAN, and returns its address. Where the kernel knows no VLANs the test is skipped.
func (s *station) tagged(t testing.TB, number int, vlan int) string {
	t.Helper()
	own, unknown := fmt.Sprintf("10.%d.0.%d", vlan, number), false
	s.do(t, func() error {
		parent, err := netlink.LinkByName("eth0")
		if err != nil {
			return err
		}
		attrs := netlink.NewLinkAttrs()
		attrs.Name, attrs.ParentIndex = fmt.Sprintf("eth0.%d", vlan), parent.Attrs().Index
		err = netlink.LinkAdd(&netlink.Vlan{LinkAttrs: attrs, VlanId: vlan})
		if unknown = errors.Is(err, unix.EOPNOTSUPP); unknown {
			return nil
		}
		return errors.Join(err, s.setUp(attrs.Name, own+"/24"))
	})
	if unknown {
		t.Skip("this kernel knows no VLANs")
	}
	return own
}

// start starts a program on the station. It ends with the test.
func (s *station) start(t testing.TB, out *bytes.Buffer, argv ...string) *exec.Cmd {
	t.Helper()
	if _, err := exec.LookPath(argv[0]); err != nil {
		t.Skipf("%s is not installed", argv[0])
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Stdout, c.Stderr = out, out
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	s.do(t, c.Start)
	t.Cleanup(func() { cancel(); _ = c.Wait() })
	return c
}

// run runs a program on the station and returns what it printed.
func (s *station) run(t testing.TB, argv ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := s.start(t, &out, argv...).Wait(); err != nil {
		t.Logf("%s: %v\n%s", strings.Join(argv, " "), err, out.String())
	}
	return out.String()
}

// waitForPort waits until a program on the station listens on a TCP port.
func (s *station) waitForPort(t testing.TB, port int) {
	t.Helper()
	listening := regexp.MustCompile(fmt.Sprintf(`(?m)^ *\d+: [0-9A-F]+:%04X [0-9A-F]+:0000 0A `, port))
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		var tables []byte
		s.do(t, func() error {
			for _, name := range []string{"tcp", "tcp6"} {
				table, _ := os.ReadFile("/proc/thread-self/net/" + name)
				tables = append(tables, table...)
			}
			return nil
		})
		if listening.Match(tables) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("nobody listens on port %d", port)
		}
	}
}

// listen opens a TCP socket on the station.
func (s *station) listen(t testing.TB, address string) (l net.Listener) {
	t.Helper()
	s.do(t, func() (err error) { l, err = net.Listen("tcp", address); return err })
	t.Cleanup(func() { l.Close() })
	return l
}

// dial connects from the station; an address in numbers is dialled on the calling thread.
func (s *station) dial(t testing.TB, address string) (c net.Conn) {
	t.Helper()
	s.do(t, func() (err error) { c, err = net.Dial("tcp", address); return err })
	t.Cleanup(func() { c.Close() })
	return c
}
