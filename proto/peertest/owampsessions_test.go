package peertest

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// One connection has several sessions at once, each way, and more of them after the Stop-Sessions (RFC 4656 sections 3.5 and 3.8).
func TestOurServerManySessions(t *testing.T) {
	t.Parallel()
	client, err := ourOWAMP(t, Login{Mode: Authenticated, KeyID: "alice", Secret: "a secret"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		sockets := [3]*Socket{listen(t), listen(t), listen(t)}
		sessions := [3]Session{}
		for i, socket := range sockets {
			r := plan(socket, i == 1)
			r.Timeout = Interval(150 * time.Millisecond)
			if sessions[i], err = client.RequestSession(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := client.StartSessions(); err != nil {
			t.Fatal(err)
		}
		stop := Stop{Number: 2, Sessions: make([]StoppedSession, 2)}
		done := make(chan error, 2)
		for i, at := range []int{0, 2} {
			go func() {
				sent, err := sessions[at].Send(t.Context(), sockets[at], netip.AddrPortFrom(loopback, sessions[at].Accepted.Port), SkipRange{4, 4})
				stop.Sessions[i] = StoppedSession{sessions[at].SID, sent}
				done <- err
			}()
		}
		all, err := sessions[1].Receive(t.Context(), sockets[1])
		if err := first(err, <-done, <-done); err != nil || len(all) != 10 {
			t.Fatalf("received %d packets, %v", len(all), err)
		}
		for _, s := range sessions {
			awaitTimeout(s)
		}
		if err := client.SendStop(stop); err != nil {
			t.Fatal(err)
		}
		got, err := client.ReadStop(false)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Stop{Number: 1, Sessions: []StoppedSession{{sessions[1].SID, Sent{Next: 10}}}}, got); diff != "" {
			t.Error(diff)
		}
		for _, i := range []int{0, 2} {
			if f, err := client.Fetch(sessions[i].SID, 0, 1<<32-1); err != nil || len(f.Records) != 9 || f.Next != 10 {
				t.Errorf("fetched %+v, %v", f, err)
			}
		}
	}
}

// A session that its sender cuts short at once, before the receiver has read all of it, has all records of what was sent.
func TestOurServerStopsAtOnce(t *testing.T) {
	t.Parallel()
	client, err := ourOWAMP(t, Login{Mode: Open})
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		socket := listen(t)
		r := plan(socket, false)
		r.Packets, r.Slots = 1000, []Slot{{true, 0}}
		session := begin(t, client, r)
		for seq := range uint32(20) {
			p := Packet{Seq: seq, Sent: Stamp(time.Now()), Error: someError, Padding: make([]byte, r.Padding)}
			if err := socket.Write(p.Encode(Open, Keys{}), netip.AddrPortFrom(loopback, session.Accepted.Port), 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := client.SendStop(Stop{Number: 1, Sessions: []StoppedSession{{session.SID, Sent{Next: 20}}}}); err != nil {
			t.Fatal(err)
		}
		if _, err := client.ReadStop(false); err != nil {
			t.Fatal(err)
		}
		if f, err := client.Fetch(session.SID, 0, 1<<32-1); err != nil || len(f.Records) != 20 || f.Next != 20 {
			t.Fatalf("fetched %d records, next %d, %v", len(f.Records), f.Next, err)
		}
	}
}

// A session that its sender cuts short has the records of what was sent, and its end in Next Seqno (RFC 4656 sections 3.8 and 3.9).
func TestOurServerStopsEarly(t *testing.T) {
	t.Parallel()
	client, err := ourOWAMP(t, Login{Mode: Encrypted, KeyID: "alice", Secret: "a secret"})
	if err != nil {
		t.Fatal(err)
	}
	socket := listen(t)
	r := plan(socket, false)
	r.Timeout, r.Packets = Interval(150*time.Millisecond), 1000
	session := begin(t, client, r)
	part := session
	part.Request.Packets = 10
	sent, err := part.Send(t.Context(), socket, netip.AddrPortFrom(loopback, session.Accepted.Port))
	if err != nil {
		t.Fatal(err)
	}
	awaitTimeout(part)
	if err := client.SendStop(Stop{Number: 1, Sessions: []StoppedSession{{session.SID, sent}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.ReadStop(false); err != nil {
		t.Fatal(err)
	}
	f, err := client.Fetch(session.SID, 0, 1<<32-1)
	if err != nil || len(f.Records) != 10 || f.Next != 10 || f.Finished == 0 {
		t.Errorf("fetched %+v, %v", f, err)
	}
}

// A server that only sends ends the test when its packets cannot come any more, if the client does not (RFC 4656 section 3.8).
func TestOurServerStops(t *testing.T) {
	t.Parallel()
	client, err := ourOWAMP(t, Login{Mode: Authenticated, KeyID: "alice", Secret: "a secret"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // and goes on with the next
		socket := listen(t)
		r := plan(socket, true)
		r.Timeout = Interval(50 * time.Millisecond)
		session := begin(t, client, r)
		stop, err := client.ReadStop(false)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Stop{Number: 1, Sessions: []StoppedSession{{session.SID, Sent{Next: 10}}}}, stop); diff != "" {
			t.Error(diff)
		}
		if err := client.SendStop(Stop{}); err != nil {
			t.Fatal(err)
		}
	}
}

// A client that stops while the server sends learns how far the server came (RFC 4656 section 3.8).
func TestOurServerIsStopped(t *testing.T) {
	t.Parallel()
	client, err := ourOWAMP(t, Login{Mode: Open})
	if err != nil {
		t.Fatal(err)
	}
	socket := listen(t)
	r := plan(socket, true)
	r.Packets = 1000
	session := begin(t, client, r)
	if _, err := socket.Read(); err != nil {
		t.Fatal(err)
	}
	if err := client.SendStop(Stop{}); err != nil {
		t.Fatal(err)
	}
	stop, err := client.ReadStop(false)
	if err != nil || len(stop.Sessions) != 1 || stop.Sessions[0].SID != session.SID || stop.Sessions[0].Sent.Next > 900 {
		t.Errorf("the server stops with %+v, %v", stop, err)
	}
	socket.SetReadDeadline(time.Now().Add(grace))
	for last := uint32(0); ; {
		d, err := socket.Read()
		if err != nil {
			break
		}
		p, err := DecodePacket(d.Octets, Open, Keys{})
		if err != nil || p.Seq <= last || p.Seq >= stop.Sessions[0].Sent.Next {
			t.Fatalf("packet %+v after %d, and the server says that it sent those before %d: %v", p, last, stop.Sessions[0].Sent.Next, err)
		}
		last = p.Seq
	}
}

// Sessions go over IPv6 as well, each way.
func TestOurServerIPv6(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("this machine has no IPv6: ", err)
	}
	client, err := ourOWAMPAt(t, listener, Login{Mode: Encrypted, KeyID: "alice", Secret: "a secret"})
	if err != nil {
		t.Fatal(err)
	}
	host := netip.IPv6Loopback()
	sockets, sessions := [2]*Socket{}, [2]Session{}
	for i := range sockets {
		if sockets[i], err = Listen(netip.AddrPortFrom(host, 0)); err != nil {
			t.Fatal(err)
		}
		defer sockets[i].Close()
		sockets[i].SetReadDeadline(time.Now().Add(5 * time.Second))
		r := plan(sockets[i], i == 1)
		r.SenderAddress, r.ReceiverAddress, r.Timeout = host, host, Interval(100*time.Millisecond)
		if sessions[i], err = client.RequestSession(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.StartSessions(); err != nil {
		t.Fatal(err)
	}
	sent, err := sessions[0].Send(t.Context(), sockets[0], netip.AddrPortFrom(host, sessions[0].Accepted.Port))
	if err != nil {
		t.Fatal(err)
	}
	if all, err := sessions[1].Receive(t.Context(), sockets[1]); err != nil || len(all) != 10 {
		t.Fatalf("received %v, %v", all, err)
	}
	awaitTimeout(sessions[0])
	awaitTimeout(sessions[1])
	if err := client.SendStop(Stop{Number: 1, Sessions: []StoppedSession{{sessions[0].SID, sent}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.ReadStop(false); err != nil {
		t.Fatal(err)
	}
	f, err := client.Fetch(sessions[0].SID, 0, 1<<32-1)
	if err != nil || len(f.Records) != 10 || f.Records[0].TTL != 255 || f.Request.SenderAddress != host {
		t.Errorf("fetched %+v, %v", f, err)
	}
}
