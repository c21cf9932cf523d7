package owamp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/sock"
)

// patience is enough for anything here, on a machine that does much else.
const patience = 20 * time.Second

var (
	exampleAddress = netip.MustParseAddr("127.0.0.1")
	keys           = endpoint.Keys{"ann": []byte("pass phrase")}
)

// serving serves on a free port of an address of this host.
func serving(t *testing.T, host string, p endpoint.Policy) (at netip.AddrPort, tests <-chan endpoint.Tested) {
	t.Helper()
	l, err := endpoint.Listen(t.Context(), net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan endpoint.Tested, 100)
	s := &Server{Policy: p, OnTest: func(one endpoint.Tested) { told <- one }}
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

func short(packets int) *Terms {
	return &Terms{Packets: packets, Slots: []Slot{Fixed(2 * time.Millisecond), Exponential(2 * time.Millisecond)}, Padding: 20,
		Timeout: time.Second, DSCP: 46}
}

func measured(t *testing.T, c Client, at netip.AddrPort, p Plan) (*Report, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return c.Measure(ctx, []netip.AddrPort{at}, p)
}

// checkSession looks whether of a session on loopback every packet that was sent came, in a time that can be.
func checkSession(t *testing.T, what string, s *Session, packets int) {
	t.Helper()
	if s == nil || !s.Finished || int(s.Next) != packets || s.Foreign != 0 {
		t.Errorf("%s: %+v, want %d packets sent", what, s, packets)
		return
	}
	sent := packets
	for _, k := range s.Skipped { // a machine that is busy may be late for one
		sent -= int(k.Last) - int(k.First) + 1
	}
	if len(s.Records) != sent {
		t.Errorf("%s: %d records of %d packets", what, len(s.Records), sent)
	}
	for _, r := range s.Records {
		if r.Lost() || r.Delay() < 0 || r.Delay() > patience || r.TTL != sentTTL || !r.SentError.Valid() || !r.ReceivedError.Valid() {
			t.Errorf("%s: %+v, delay %v", what, r, r.Delay())
			return
		}
	}
}

// Every mode, both ways at once and each alone, over IPv4 and IPv6.
func TestModes(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		for _, mode := range []control.Mode{control.Open, control.Authenticated, control.Encrypted} {
			t.Run(fmt.Sprintf("%v over %s", mode, host), func(t *testing.T) {
				t.Parallel()
				testMode(t, host, Client{Mode: mode, KeyID: "ann", Secret: keys["ann"]})
			})
		}
	}
}

func testMode(t *testing.T, host string, c Client) {
	at, tests := serving(t, host, endpoint.Policy{Keys: keys})
	for _, p := range []Plan{{Forward: short(30), Reverse: short(30)}, {Forward: short(5)}, {Reverse: short(5)}} {
		r, err := measured(t, c, at, p)
		if err != nil {
			t.Fatal(err)
		}
		if p.Forward != nil {
			checkSession(t, "forward", r.Forward, p.Forward.Packets)
			if len(r.Left)+r.Skipped < p.Forward.Packets-1 || r.SendError != nil {
				t.Errorf("the kernel stamped %d, %d skipped (%v)", len(r.Left), r.Skipped, r.SendError)
			}
		}
		if p.Reverse != nil {
			checkSession(t, "reverse", r.Reverse, p.Reverse.Packets)
		}
		came := 0 // a busy machine may be late for all of five
		for _, s := range []*Session{r.Forward, r.Reverse} {
			if s != nil {
				came += len(s.Records)
			}
		}
		if one := <-tests; one.Err != nil || (one.Bytes > 0) != (came > 0) {
			t.Errorf("told of %+v, of %d packets", one, came)
		}
	}
}

// A client that leaves the mode open has the strongest there is: with a secret that the server knows, else none at all.
func TestModeLeftOpen(t *testing.T) {
	t.Parallel()
	plain, _ := serving(t, "127.0.0.1", endpoint.Policy{})
	secured, _ := serving(t, "127.0.0.1", endpoint.Policy{Keys: keys})
	strict, _ := serving(t, "127.0.0.1", endpoint.Policy{Keys: keys, Modes: control.Authenticated})
	with := Client{KeyID: "ann", Secret: keys["ann"]}
	for _, c := range []struct {
		client Client
		at     netip.AddrPort
		want   control.Mode
	}{{with, plain, control.Open}, {with, secured, control.Encrypted}, {with, strict, control.Authenticated}, {Client{}, secured, control.Open}} {
		r, err := measured(t, c.client, c.at, Plan{Reverse: short(1)})
		if err != nil || r.Mode != c.want {
			t.Errorf("%+v, %v; want %v", r, err, c.want)
		}
	}
	if _, err := measured(t, Client{}, strict, Plan{Reverse: short(1)}); !errors.Is(err, control.ErrMode) {
		t.Errorf("without a secret: %v", err)
	}
}

// The mixed mode is TWAMP's: a client does not ask for it, and a server does not offer it.
func TestNoMixedMode(t *testing.T) {
	t.Parallel()
	at, _ := serving(t, "127.0.0.1", endpoint.Policy{Keys: keys, Modes: control.Mixed | control.Encrypted})
	ann := Client{Mode: control.Mixed, KeyID: "ann", Secret: keys["ann"]}
	if _, err := measured(t, ann, at, Plan{Reverse: short(1)}); err == nil {
		t.Error("a client asks for it")
	}
	conn, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = control.Dial(conn, control.Wish{Modes: []control.Mode{control.Mixed}, KeyID: "ann", Secret: keys["ann"]})
	if !errors.Is(err, control.ErrMode) {
		t.Errorf("a server answers %v", err)
	}
}

// Clients are told of what they come for what they may not have; the same connection is then of no use, and the server of others'.
func TestPolicy(t *testing.T) {
	t.Parallel()
	at, _ := serving(t, "127.0.0.1", endpoint.Policy{Keys: keys, Tests: 2, Limits: endpoint.Limits{Packets: 10}, Classes: []endpoint.Class{
		{KeyIDs: []string{"ann"}, Limits: endpoint.Limits{Packets: 20}},
		{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.7/32")}, Limits: endpoint.Limits{Refuse: true}},
	}})
	ann := Client{Mode: control.Encrypted, KeyID: "ann", Secret: keys["ann"]}
	for name, c := range map[string]struct {
		client  Client
		packets int
		want    control.Accept
	}{
		"anybody, within":  {Client{}, 10, control.OK},
		"anybody, beyond":  {Client{}, 11, control.Never},
		"by name, within":  {ann, 20, control.OK},
		"by name, beyond":  {ann, 21, control.Never},
		"a name not known": {Client{Mode: control.Encrypted, KeyID: "bob", Secret: keys["ann"]}, 1, control.Refused},
	} {
		_, err := measured(t, c.client, at, Plan{Forward: short(c.packets)})
		refused := &control.RefusedError{Accept: control.OK}
		if err != nil && !errors.As(err, &refused) || refused.Accept != c.want {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	only, _ := serving(t, "127.0.0.1", endpoint.Policy{Peer: netip.MustParseAddr("127.0.0.9")})
	if _, err := measured(t, Client{}, only, Plan{Forward: short(1)}); !errors.Is(err, endpoint.ErrLost) {
		t.Errorf("from who is not the peer: %v", err)
	}
	if _, err := measured(t, Client{Timeout: time.Second}, netip.MustParseAddrPort("127.0.0.1:1"), Plan{Forward: short(1)}); !errors.Is(err, endpoint.ErrRefused) {
		t.Errorf("where nothing listens: %v", err)
	}
}

// Nobody can have a server send packets to a third host, or take such a host's packets for the client's.
func TestThirdParty(t *testing.T) {
	at, _ := serving(t, "127.0.0.1", endpoint.Policy{})
	for name, change := range map[string]func(*control.Request){
		"to another host": func(q *control.Request) { q.ReceiverAddress = netip.MustParseAddr("127.0.0.2") },
		"to no port":      func(q *control.Request) { q.ReceiverPort = 0 },
		"from another host": func(q *control.Request) {
			q.ServerSends, q.ServerReceives, q.SenderPort, q.SenderAddress = false, true, 9, netip.MustParseAddr("127.0.0.2")
		},
		"to itself":         func(q *control.Request) { q.ServerReceives = true },
		"of nobody":         func(q *control.Request) { q.ServerSends = false },
		"of another family": func(q *control.Request) { q.IPv6 = true },
		"as a two-way test": func(q *control.Request) { q.Command = control.RequestTwoWay },
	} {
		c, err := Client{}.connect(t.Context(), []netip.AddrPort{at})
		if err != nil {
			t.Fatal(err)
		}
		q := short(1).request()
		q.ServerSends, q.ReceiverPort = true, 9
		change(&q)
		b := make([]byte, control.AcceptedBytes)
		err = sendRequest(&c.Writer, q, short(1).Slots)
		if err == nil {
			err = c.Receive(b)
		}
		if err == nil && control.Accept(b[0]) == control.OK {
			t.Errorf("%s: accepted", name)
		}
		c.close()
	}
}

// The records of a session can be fetched on another connection, while it runs and later, in part and whole, by its client alone.
func TestFetch(t *testing.T) {
	t.Parallel()
	at, _ := serving(t, "127.0.0.1", endpoint.Policy{Keys: keys, Tests: 3})
	terms := short(20)
	r, err := measured(t, Client{}, at, Plan{Forward: terms})
	if err != nil {
		t.Fatal(err)
	}
	ends := []netip.AddrPort{at}
	all, err := Client{}.Fetch(t.Context(), ends, r.Forward.ID, 0, lastSequence)
	if err != nil || !slices.Equal(all.Records, r.Forward.Records) {
		t.Errorf("fetched again: %+v (%v), want %+v", all, err, r.Forward)
	}
	some, err := Client{}.Fetch(t.Context(), ends, r.Forward.ID, 5, 7)
	if err != nil || len(some.Records) > 3 || slices.ContainsFunc(some.Records, func(r Record) bool { return r.Sequence < 5 || r.Sequence > 7 }) {
		t.Errorf("fetched in part: %+v (%v)", some, err)
	}
	fetchWhileItRuns(t, at)
	refused := &control.RefusedError{}
	if _, err := (Client{}).Fetch(t.Context(), ends, control.SID{1}, 0, lastSequence); !errors.As(err, &refused) {
		t.Errorf("a session that nobody had: %v", err)
	}
	ann := Client{KeyID: "ann", Secret: keys["ann"]}
	if _, err := ann.Fetch(t.Context(), ends, r.Forward.ID, 0, lastSequence); !errors.As(err, &refused) {
		t.Errorf("another client's session: %v", err)
	}
}

// fetchWhileItRuns fetches a session twice that goes on: each time it has more packets, and is not finished.
func fetchWhileItRuns(t *testing.T, at netip.AddrPort) {
	t.Helper()
	c, err := Client{}.connect(t.Context(), []netip.AddrPort{at})
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	r := &Report{Local: endpoint.AddrPort(c.Conn.LocalAddr()), Remote: endpoint.AddrPort(c.Conn.RemoteAddr())}
	p, err := c.request(Terms{Packets: 2000, Slots: []Slot{Fixed(10 * time.Millisecond)}, Timeout: time.Second}, true, r)
	if err == nil {
		err = c.start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for came, deadline := 0, time.Now().Add(patience); came < 20; {
		s, err := Client{}.Fetch(t.Context(), []netip.AddrPort{at}, p.id, 0, lastSequence)
		if err != nil || s.Finished || len(s.Records) < came || time.Now().After(deadline) {
			t.Fatalf("after %d records: %+v (%v)", came, s, err)
		}
		came = len(s.Records)
	}
}

// A test that is ended early has what came so far.
func TestStop(t *testing.T) {
	t.Parallel()
	at, _ := serving(t, "127.0.0.1", endpoint.Policy{})
	stop := make(chan struct{})
	endless := &Terms{Packets: 1000, Slots: []Slot{Fixed(10 * time.Millisecond)}, Timeout: 50 * time.Millisecond}
	seen := 0
	r, err := measured(t, Client{}, at, Plan{Forward: endless, Reverse: endless, Stop: stop, OnRecord: func(Record) {
		if seen++; seen == 20 {
			close(stop)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Session{r.Forward, r.Reverse} {
		if !s.Finished || s.Next == 0 || s.Next > 900 || len(s.Records) == 0 {
			t.Errorf("%d records, next %d, finished %v", len(s.Records), s.Next, s.Finished)
		}
	}
}

// A peer that goes away ends its own test alone, at either end.
func TestLostPeer(t *testing.T) {
	t.Parallel()
	at, tests := serving(t, "127.0.0.1", endpoint.Policy{})
	c, err := Client{}.connect(t.Context(), []netip.AddrPort{at})
	if err != nil {
		t.Fatal(err)
	}
	r := &Report{Local: endpoint.AddrPort(c.Conn.LocalAddr()), Remote: endpoint.AddrPort(c.Conn.RemoteAddr())}
	for _, sends := range []bool{true, false} {
		if _, err := c.request(*short(1000), sends, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.start(); err != nil {
		t.Fatal(err)
	}
	_ = c.Conn.(*net.TCPConn).SetLinger(0)
	c.close()
	if one := <-tests; one.Err == nil {
		t.Errorf("told of %+v, and the client was gone", one)
	}
	if _, err := measured(t, Client{}, at, Plan{Forward: short(2)}); err != nil {
		t.Errorf("the next client: %v", err)
	}
}

// A server that closes the connection, or says nothing, is told from one that answers.
func TestLostServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, end := range []func(net.Conn){func(net.Conn) {}, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }} {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			end(conn)
			conn.Close()
		}
	}()
	for _, want := range []error{endpoint.ErrLost, endpoint.ErrSilent} {
		if _, err := measured(t, Client{Timeout: 200 * time.Millisecond}, endpoint.AddrPort(l.Addr()), Plan{Forward: short(1)}); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	<-done
}

// Packets from elsewhere, forged, cut short and replayed ones disturb no session: only a copy of a true one counts, as a duplicate.
func TestForgedPackets(t *testing.T) {
	t.Parallel()
	at, _ := serving(t, "127.0.0.1", endpoint.Policy{Keys: keys})
	for _, mode := range []control.Mode{control.Open, control.Authenticated, control.Encrypted} {
		c, err := Client{Mode: mode, KeyID: "ann", Secret: keys["ann"]}.connect(t.Context(), []netip.AddrPort{at})
		if err != nil {
			t.Fatal(err)
		}
		r := &Report{Local: endpoint.AddrPort(c.Conn.LocalAddr()), Remote: endpoint.AddrPort(c.Conn.RemoteAddr())}
		p, err := c.request(Terms{Packets: 100, Slots: []Slot{Fixed(5 * time.Millisecond)}, Timeout: 300 * time.Millisecond}, true, r)
		if err != nil {
			t.Fatal(err)
		}
		elsewhere, err := net.Dial("udp", p.send.to.String())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.start(); err != nil {
			t.Fatal(err)
		}
		forged := control.NewPacket(mode, 0)
		control.NewSealer(mode, control.Keys{}, p.id).Seal(forged, control.Packet{Sequence: 50, Sent: control.TimestampOf(time.Now()), Error: 1})
		for range 50 {
			for _, b := range [][]byte{forged, forged[:5], nil} {
				_, _ = elsewhere.Write(b)
			}
		}
		elsewhere.Close()
		if err := c.await(nil); err != nil {
			t.Fatal(err)
		}
		s, err := c.fetch(fetch{0, lastSequence, p.id})
		if err != nil {
			t.Fatal(err)
		}
		checkSession(t, mode.String(), s, 100)
		c.close()
	}
}

// When no more clients may be served at once, the next is told so; who leaves makes room.
func TestBusy(t *testing.T) {
	t.Parallel()
	at, _ := serving(t, "127.0.0.1", endpoint.Policy{})
	first, err := Client{}.connect(t.Context(), []netip.AddrPort{at})
	if err != nil {
		t.Fatal(err)
	}
	refused := &control.RefusedError{}
	if _, err := measured(t, Client{}, at, Plan{Forward: short(1)}); !errors.As(err, &refused) || refused.Accept != control.Busy {
		t.Errorf("while another is served: %v", err)
	}
	first.close()
	if _, err := measured(t, Client{}, at, Plan{Forward: short(1)}); err != nil {
		t.Errorf("after it left: %v", err)
	}
}

// A client whose clock is off loses nothing: what it and the server tell of each packet differs by as much as the clocks do.
func TestClocksThatDiffer(t *testing.T) {
	for _, off := range []time.Duration{-time.Hour, -2 * time.Second, 2 * time.Second, time.Hour} {
		t.Run(off.String(), func(t *testing.T) {
			t.Parallel()
			at, _ := serving(t, "127.0.0.1", endpoint.Policy{})
			c := Client{Clock: endpoint.Clock{Now: func() time.Time { return time.Now().Add(off) }}}
			r, err := measured(t, c, at, Plan{Forward: short(5), Reverse: short(5)})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range []struct {
				*Session
				differ time.Duration
			}{{r.Forward, -off}, {r.Reverse, off}} {
				if len(s.Records) == 0 {
					t.Errorf("no records: %+v", s.Session)
				}
				for _, one := range s.Records {
					if delay := one.Delay() - s.differ; one.Lost() || delay < -time.Millisecond || delay > time.Second {
						t.Errorf("%+v, delay %v", one, delay)
					}
				}
			}
		})
	}
}

// A sender that begins late leaves out what is past, and says so, instead of sending it in one burst.
func TestSkipped(t *testing.T) {
	t.Parallel()
	l, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(exampleAddress, 0)))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	socket, _, err := openAt(exampleAddress, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	s := &sender{terms: Terms{Packets: 12, Slots: []Slot{Fixed(100 * time.Millisecond)}}, sealer: control.NewSealer(control.Open, control.Keys{}, control.SID{}),
		mode: control.Open, to: l.LocalAddr().(*net.UDPAddr).AddrPort(), socket: socket}
	s.terms.Timeout = time.Second
	s.run(time.Now().Add(-time.Second)) // packets 0 to 8 are due 900 to 100 ms before
	got := s.description()
	if len(got.skips) == 0 || got.skips[0].First != 0 || got.skips[0].Last < 7 || got.next != 12 {
		t.Errorf("%+v", got)
	}
}

// A true packet that comes again after all have come is a duplicate; the server listens until the client ends the session.
func TestDuplicates(t *testing.T) {
	t.Parallel()
	at, _ := serving(t, "127.0.0.1", endpoint.Policy{Tests: 2})
	c, err := Client{}.connect(t.Context(), []netip.AddrPort{at})
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	r := &Report{Local: endpoint.AddrPort(c.Conn.LocalAddr()), Remote: endpoint.AddrPort(c.Conn.RemoteAddr())}
	p, err := c.request(Terms{Packets: 1, Slots: []Slot{Fixed(0)}, Timeout: 5 * time.Second}, true, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Send(control.EncodeStart()); err != nil {
		t.Fatal(err)
	}
	if err := c.Receive(make([]byte, control.StartStopBytes)); err != nil {
		t.Fatal(err)
	}
	b := control.NewPacket(control.Open, 0)
	p.send.sealer.Seal(b, control.Packet{Sequence: 0, Sent: control.TimestampOf(time.Now()), Error: control.Unknown})
	for want := 1; want <= 3; want++ {
		if _, _, err := p.socket.Send(b, p.send.to); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(patience); ; {
			s, err := Client{}.Fetch(t.Context(), []netip.AddrPort{at}, p.id, 0, lastSequence)
			if err != nil || time.Now().After(deadline) {
				t.Fatalf("%+v (%v), want %d records", s, err, want)
			}
			if len(s.Records) == want {
				break
			}
		}
	}
}

// What is forged, cut short or copied at a test port is not answered at all, and takes no memory: of copies so many are noted and no more.
func TestAttack(t *testing.T) {
	at, _ := serving(t, "127.0.0.1", endpoint.Policy{Keys: keys, Tests: 2})
	for _, mode := range []control.Mode{control.Open, control.Authenticated, control.Encrypted} {
		c, err := Client{Mode: mode, KeyID: "ann", Secret: keys["ann"]}.connect(t.Context(), []netip.AddrPort{at})
		if err != nil {
			t.Fatal(err)
		}
		r := &Report{Local: endpoint.AddrPort(c.Conn.LocalAddr()), Remote: endpoint.AddrPort(c.Conn.RemoteAddr())}
		p, err := c.request(Terms{Packets: 1, Slots: []Slot{Fixed(0)}, Timeout: 5 * time.Second}, true, r)
		if err == nil {
			err = c.Ask(control.EncodeStart(), make([]byte, control.StartStopBytes))
		}
		if err != nil {
			t.Fatal(err)
		}
		packet, forged := control.NewPacket(mode, 0), control.NewPacket(mode, 0)
		p.send.sealer.Seal(packet, control.Packet{Sent: control.TimestampOf(time.Now()), Error: control.Unknown})
		control.NewSealer(mode, control.Keys{AES: [16]byte{1}}, p.id).Seal(forged, control.Packet{Sequence: 1 << 31, Error: 1})
		for range 2000 {
			for _, b := range [][]byte{packet, forged, packet[:5], {}} {
				if _, _, err := p.socket.Send(b, p.send.to); err != nil {
					t.Fatal(err)
				}
			}
		}
		for event := sock.Event(nil); err == nil; event, err = p.socket.Receive(time.Now().Add(20 * time.Millisecond)) {
			if answer, is := event.(sock.Packet); is {
				t.Fatalf("%v: answered by %d bytes", mode, len(answer.Data))
			}
		}
		s, err := c.Fetch(t.Context(), []netip.AddrPort{at}, p.id, 0, lastSequence)
		if err != nil || len(s.Records) == 0 || len(s.Records) > 1+mostDuplicates(1) {
			t.Errorf("%v: %d records, %v; want at most %d", mode, len(s.Records), err, 1+mostDuplicates(1))
		}
		c.close()
	}
	if _, err := measured(t, Client{}, at, Plan{Forward: short(2)}); err != nil {
		t.Errorf("the next client: %v", err)
	}
}

// The memory for records is shared: sessions that have ended are forgotten for new ones, those under way are not.
func TestMemory(t *testing.T) {
	s := &store{most: 100 * keptPacket}
	now := time.Now()
	session := func(id byte) *kept {
		return &kept{ledger: newLedger(control.SID{id}, Terms{Packets: 1, Slots: []Slot{Fixed(0)}}, control.Request{}), from: exampleAddress}
	}
	one, two, three := session(1), session(2), session(3)
	got := []bool{s.reserve(one, 60, now), s.reserve(two, 60, now)}
	s.done([]*kept{one}, false, now)
	got = append(got, s.find(control.SID{1}, exampleAddress, "") == one, s.reserve(two, 60, now), s.find(control.SID{1}, exampleAddress, "") == nil,
		s.reserve(three, 60, now))
	s.done([]*kept{two}, true, now)
	got = append(got, s.reserve(three, 60, now), s.used == 60*keptPacket)
	if want := []bool{true, false, true, true, true, false, true, true}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
