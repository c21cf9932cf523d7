package peertest

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	loopback = netip.MustParseAddr("127.0.0.1")
	modes    = map[string]Mode{"open": Open, "authenticated": Authenticated, "encrypted": Encrypted}
	slots    = []Slot{{false, Interval(2 * time.Millisecond)}, {true, Interval(time.Millisecond)}}
	host     = Host{Modes: Open | Authenticated | Encrypted, Secrets: map[string]string{"alice": "a secret"}}
)

// connect opens a connection to a server that serves it, and waits for the server at the end of the test.
func connect[S any](t *testing.T, serve func(net.Conn) (S, error)) (net.Conn, func() (S, error)) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(5 * time.Second)
	conn.SetDeadline(deadline)
	far.SetDeadline(deadline)
	done := make(chan struct{})
	var result S
	go func() {
		defer close(done)
		defer far.Close()
		result, err = serve(far)
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	return conn, func() (S, error) { conn.Close(); <-done; return result, err }
}

func listen(t *testing.T) *Socket {
	t.Helper()
	socket, err := Listen(netip.AddrPortFrom(loopback, 0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	socket.SetReadDeadline(time.Now().Add(5 * time.Second))
	return socket
}

// plan is a request for a session of ten packets to or from a socket.
func plan(socket *Socket, receive bool) SessionRequest {
	r := SessionRequest{ConfSender: receive, ConfReceiver: !receive, Packets: 10, SenderPort: socket.Port, SenderAddress: loopback,
		ReceiverAddress: loopback, Padding: 20, StartTime: Stamp(time.Now().Add(20 * time.Millisecond)), Timeout: Interval(time.Second), Slots: slots}
	if receive {
		r.SenderPort, r.ReceiverPort, r.SID = 0, socket.Port, NewSID(loopback)
	}
	return r
}

// A client sends a session to a server and fetches it, the whole and a part.
func TestOWAMPSend(t *testing.T) {
	t.Parallel()
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &OWAMPServer{Host: host, Address: loopback}
			conn, wait := connect(t, server.Serve)
			client, err := Connect(conn, Login{Mode: mode, KeyID: "alice", Secret: "a secret"})
			if err != nil {
				t.Fatal(err)
			}
			socket := listen(t)
			session, err := client.RequestSession(plan(socket, false))
			if err != nil {
				t.Fatal(err)
			}
			if err := client.StartSessions(); err != nil {
				t.Fatal(err)
			}
			sent, err := session.Send(t.Context(), socket, netip.AddrPortFrom(loopback, session.Accepted.Port), SkipRange{3, 3}, SkipRange{5, 6})
			if err != nil {
				t.Fatal(err)
			}
			if err := client.SendStop(Stop{Number: 1, Sessions: []StoppedSession{{session.SID, sent}}}); err != nil {
				t.Fatal(err)
			}
			if stop, err := client.ReadStop(false); err != nil || stop.Number != 0 {
				t.Fatalf("server stops with %v, %v", stop, err)
			}
			whole, err := client.Fetch(session.SID, 0, 1<<32-1)
			if err != nil {
				t.Fatal(err)
			}
			want := session.Request
			want.SID = session.SID
			if diff := cmp.Diff(want, whole.Request, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
				t.Error(diff)
			}
			if len(whole.Records) != 7 || whole.Next != 10 || whole.Finished == 0 || !cmp.Equal(whole.Skips, []SkipRange{{3, 3}, {5, 6}}) {
				t.Errorf("fetched %+v", whole)
			}
			for _, r := range whole.Records {
				if r.Received < r.Sent || r.TTL != 255 {
					t.Errorf("record %+v", r)
				}
			}
			if part, err := client.Fetch(session.SID, 8, 9); err != nil || len(part.Records) != 2 {
				t.Errorf("fetched %+v, %v", part, err)
			}
			if _, err := client.Fetch([16]byte{1}, 0, 9); !errors.As(err, new(*Refused)) {
				t.Errorf("fetched a session that is not there: %v", err)
			}
			if served, err := wait(); err != nil || served.Mode != mode || len(served.Received[0]) != 7 {
				t.Errorf("served %+v, %v", served, err)
			}
		})
	}
}

// A server sends a session to a client.
func TestOWAMPReceive(t *testing.T) {
	t.Parallel()
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &OWAMPServer{Host: host, Address: loopback, Skips: []SkipRange{{2, 3}}}
			conn, wait := connect(t, server.Serve)
			client, err := Connect(conn, Login{Mode: mode, KeyID: "alice", Secret: "a secret"})
			if err != nil {
				t.Fatal(err)
			}
			socket := listen(t)
			session, err := client.RequestSession(plan(socket, true))
			if err != nil {
				t.Fatal(err)
			}
			if err := client.StartSessions(); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			received := make(chan []Received, 1)
			go func() {
				all, err := session.Receive(ctx, socket)
				if err != nil {
					t.Error(err)
				}
				received <- all
			}()
			stop, err := client.ReadStop(false)
			if err != nil {
				t.Fatal(err)
			}
			if err := client.SendStop(Stop{}); err != nil {
				t.Fatal(err)
			}
			cancel()
			want := Stop{Number: 1, Sessions: []StoppedSession{{session.SID, Sent{10, []SkipRange{{2, 3}}}}}}
			if diff := cmp.Diff(want, stop); diff != "" {
				t.Error(diff)
			}
			all := <-received
			if len(all) != 8 {
				t.Errorf("received %d packets, want 8", len(all))
			}
			for _, r := range all {
				if r.Late < 0 || r.Late > time.Second || r.TTL != 255 {
					t.Errorf("received %+v", r)
				}
			}
			if _, err := wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A wrong secret and an unknown KeyID are refused.
func TestWrongKey(t *testing.T) {
	t.Parallel()
	for _, login := range []Login{{Mode: Encrypted, KeyID: "alice", Secret: "another"}, {Mode: Authenticated, KeyID: "bob", Secret: "a secret"}} {
		conn, wait := connect(t, (&OWAMPServer{Host: host, Address: loopback}).Serve)
		if _, err := Connect(conn, login); !errors.As(err, new(*Refused)) {
			t.Errorf("%v: %v", login, err)
		}
		if _, err := wait(); !errors.As(err, new(*Refused)) {
			t.Errorf("%v: %v", login, err)
		}
	}
}
