package sock

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

var loopbacks = []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")}

// patience bounds what a broken test costs; events on loopback come within microseconds.
const patience = 5 * time.Second

// next returns the next event, which must be of type E.
func next[E Event](t *testing.T, s *Socket) E {
	t.Helper()
	event, err := s.Receive(time.Now().Add(patience))
	if err != nil {
		t.Fatal(err)
	}
	e, ok := event.(E)
	if !ok {
		t.Fatalf("got %#v, want a %T", event, e)
	}
	return e
}

func openUDP(t *testing.T, address netip.Addr) *Socket {
	t.Helper()
	s, err := OpenUDP(address.Is6())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Each packet is stamped when it leaves and each answer when it comes, both within what the process saw.
func TestUDPStamps(t *testing.T) {
	for _, address := range loopbacks {
		echo := echoServer(t, address)
		s := openUDP(t, address)
		if err := s.SetTTL(37); err != nil {
			t.Fatal(err)
		}
		for want := range uint32(20) {
			id, before, err := s.Send([]byte{byte(want)}, echo)
			if err != nil || id != want {
				t.Fatalf("id %d, %v; want %d", id, err, want)
			}
			sent := next[Sent](t, s)
			reply := next[Packet](t, s)
			if sent.ID != want || len(reply.Data) != 1 || reply.Data[0] != byte(want) || reply.From != echo {
				t.Errorf("stamp of %d, reply % x from %s; want %d from %s", sent.ID, reply.Data, reply.From, want, echo)
			}
			if reply.TTL == 0 {
				t.Error("the reply has no TTL")
			}
			rtt, kernel := Elapsed(Stamp{User: before, Kernel: sent.Kernel}, reply.At)
			if !kernel || rtt <= 0 || rtt > patience {
				t.Errorf("round trip %v, by the kernel: %v (sent %v %v, received %+v)", rtt, kernel, before, sent.Kernel, reply.At)
			}
		}
	}
}

// Whatever is opened and closed before, the first packet that comes has the kernel's stamp.
func TestStampsFromTheFirst(t *testing.T) {
	echo := echoServer(t, loopbacks[0])
	var open []*Socket
	for n := range 200 {
		s, err := OpenUDP(false)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, s)
		if _, _, err := s.Send([]byte{1}, echo); err != nil {
			t.Fatal(err)
		}
		sent, reply := next[Sent](t, s), next[Packet](t, s)
		if sent.Kernel.IsZero() || reply.At.Kernel.IsZero() {
			t.Errorf("socket %d, of %d open: sent %v, received %v", n, len(open), sent.Kernel, reply.At.Kernel)
		}
		for len(open) > n%4 { // at times all are closed, at times the last one opened stays alone
			open[0].Close()
			open = open[1:]
		}
		if int(stamping.Load()) != len(open) {
			t.Fatalf("%d sockets count, %d are open", stamping.Load(), len(open))
		}
	}
	for _, s := range open {
		s.Close()
		s.Close()
	}
	if n := stamping.Load(); n != 0 {
		t.Errorf("%d sockets count, none is open", n)
	}
}

// The largest datagram comes whole, after a small one and before one, and costs a socket that gets none nothing.
func TestLargePackets(t *testing.T) {
	echo := echoServer(t, loopbacks[0])
	s := openUDP(t, loopbacks[0])
	for _, size := range []int{1, 65507, 2, 9000, 0} {
		packet := bytes.Repeat([]byte{byte(size)}, size)
		if _, _, err := s.Send(packet, echo); err != nil {
			t.Fatal(err)
		}
		next[Sent](t, s)
		if reply := next[Packet](t, s); !bytes.Equal(reply.Data, packet) {
			t.Errorf("%d bytes came back as %d", size, len(reply.Data))
		}
	}
}

// BenchmarkOpen opens and closes a socket while another is open, and while none is.
func BenchmarkOpen(b *testing.B) {
	for name, others := range map[string]int{"beside another": 1, "alone": 0} {
		b.Run(name, func(b *testing.B) {
			for range others {
				s, err := OpenUDP(false)
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
			}
			b.ReportAllocs()
			for b.Loop() {
				s, err := OpenUDP(false)
				if err != nil {
					b.Fatal(err)
				}
				s.Close()
			}
		})
	}
}

// echoServer returns the address of a UDP server that sends everything back until the test ends.
func echoServer(t *testing.T, address netip.Addr) netip.AddrPort {
	t.Helper()
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(address, 0)))
	if err != nil {
		t.Skipf("no %s on this machine: %v", address, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1<<16)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			_, _ = conn.WriteToUDPAddrPort(buf[:n], from)
		}
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	return conn.LocalAddr().(*net.UDPAddr).AddrPort()
}

// closedPort returns a UDP port on address where nobody listens.
func closedPort(t *testing.T, address netip.Addr) netip.AddrPort {
	t.Helper()
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(address, 0)))
	if err != nil {
		t.Skipf("no %s on this machine: %v", address, err)
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).AddrPort()
}

// ICMP errors come as events with the port that they are about, and never fail a later Send.
func TestUDPErrors(t *testing.T) {
	for _, address := range loopbacks {
		s := openUDP(t, address)
		closed := closedPort(t, address)
		for range 10 {
			if _, _, err := s.Send([]byte("anyone?"), closed); err != nil {
				t.Fatal(err)
			}
		}
		for range 10 {
			next[Sent](t, s)
			e := next[ICMPError](t, s)
			if e.Reason() != PortUnreachable || e.Offender != address || e.To != closed || string(e.Quoted) != "anyone?" {
				t.Errorf("%s from %s about %s %q; want port unreachable from %s about %s", e.Reason(), e.Offender, e.To,
					e.Quoted, address, closed)
			}
		}
		echo := echoServer(t, address)
		if _, _, err := s.Send([]byte{1}, echo); err != nil {
			t.Fatal(err)
		}
		next[Sent](t, s)
		next[Packet](t, s)
	}
}

func TestSendFails(t *testing.T) {
	s := openUDP(t, loopbacks[0])
	if _, _, err := s.Send(make([]byte, 65536), netip.AddrPortFrom(loopbacks[0], 9)); !errors.Is(err, unix.EMSGSIZE) {
		t.Errorf("65536 bytes: %v; want EMSGSIZE", err)
	}
	if _, _, err := s.Send(nil, netip.MustParseAddrPort("255.255.255.255:9")); err == nil {
		t.Error("broadcast without leave: no error")
	}
}

func TestReceiveDeadline(t *testing.T) {
	s := openUDP(t, loopbacks[0])
	for _, until := range []time.Time{time.Now().Add(-time.Second), time.Now().Add(time.Millisecond)} {
		if _, err := s.Receive(until); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%v, want deadline exceeded", err)
		}
	}
}

func TestInterrupt(t *testing.T) {
	s := openUDP(t, loopbacks[0])
	go s.Interrupt() // before or during Receive
	if _, err := s.Receive(time.Now().Add(time.Hour)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v, want deadline exceeded", err)
	}
	if _, err := s.Receive(time.Now().Add(time.Hour)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("again: %v, want deadline exceeded", err)
	}
}

func TestSource(t *testing.T) {
	if got, err := Source(loopbacks[0]); got != loopbacks[0] || err != nil {
		t.Errorf("%s, %v; want %s", got, err, loopbacks[0])
	}
	inNamespace(t, func() {
		_, err := Source(netip.MustParseAddr("192.0.2.1"))
		if !errors.Is(err, unix.ENETUNREACH) || !strings.HasPrefix(err.Error(), "find route to 192.0.2.1: ") {
			t.Errorf("%v; want no route", err)
		}
	})
}

// The MTU of a route counts as learnt only when it is below that of the interface.
func TestRouteMTU(t *testing.T) {
	if mtu, learnt, err := RouteMTU(loopbacks[0]); mtu != 65535 || learnt || err != nil {
		t.Errorf("loopback: %d, learnt %v, %v; want 65535, not learnt", mtu, learnt, err)
	}
	inNamespace(t, func() {
		dst, source := net.IPNet{IP: net.IPv4(192, 0, 2, 0), Mask: net.CIDRMask(24, 32)}, net.IPv4(127, 0, 0, 1)
		if err := netlink.RouteAdd(&netlink.Route{LinkIndex: 1, Dst: &dst, Src: source, MTU: 1400}); err != nil {
			t.Error(err)
			return
		}
		if mtu, learnt, err := RouteMTU(netip.MustParseAddr("192.0.2.1")); mtu != 1400 || !learnt || err != nil {
			t.Errorf("%d, learnt %v, %v; want 1400, learnt", mtu, learnt, err)
		}
	})
}

// inNamespace runs f on a thread in a new network namespace with loopback up; the thread ends with f. As f is not on the
// goroutine of the test, it must not call t.Fatal.
func inNamespace(t testing.TB, f func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread dies with the goroutine
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			err = loopbackUp()
		}
		if err == nil {
			f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Skipf("no new network namespace here: %v", err)
	}
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}

func FuzzParseAncillary(f *testing.F) {
	f.Add([]byte{16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0})
	f.Add(append([]byte{60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11, 0, 0, 0, 113, 0, 0, 0, 2, 11, 0, 0}, make([]byte, 44)...))
	f.Fuzz(func(t *testing.T, oob []byte) {
		a := parseAncillary(oob)
		if a.ttl < 0 || a.ttl > 255 {
			t.Errorf("TTL %d", a.ttl)
		}
		queued(nil, a, netip.AddrPort{}, Stamp{})
		afterIPv4Header(oob)
	})
}
