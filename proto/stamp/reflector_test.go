package stamp

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/proto/control"
)

// logged is what a reflector logs, for two goroutines.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) { l.mu.Lock(); defer l.mu.Unlock(); return l.b.Write(p) }
func (l *logged) String() string              { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

// reflecting serves a reflector until the test ends, and returns its address.
func reflecting(t *testing.T, r *Reflector, address string) netip.AddrPort {
	t.Helper()
	socket, err := Listen(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Serve(ctx, socket) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return socket.Addr().(*net.UDPAddr).AddrPort()
}

// sender is a socket of a host that asks.
func sender(t *testing.T, at string) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(at)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// ask sends a packet and returns the answer and where it came from; nil where the next packet, which is answered always, is answered first.
func ask(t *testing.T, c *net.UDPConn, to netip.AddrPort, packet []byte) (answer []byte, from netip.AddrPort) {
	t.Helper()
	last := make([]byte, LeastBytes)
	Probe{Sequence: 999, Session: 999}.Put(last)
	for _, p := range [][]byte{packet, last} {
		if _, err := c.WriteToUDPAddrPort(p, to); err != nil {
			t.Fatal(err)
		}
	}
	b := make([]byte, 2000)
	for {
		if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		n, at, err := c.ReadFromUDPAddrPort(b)
		if err != nil {
			t.Fatal(err)
		}
		if a, _ := ReadAnswer(b[:n]); a.Probe.Session == 999 {
			return answer, from
		}
		answer, from = bytes.Clone(b[:n]), at
	}
}

// Answers are as long as what came, come from the address that was asked, and say what is known of the packet and of this end's clock.
func TestReflector(t *testing.T) {
	t.Parallel()
	r := &Reflector{Quality: func() (time.Duration, bool) { return time.Millisecond, true }}
	at := reflecting(t, r, ":0") // all addresses of both families
	for _, c := range []struct{ sender, asked string }{{"127.0.0.1:0", "127.0.0.9"}, {"[::1]:0", "::1"}} {
		conn := sender(t, c.sender)
		to := netip.AddrPortFrom(netip.MustParseAddr(c.asked), at.Port())
		for i := range uint32(3) {
			packet := make([]byte, 100)
			probe := Probe{Sequence: 10 * i, Sent: control.TimestampOf(time.Now()), Error: control.Unknown, Session: 5}
			probe.Put(packet)
			before := time.Now()
			data, from := ask(t, conn, to, packet)
			after := time.Now()
			got, ok := ReadAnswer(data)
			if !ok || len(data) != len(packet) || from != to {
				t.Fatalf("%d bytes from %v, want %d from %v", len(data), from, len(packet), to)
			}
			arrived, answered := got.Arrived.Time(), got.Answered.Time()
			if arrived.Before(before.Add(-time.Millisecond)) || answered.Before(arrived) || answered.After(after) {
				t.Errorf("between %v and %v: arrived %v, answered %v", before, after, arrived, answered)
			}
			got.Arrived, got.Answered = 0, 0
			want := Answer{Sequence: i, Error: control.EstimateOf(time.Millisecond, true), Probe: probe, TTL: 64}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	}
}

// What is too short for its answer, what a reflector sent, and who is not the run's peer are not answered, and the log says so once.
func TestReflectorRefuses(t *testing.T) {
	t.Parallel()
	var log logged
	at := reflecting(t, &Reflector{Log: slog.New(slog.NewTextHandler(&log, nil))}, "127.0.0.1:0")
	conn := sender(t, "127.0.0.1:0")
	for range 100 {
		if data, _ := ask(t, conn, at, make([]byte, LeastBytes-1)); data != nil {
			t.Fatalf("a short packet was answered by %d bytes", len(data))
		}
	}
	if got := strings.Count(log.String(), "\n"); got != 1 || !strings.Contains(log.String(), "shorter than its answer") {
		t.Errorf("%d lines are logged:\n%s", got, log.String())
	}
	other := reflecting(t, &Reflector{Peer: netip.MustParseAddr("127.0.0.2")}, "127.0.0.1:0")
	packet := make([]byte, LeastBytes)
	if _, err := conn.WriteToUDPAddrPort(packet, other); err != nil {
		t.Fatal(err)
	}
	if data, _ := ask(t, sender(t, "127.0.0.2:0"), other, packet); data == nil {
		t.Error("the peer is not answered")
	}
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond)) // of a socket that is open; the peer was answered, so this would be
	if n, _, err := conn.ReadFromUDPAddrPort(make([]byte, 100)); err == nil {
		t.Errorf("another host was answered by %d bytes", n)
	}
}

// Two reflectors never send one packet to and fro.
func TestReflectorsDoNotAnswerEachOther(t *testing.T) {
	t.Parallel()
	r := &Reflector{}
	for _, c := range []struct {
		port uint16
		want bool
	}{{DefaultPort, true}, {SparePort, true}, {7000, true}, {7001, false}} {
		got := r.refuses(askedFrom(netip.AddrPortFrom(netip.MustParseAddr("192.0.2.1"), c.port)), 7000)
		if (got != "") != c.want {
			t.Errorf("from port %d: %q", c.port, got)
		}
	}
}
