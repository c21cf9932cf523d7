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
	"github.com/pathwise-net/pathwise/sock"
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
	return askSealed(t, NewSealer(nil), c, to, packet)
}

func askSealed(t *testing.T, s *Sealer, c *net.UDPConn, to netip.AddrPort, packet []byte) (answer []byte, from netip.AddrPort) {
	t.Helper()
	last := make([]byte, s.LeastBytes())
	s.SealProbe(last, Probe{Sequence: 999, Session: 999})
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
		if a, _ := s.OpenAnswer(b[:n]); a.Probe.Session == 999 {
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

// Answers of both families leave one socket with a TTL of 255 (RFC 8762 section 4.3).
func TestReflectorTTL(t *testing.T) {
	t.Parallel()
	at := reflecting(t, &Reflector{}, ":0")
	for _, host := range []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()} {
		s, err := sock.OpenUDP(host.Is6())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, _, err := s.Send(make([]byte, LeastBytes), netip.AddrPortFrom(host, at.Port())); err != nil {
			t.Fatal(err)
		}
		for {
			event, err := s.Receive(time.Now().Add(10 * time.Second))
			if err != nil {
				t.Fatal(err)
			}
			if answer, is := event.(sock.Packet); is {
				if answer.TTL != 255 {
					t.Errorf("from %v with a TTL of %d", host, answer.TTL)
				}
				break
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
	r := &Reflector{sealer: NewSealer(nil)}
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

// With a key only packets of the authenticated mode are answered. A copy of one is answered by as many bytes as it has, and disturbs no other
// session.
func TestReflectorAuthenticates(t *testing.T) {
	t.Parallel()
	var log logged
	at := reflecting(t, &Reflector{Key: exampleKey, Log: slog.New(slog.NewTextHandler(&log, nil))}, "127.0.0.1:0")
	s, conn := NewSealer(exampleKey), sender(t, "127.0.0.1:0")
	packet := AppendSeal(AppendTLV(make([]byte, SecuredBytes), TLV{DirectMeasurement, make([]byte, 12)}))
	s.SealProbe(packet, Probe{Sequence: 3, Sent: 5, Session: 7})
	forged := bytes.Clone(packet)
	forged[0] ^= 1
	open := make([]byte, LeastBytes)
	Probe{Session: 7}.Put(open)
	for name, b := range map[string][]byte{"forged": forged, "cut short": packet[:SecuredBytes-1], "not authenticated": open, "empty": nil} {
		if data, _ := askSealed(t, s, conn, at, b); data != nil {
			t.Errorf("%s: answered by %d bytes", name, len(data))
		}
	}
	other := make([]byte, SecuredBytes)
	s.SealProbe(other, Probe{Session: 8})
	for i := range uint32(5) {
		data, _ := askSealed(t, s, conn, at, packet) // the same one each time
		a, err := s.OpenAnswer(data)
		tlvs, bad := s.OpenTLVs(data)
		if err != nil || bad != nil || len(data) != len(packet) || a.Sequence != i || len(tlvs) != 1 || tlvs[0].Value[7] != byte(i+1) {
			t.Errorf("copy %d: %d bytes (%v), %+v, %v (%v)", i, len(data), err, a, tlvs, bad)
		}
		if a, err := s.OpenAnswer(first2(askSealed(t, s, conn, at, other))); err != nil || a.Sequence != i {
			t.Errorf("another session: answer %d (%v), want %d", a.Sequence, err, i)
		}
	}
}

func first2(data []byte, _ netip.AddrPort) []byte { return data }

// Each answer says when the one before it left, by the kernel: after that one was made, and before it came back. Sessions that ask for it do not
// disturb each other, nor those that do not ask.
func TestFollowUps(t *testing.T) {
	t.Parallel()
	at := reflecting(t, &Reflector{}, ":0")
	for _, host := range []string{"127.0.0.1", "::1"} {
		to := netip.AddrPortFrom(netip.MustParseAddr(host), at.Port())
		conn := sender(t, net.JoinHostPort(host, "0"))
		type known struct{ answered, came time.Time }
		last := map[uint16]known{}
		for i := range uint32(60) {
			number := uint16(1 + i%3)
			packet := make([]byte, LeastBytes)
			if number < 3 {
				packet = AppendTLV(packet, TLV{FollowUpTelemetry, make([]byte, FollowUpBytes)})
			}
			Probe{Sequence: i, Session: number}.Put(packet)
			data, _ := ask(t, conn, to, packet)
			now := time.Now()
			a, ok := ReadAnswer(data)
			if !ok {
				t.Fatalf("%s: answer %d is %d bytes", host, i, len(data))
			}
			before := last[number]
			last[number] = known{a.Answered.Time(), now}
			tlvs, err := NewSealer(nil).OpenTLVs(data)
			if number == 3 || i < 3 {
				continue
			}
			if err != nil || len(tlvs) != 1 {
				t.Fatalf("%s: TLVs %+v, %v", host, tlvs, err)
			}
			f, _ := ReadFollowUp(tlvs[0].Value)
			if left := f.Left.Time(); !f.Stamped() || f.Sequence != a.Sequence-1 || left.Before(before.answered) || left.After(before.came) {
				t.Errorf("%s: answer %d: %+v at %v, which was made at %v and came at %v", host, i, f, left, before.answered, before.came)
			}
		}
	}
}

// A stateless reflector has the numbers of the probes.
func TestStateless(t *testing.T) {
	t.Parallel()
	at := reflecting(t, &Reflector{Stateless: true}, "127.0.0.1:0")
	packet := make([]byte, LeastBytes)
	Probe{Sequence: 1000, Session: 3}.Put(packet)
	data, _ := ask(t, sender(t, "127.0.0.1:0"), at, packet)
	if a, ok := ReadAnswer(data); !ok || a.Sequence != 1000 {
		t.Errorf("%+v, %v", a, ok)
	}
}

// An answer leaves with the DSCP that its probe asks for, over IPv4 and IPv6, by a socket of both.
func TestAnswersAreMarked(t *testing.T) {
	t.Parallel()
	at := reflecting(t, &Reflector{Marks: []int{46}}, ":0")
	for _, host := range []string{"127.0.0.1", "::1"} {
		conn, err := sock.ListenAnswering(t.Context(), net.JoinHostPort(host, "0"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for wanted, mark := range map[byte]int{46: 46, 34: 0, 0: 0} {
			packet := AppendTLV(make([]byte, LeastBytes), TLV{ClassOfService, []byte{wanted << 2, 0, 0, 0}})
			to := sock.Asked{From: netip.AddrPortFrom(netip.MustParseAddr(host), at.Port())}
			if err := conn.Answer(packet, to, 0); err != nil {
				t.Fatal(err)
			}
			defer time.AfterFunc(10*time.Second, conn.Interrupt).Stop()
			if got, err := conn.Receive(); err != nil || got.TOS != mark<<2 {
				t.Errorf("%s: DSCP %d wanted: %#x arrived (%v)", host, wanted, got.TOS, err)
			}
		}
	}
}
