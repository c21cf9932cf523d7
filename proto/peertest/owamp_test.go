package peertest

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/proto/owamp"
)

// ourOWAMP runs the server of package owamp, and connects to it.
func ourOWAMP(t *testing.T, login Login) (*Control, error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ourOWAMPAt(t, listener, login)
}

func ourOWAMPAt(t *testing.T, listener net.Listener, login Login) (*Control, error) {
	t.Helper()
	server := &owamp.Server{Policy: endpoint.Policy{Keys: endpoint.Keys{"alice": []byte("a secret")}}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	return Connect(conn, login)
}

// begin requests and starts a session.
func begin(t *testing.T, client *Control, r SessionRequest) Session {
	t.Helper()
	session, err := client.RequestSession(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.StartSessions(); err != nil {
		t.Fatal(err)
	}
	return session
}

// awaitTimeout waits until the last packet of a session would be lost if it had not arrived. A receiver that is told to stop before that
// drops the records of the packets that might still come (RFC 4656 section 3.8).
func awaitTimeout(s Session) {
	schedule := Schedule(s.SID, s.Request.Slots, s.Request.Packets)
	last := s.Request.StartTime + schedule[len(schedule)-1] + s.Request.Timeout
	time.Sleep(time.Until(last.Time().Add(grace)))
}

// Package owamp's server receives a session, and tells what it received.
func TestOurServerReceives(t *testing.T) {
	t.Parallel()
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, err := ourOWAMP(t, Login{Mode: mode, KeyID: "alice", Secret: "a secret"})
			if err != nil {
				t.Fatal(err)
			}
			socket := listen(t)
			r := plan(socket, false)
			r.Timeout = Interval(150 * time.Millisecond)
			session := begin(t, client, r)
			sent, err := session.Send(t.Context(), socket, netip.AddrPortFrom(loopback, session.Accepted.Port), SkipRange{3, 3}, SkipRange{5, 6})
			if err != nil {
				t.Fatal(err)
			}
			awaitTimeout(session)
			if err := client.SendStop(Stop{Number: 1, Sessions: []StoppedSession{{session.SID, sent}}}); err != nil {
				t.Fatal(err)
			}
			if stop, err := client.ReadStop(false); err != nil || stop.Number != 0 {
				t.Fatalf("server stops with %v, %v", stop, err)
			}
			whole, err := client.Fetch(session.SID, 0, 1<<32-1)
			if err != nil {
				t.Fatalf("%+v: %v", whole, err)
			}
			want := session.Request
			want.SID = session.SID
			if diff := cmp.Diff(want, whole.Request, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
				t.Errorf("the request comes back otherwise (RFC 4656 section 3.9):\n%s", diff)
			}
			if whole.Next != 10 || whole.Finished == 0 || !cmp.Equal(whole.Skips, []SkipRange{{3, 3}, {5, 6}}) {
				t.Errorf("fetched %+v", whole)
			}
			seqs := []uint32{}
			for _, r := range whole.Records {
				seqs = append(seqs, r.Seq)
				if r.Received < r.Sent || r.TTL != 255 || r.SendError != someError {
					t.Errorf("record %+v", r)
				}
			}
			if diff := cmp.Diff([]uint32{0, 1, 2, 4, 7, 8, 9}, seqs); diff != "" {
				t.Error(diff)
			}
			if part, err := client.Fetch(session.SID, 8, 9); err != nil || len(part.Records) != 2 {
				t.Errorf("fetched %+v, %v", part, err)
			}
			if _, err := client.Fetch([16]byte{1}, 0, 9); !errors.As(err, new(*Refused)) {
				t.Errorf("fetched a session that is not there: %v", err)
			}
		})
	}
}

// Package owamp's server records packets that were lost, with when they were to be sent.
func TestOurServerRecordsLoss(t *testing.T) {
	t.Parallel()
	client, err := ourOWAMP(t, Login{Mode: Open})
	if err != nil {
		t.Fatal(err)
	}
	socket := listen(t)
	r := plan(socket, false)
	r.Timeout = Interval(150 * time.Millisecond)
	session := begin(t, client, r)
	sent, err := session.Send(t.Context(), socket, netip.AddrPortFrom(loopback, session.Accepted.Port), SkipRange{4, 4})
	if err != nil {
		t.Fatal(err)
	}
	sent.Skips = nil // so that for the receiver packet 4 is lost
	awaitTimeout(session)
	if err := client.SendStop(Stop{Number: 1, Sessions: []StoppedSession{{session.SID, sent}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.ReadStop(false); err != nil {
		t.Fatal(err)
	}
	got, err := client.Fetch(session.SID, 4, 4)
	if err != nil || len(got.Records) != 1 {
		t.Fatalf("fetched %+v, %v", got, err)
	}
	// The server counts from when the sender's schedule began by its own clock, which the first packet shows: somewhat later.
	due := session.Request.StartTime + Schedule(session.SID, slots, 5)[4]
	if r := got.Records[0]; r.Received != 0 || r.Sent.Time().Sub(due.Time()).Abs() > 50*time.Millisecond {
		t.Errorf("record %+v, want one that was to be sent at %#x (RFC 4656 section 4.2)", r, due)
	}
}

// Package owamp's server takes packets with a wrong HMAC for none, and keeps copies of right ones (RFC 4656 sections 4.1.2 and 4.2).
func TestOurServerDiscardsForged(t *testing.T) {
	t.Parallel()
	for _, mode := range []Mode{Authenticated, Encrypted} {
		client, err := ourOWAMP(t, Login{Mode: mode, KeyID: "alice", Secret: "a secret"})
		if err != nil {
			t.Fatal(err)
		}
		socket := listen(t)
		r := plan(socket, false)
		r.Timeout = Interval(150 * time.Millisecond)
		session := begin(t, client, r)
		to := netip.AddrPortFrom(loopback, session.Accepted.Port)
		forged := session
		forged.Keys.HMAC[0]++
		sent, err := forged.Send(t.Context(), socket, to)
		if err != nil {
			t.Fatal(err)
		}
		p := Packet{Seq: 3, Sent: Stamp(time.Now()), Error: someError, Padding: make([]byte, r.Padding)}
		for range 2 {
			if err := socket.Write(p.Encode(mode, session.Keys), to, 0); err != nil {
				t.Fatal(err)
			}
		}
		awaitTimeout(session)
		if err := client.SendStop(Stop{Number: 1, Sessions: []StoppedSession{{session.SID, sent}}}); err != nil {
			t.Fatal(err)
		}
		if _, err := client.ReadStop(false); err != nil {
			t.Fatal(err)
		}
		whole, err := client.Fetch(session.SID, 0, 1<<32-1)
		if err != nil {
			t.Fatal(err)
		}
		received := 0
		for _, r := range whole.Records {
			if r.Received != 0 && r.Seq == 3 && r.Sent == p.Sent {
				received++
			} else if r.Received != 0 {
				t.Errorf("mode %d: record %+v of a forged packet", mode, r)
			}
		}
		if received != 2 || len(whole.Records) != 11 {
			t.Errorf("mode %d: %d of 2 copies are recorded, %d records in all, want 11", mode, received, len(whole.Records))
		}
	}
}

// Package owamp's server does not accept a message whose HMAC is wrong (RFC 4656 section 3.2).
func TestOurServerWrongHMAC(t *testing.T) {
	t.Parallel()
	client, err := ourOWAMP(t, Login{Mode: Encrypted, KeyID: "alice", Secret: "a secret"})
	if err != nil {
		t.Fatal(err)
	}
	client.sent.Write([]byte("what was never sent"))
	if session, err := client.RequestSession(plan(listen(t), false)); err == nil {
		t.Errorf("the server accepts %+v", session)
	}
}

// Package owamp's server does not accept a session in which it has no role, or one without slots (RFC 4656 section 3.5).
func TestOurServerRefusesRequest(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*SessionRequest){
		"neither role": func(r *SessionRequest) { r.ConfReceiver = false },
		"no slots":     func(r *SessionRequest) { r.Slots = nil },
	} {
		client, err := ourOWAMP(t, Login{Mode: Open})
		if err != nil {
			t.Fatal(err)
		}
		r := plan(listen(t), false)
		change(&r)
		if session, err := client.RequestSession(r); err == nil {
			t.Errorf("%s: the server accepts %+v", name, session)
		} else if !errors.As(err, new(*Refused)) {
			t.Logf("%s: %v", name, err)
		}
	}
}

// Package owamp's server sends a session.
func TestOurServerSends(t *testing.T) {
	t.Parallel()
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, err := ourOWAMP(t, Login{Mode: mode, KeyID: "alice", Secret: "a secret"})
			if err != nil {
				t.Fatal(err)
			}
			socket := listen(t)
			session := begin(t, client, plan(socket, true))
			all, err := session.Receive(t.Context(), socket)
			if err != nil || len(all) != 10 {
				t.Fatalf("received %v, %v", all, err)
			}
			for _, r := range all {
				if r.Late < 0 || r.Late > time.Second || r.From.Port() != session.Accepted.Port {
					t.Errorf("received %+v", r)
				}
			}
			if err := client.SendStop(Stop{}); err != nil {
				t.Fatal(err)
			}
			stop, err := client.ReadStop(false)
			if err != nil {
				t.Fatal(err)
			}
			want := Stop{Number: 1, Sessions: []StoppedSession{{session.SID, Sent{Next: 10}}}}
			if diff := cmp.Diff(want, stop); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Package owamp's server refuses a wrong secret and an unknown KeyID.
func TestOurServerRefuses(t *testing.T) {
	t.Parallel()
	for _, login := range []Login{{Mode: Encrypted, KeyID: "alice", Secret: "another"}, {Mode: Authenticated, KeyID: "bob", Secret: "a secret"}} {
		if _, err := ourOWAMP(t, login); !errors.As(err, new(*Refused)) {
			t.Errorf("%v: %v", login, err)
		}
	}
}

// Package owamp's client measures both ways at the server of this package, and fetches what it sent.
func TestOurClient(t *testing.T) {
	t.Parallel()
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &OWAMPServer{Host: host, Address: loopback, Skips: []SkipRange{{2, 3}}}
			address, served := serveOWAMP(t, server, 2)
			client := owamp.Client{Mode: control.Mode(mode), KeyID: "alice", Secret: []byte("a secret")}
			if mode == Open {
				client.KeyID, client.Secret = "", nil
			}
			terms := owamp.Terms{Packets: 20, Padding: 10, Timeout: 150 * time.Millisecond,
				Slots: []owamp.Slot{owamp.Exponential(2 * time.Millisecond), owamp.Fixed(time.Millisecond)}}
			report, err := client.Measure(t.Context(), []netip.AddrPort{address}, owamp.Plan{Forward: &terms, Reverse: &terms})
			if err != nil {
				t.Fatal(err)
			}
			if f := report.Forward; f == nil || len(f.Records) != 20-report.Skipped || f.Next != 20 {
				t.Errorf("forward %+v", f)
			}
			if r := report.Reverse; r == nil || len(r.Records) != 18 || r.Next != 20 || !cmp.Equal(r.Skipped, []owamp.Skip{{First: 2, Last: 3}}) {
				t.Errorf("reverse %+v", r)
			}
			again, err := client.Fetch(t.Context(), []netip.AddrPort{address}, report.Forward.ID, 5, 9)
			if err != nil || len(again.Records) != 5 {
				t.Errorf("fetched %+v, %v", again, err)
			}
			for range 2 {
				if s := <-served; s.err != nil || s.Mode != mode {
					t.Errorf("served %+v, %v", s.Served, s.err)
				}
			}
		})
	}
}

// Package owamp's client has all packets of a server that only sends, and ends the test itself at once (RFC 4656 section 3.8).
func TestOurClientIsStopped(t *testing.T) {
	t.Parallel()
	const tests = 20
	address, served := serveOWAMP(t, &OWAMPServer{Host: host, Address: loopback}, tests)
	terms := owamp.Terms{Packets: 10, Timeout: time.Second, Slots: []owamp.Slot{owamp.Fixed(time.Millisecond)}}
	for range tests {
		report, err := owamp.Client{}.Measure(t.Context(), []netip.AddrPort{address}, owamp.Plan{Reverse: &terms})
		if err != nil {
			t.Fatal(err)
		}
		if r := report.Reverse; r == nil || len(r.Records) != 10 || r.Next != 10 || !r.Finished {
			t.Errorf("%+v", r)
		}
		if s := <-served; s.err != nil {
			t.Errorf("served %+v, %v", s.Served, s.err)
		}
	}
}

type outcome struct {
	*Served
	err error
}

// serveOWAMP serves as many connections.
func serveOWAMP(t *testing.T, server *OWAMPServer, connections int) (netip.AddrPort, chan outcome) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan outcome, connections)
	go func() {
		for range connections {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.SetDeadline(time.Now().Add(5 * time.Second))
			s, err := server.Serve(conn)
			conn.Close()
			served <- outcome{s, err}
		}
	}()
	t.Cleanup(func() { listener.Close() })
	return listener.Addr().(*net.TCPAddr).AddrPort(), served
}

// Package owamp's client says that it was refused.
func TestOurClientRefused(t *testing.T) {
	t.Parallel()
	address, _ := serveOWAMP(t, &OWAMPServer{Host: host, Address: loopback}, 1)
	client := owamp.Client{Mode: control.Encrypted, KeyID: "alice", Secret: bytes.Repeat([]byte("x"), 12)}
	terms := owamp.Terms{Packets: 1, Slots: []owamp.Slot{owamp.Fixed(time.Millisecond)}}
	var refused *control.RefusedError
	if _, err := client.Measure(t.Context(), []netip.AddrPort{address}, owamp.Plan{Forward: &terms}); !errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
}
