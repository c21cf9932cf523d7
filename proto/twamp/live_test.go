package twamp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
)

// patience is enough for anything here, on a machine that does much else.
const patience = 20 * time.Second

var keys = endpoint.Keys{"ann": []byte("pass phrase")}

// serving serves on a free port of an address of this host.
func serving(t *testing.T, host string, s *Server) (at netip.AddrPort, tests <-chan endpoint.Tested) {
	t.Helper()
	l, err := endpoint.Listen(t.Context(), net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan endpoint.Tested, 100)
	s.OnTest = func(one endpoint.Tested) { told <- one }
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return endpoint.AddrPort(l.Addr()), told
}

// probe is a session, and the socket of its client.
type probe struct {
	*Session
	conn *net.UDPConn
}

// request asks for a session with a socket of its own.
func request(t *testing.T, test *Test, terms Terms) (*probe, error) {
	t.Helper()
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(test.Local.Addr(), 0)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	terms.Port = conn.LocalAddr().(*net.UDPAddr).AddrPort().Port()
	s, err := test.Request(terms)
	return &probe{s, conn}, err
}

// begun is a test whose one session is started.
func begun(t *testing.T, c Client, at netip.AddrPort, terms Terms) (*Test, *probe) {
	t.Helper()
	test, err := c.Connect(t.Context(), []netip.AddrPort{at})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(test.Close)
	if terms.Padding == 0 {
		terms.Padding = LeastPadding(test.Mode)
	}
	p, err := request(t, test, terms)
	if err == nil {
		err = test.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return test, p
}

func (p *probe) packet(sequence uint32) []byte {
	b := NewPacket(p.Mode, p.Terms.Padding)
	p.Sealer.Seal(b, control.Packet{Sequence: sequence, Sent: control.TimestampOf(time.Now()), Error: control.Unknown})
	return b
}

func (p *probe) send(t *testing.T, b []byte) {
	t.Helper()
	if _, err := p.conn.WriteToUDPAddrPort(b, p.Remote); err != nil {
		t.Fatal(err)
	}
}

// receive waits for an answer.
func (p *probe) receive(t *testing.T) (Reflection, []byte) {
	t.Helper()
	_ = p.conn.SetReadDeadline(time.Now().Add(patience)) // of a socket that is open
	b := make([]byte, 1<<16)
	n, from, err := p.conn.ReadFromUDPAddrPort(b)
	if err != nil || from != p.Remote {
		t.Fatalf("answer from %v (%v), want %v", from, err, p.Remote)
	}
	r, err := p.Sealer.OpenReflection(b[:n])
	if err != nil {
		t.Fatal(err)
	}
	return r, b[:n]
}

// Every mode, over IPv4 and IPv6: each packet is answered by as many bytes, with its padding, in its order, with times between those of the client.
func TestModes(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		for _, mode := range []control.Mode{control.Open, control.Authenticated, control.Encrypted, control.Mixed} {
			t.Run(fmt.Sprintf("%v over %s", mode, host), func(t *testing.T) {
				t.Parallel()
				at, tests := serving(t, host, &Server{Policy: endpoint.Policy{Keys: keys}})
				test, p := begun(t, Client{Mode: mode, KeyID: "ann", Secret: keys["ann"]}, at, Terms{Padding: 100, Reflect: 100, DSCP: 46})
				if want := mode | Features; test.Mode != want {
					t.Errorf("mode %v, want %v", uint32(test.Mode), uint32(want))
				}
				for i := range uint32(5) {
					sent := p.packet(10 * i)
					before := time.Now()
					p.send(t, sent)
					r, b := p.receive(t)
					received, answered := r.Received.Time(), r.Sent.Time()
					if len(b) != len(sent) || r.Sequence != i || r.Packet.Sequence != 10*i || r.TTL != 64 || received.Before(before.Add(-time.Millisecond)) ||
						answered.Before(received) || time.Since(answered) < 0 || !bytes.HasSuffix(b, sent[len(sent)-100:]) {
						t.Errorf("%+v, %d bytes for %d", r, len(b), len(sent))
					}
				}
				if err := test.Stop(); err != nil {
					t.Error(err)
				}
				p.send(t, p.packet(7)) // what was under way at the end
				if r, _ := p.receive(t); r.Sequence != 5 {
					t.Errorf("%+v", r)
				}
				test.Close()
				if one := <-tests; one.Err != nil || one.Bytes != 12*int64(SenderBytes(test.Mode, 100)) {
					t.Errorf("told of %+v", one)
				}
			})
		}
	}
}

// Several sessions of one connection do not mix, and another test follows on the same connection.
func TestSessions(t *testing.T) {
	t.Parallel()
	at, _ := serving(t, "127.0.0.1", &Server{Policy: endpoint.Policy{Keys: keys}})
	test, err := Client{KeyID: "ann", Secret: keys["ann"]}.Connect(t.Context(), []netip.AddrPort{at})
	if err != nil {
		t.Fatal(err)
	}
	defer test.Close()
	for range 2 {
		var all []*probe
		for range 3 {
			p, err := request(t, test, Terms{Padding: 10})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, p)
		}
		if err := test.Start(); err != nil {
			t.Fatal(err)
		}
		for i := range uint32(3) {
			for _, p := range all {
				p.send(t, p.packet(i))
				if r, _ := p.receive(t); r.Sequence != i || r.Packet.Sequence != i {
					t.Errorf("%+v, want %d", r, i)
				}
			}
		}
		if err := test.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// Clients are told of what they may not have.
func TestPolicy(t *testing.T) {
	t.Parallel()
	at, _ := serving(t, "127.0.0.1", &Server{Policy: endpoint.Policy{Keys: keys, Tests: 20, Limits: endpoint.Limits{Sessions: 1, Longest: time.Minute},
		Classes: []endpoint.Class{{KeyIDs: []string{"ann"}, Limits: endpoint.Limits{BitRate: 4000}}}}})
	ann := Client{Mode: control.Encrypted, KeyID: "ann", Secret: keys["ann"]}
	for name, c := range map[string]struct {
		client Client
		ask    control.Request
		want   control.Accept
	}{
		"within":          {Client{}, Terms{Port: 9, Padding: 27}.request(control.Open), control.OK},
		"too slow a line": {ann, Terms{Port: 9, Padding: 500}.request(control.Encrypted), control.Never},
		"too long":        {Client{}, Terms{Port: 9, Padding: 27, Timeout: time.Hour}.request(control.Open), control.Never},
		"one way":         {Client{}, control.Request{Command: control.RequestTwoWay, ServerReceives: true, SenderPort: 9}, control.Unsupported},
		"somebody else": {Client{}, control.Request{Command: control.RequestTwoWay, SenderPort: 9, Padding: 27,
			SenderAddress: netip.MustParseAddr("192.0.2.1")}, control.Refused},
	} {
		test, err := c.client.Connect(t.Context(), []netip.AddrPort{at})
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, control.AcceptedBytes)
		if err := test.link.Ask(c.ask.Encode(), b); err != nil || control.Accept(b[0]) != c.want {
			t.Errorf("%s: %v (%v), want %v", name, control.Accept(b[0]), err, c.want)
		}
		if c.want == control.OK {
			if _, err := test.Request(Terms{Port: 10, Padding: 27}); !refusedFor(err, control.Never) {
				t.Errorf("a session too many: %v", err)
			}
		}
		test.Close()
	}
	bob := Client{Mode: control.Mixed, KeyID: "bob", Secret: keys["ann"]}
	if _, err := bob.Connect(t.Context(), []netip.AddrPort{at}); !refusedFor(err, control.Refused) {
		t.Errorf("a name that is not known: %v", err)
	}
}

func refusedFor(err error, why control.Accept) bool {
	refused := &control.RefusedError{}
	return errors.As(err, &refused) && refused.Accept == why
}

// A server without symmetrical sizes has its clients send as much padding as makes packets as long as their answers.
func TestWithoutFeatures(t *testing.T) {
	t.Parallel()
	at, _ := serving(t, "127.0.0.1", &Server{Policy: endpoint.Policy{Modes: control.Open}})
	test, p := begun(t, Client{}, at, Terms{})
	if test.Mode != control.Open || p.Terms.Padding != 27 {
		t.Fatalf("mode %v, padding %d", test.Mode, p.Terms.Padding)
	}
	sent := p.packet(3)
	p.send(t, sent)
	if r, b := p.receive(t); len(sent) != 41 || len(b) != 41 || r.Packet.Sequence != 3 {
		t.Errorf("%d bytes are answered by %d: %+v", len(sent), len(b), r)
	}
	if _, err := test.Request(Terms{Port: 1, Padding: 26}); err == nil {
		t.Error("a client asks for packets that are shorter than their answers")
	}
}

// A test that takes longer than it may is ended, and its client sees that; so is one whose client vanishes.
func TestEnds(t *testing.T) {
	t.Parallel()
	at, tests := serving(t, "127.0.0.1", &Server{Policy: endpoint.Policy{Limits: endpoint.Limits{Longest: 2100 * time.Millisecond}}})
	test, _ := begun(t, Client{}, at, Terms{Timeout: time.Millisecond})
	select {
	case <-test.Done():
	case <-time.After(patience):
		t.Fatal("it is not ended")
	}
	if one := <-tests; one.Err == nil {
		t.Errorf("told of %+v", one)
	}
	test, _ = begun(t, Client{}, at, Terms{})
	_ = test.link.Conn.(*net.TCPConn).SetLinger(0)
	test.Close()
	if one := <-tests; one.Err == nil {
		t.Errorf("told of %+v, and the client was gone", one)
	}
}

// logged is what a server logs, for several goroutines.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) { l.mu.Lock(); defer l.mu.Unlock(); return l.b.Write(p) }
func (l *logged) String() string              { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

// Packets that are forged, cut short, from elsewhere or too many are not answered, a copy by no more bytes than it has; no other session is
// disturbed, and memory stays as it was.
func TestAttack(t *testing.T) {
	for _, mode := range []control.Mode{control.Open, control.Authenticated, control.Encrypted} {
		var log logged
		at, _ := serving(t, "127.0.0.1", &Server{Policy: endpoint.Policy{Keys: keys, Tests: 2}, Log: slog.New(slog.NewTextHandler(&log, nil))})
		c := Client{Mode: mode, KeyID: "ann", Secret: keys["ann"]}
		_, victim := begun(t, c, at, Terms{})
		bystander, other := begun(t, c, at, Terms{})
		elsewhere, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(victim.Remote))
		if err != nil {
			t.Fatal(err)
		}
		defer elsewhere.Close()
		packet := victim.packet(0)
		forged := bytes.Clone(packet)
		NewSealer(mode|Features, control.Keys{}, victim.ID).Seal(forged, control.Packet{Sequence: 1, Error: 1})
		bad := [][]byte{packet[:len(packet)-1], {}, make([]byte, 1000)}
		if mode != control.Open {
			bad = append(bad, forged)
		}
		var before, after runtime.MemStats
		for round := range 11 {
			for range 200 {
				for _, b := range bad {
					victim.send(t, b)
				}
				_, _ = elsewhere.Write(packet) // what the kernel drops of it is not answered, either
			}
			victim.send(t, packet) // the same one each time, behind all the others
			if r, b := victim.receive(t); int(r.Sequence) != round || len(b) != len(packet) {
				t.Errorf("%v: %d bytes are answered by %d, answer %d of %d", mode, len(packet), len(b), r.Sequence, round)
			}
			other.send(t, other.packet(uint32(round)))
			if r, _ := other.receive(t); int(r.Sequence) != round {
				t.Errorf("%v: another session: answer %d, want %d", mode, r.Sequence, round)
			}
			if round == 0 {
				runtime.GC()
				runtime.ReadMemStats(&before)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
			t.Errorf("%v: %d bytes more memory", mode, grown)
		}
		_ = elsewhere.SetReadDeadline(time.Now().Add(time.Millisecond)) // what was sent first came first: an answer would be there
		if n, err := elsewhere.Read(make([]byte, 2000)); err == nil {
			t.Errorf("%v: %d bytes went elsewhere", mode, n)
		}
		bystander.Close()
		if text := log.String(); strings.Count(text, "not answered") > 2 || !strings.Contains(text, "not answered") {
			t.Errorf("%v: the log says\n%s", mode, text)
		}
	}
}

// heardConn keeps what its client says.
type heardConn struct {
	net.Conn
	said bytes.Buffer
}

func (c *heardConn) Write(p []byte) (int, error) { c.said.Write(p); return c.Conn.Write(p) }

// What a client said to the control port lets nobody in again, nor does a part of it, nor what was never right; the server serves on.
func TestControlAttack(t *testing.T) {
	at, _ := serving(t, "127.0.0.1", &Server{Policy: endpoint.Policy{Keys: keys, Modes: SecuredModes}})
	connect := func() *heardConn {
		conn, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		return &heardConn{Conn: conn}
	}
	ann := control.Wish{Modes: []control.Mode{control.Encrypted}, KeyID: "ann", Secret: keys["ann"]}
	first := connect()
	c, err := control.Dial(first, ann)
	if err == nil {
		err = c.Send(Terms{Port: 9, Padding: 64}.request(control.Encrypted).Encode())
	}
	if err == nil {
		err = c.Receive(make([]byte, control.AcceptedBytes))
	}
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	said := first.said.Bytes()
	for name, b := range map[string][]byte{"replayed": said, "cut short": said[:100], "zeros": make([]byte, 1000), "nothing": nil} {
		conn := connect()
		if _, err := conn.Write(b); err != nil {
			t.Fatal(err)
		}
		_ = conn.Conn.(*net.TCPConn).CloseWrite()
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		answer := make([]byte, 2000)
		n := 0
		for err = nil; err == nil; {
			var more int
			more, err = conn.Read(answer[n:])
			n += more
		}
		if most := control.GreetingBytes + control.StartBytes; n > most || n > control.GreetingBytes && answer[control.GreetingBytes+15] == 0 {
			t.Errorf("%s: answered by %d bytes: %x", name, n, answer[:n])
		}
		conn.Close()
	}
	_, p := begun(t, Client{Mode: control.Encrypted, KeyID: "ann", Secret: keys["ann"]}, at, Terms{})
	p.send(t, p.packet(0))
	p.receive(t)
}
