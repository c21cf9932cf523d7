package peertest

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/proto/twamp"
)

// twoWayModes are those of RFC 5357, RFC 5618 and RFC 6038.
var twoWayModes = map[string]Mode{"open": Open, "authenticated": Authenticated, "encrypted": Encrypted, "mixed": Mixed,
	"reflect octets": Open | ReflectOctets, "symmetrical size": Mixed | SymmetricalSize, "both": Open | ReflectOctets | SymmetricalSize}

// ourTWAMP runs the server of package twamp, and connects to it.
func ourTWAMP(t *testing.T, login Login) (*Control, error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &twamp.Server{Policy: endpoint.Policy{Keys: endpoint.Keys{"alice": []byte("a secret")}}}
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
	login.TwoWay = true
	return Connect(conn, login)
}

// Package twamp's server reflects packets in every mode.
func TestOurTWAMPServer(t *testing.T) {
	t.Parallel()
	for name, mode := range twoWayModes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, err := ourTWAMP(t, Login{Mode: mode, KeyID: "alice", Secret: "a secret"})
			if err != nil {
				t.Fatal(err)
			}
			socket := listen(t)
			r := SessionRequest{TwoWay: true, SenderPort: socket.Port, SenderAddress: loopback, ReceiverAddress: loopback, Padding: 100,
				StartTime: Stamp(time.Now()), Timeout: Interval(100 * time.Millisecond)}
			if mode&ReflectOctets != 0 {
				r.ReflectOctets, r.ReflectPadding = 0x1234, 24
			}
			session, err := client.RequestSession(r)
			if err != nil {
				t.Fatal(err)
			}
			if mode&ReflectOctets != 0 && session.Accepted.ReflectedOctets != 0x1234 {
				t.Errorf("the server reflects %#x (RFC 6038 section 4.2)", session.Accepted.ReflectedOctets)
			}
			if err := client.StartSessions(); err != nil {
				t.Fatal(err)
			}
			for seq := range uint32(3) {
				got, err := session.Ping(socket, netip.AddrPortFrom(loopback, session.Accepted.Port), seq+100)
				if err != nil {
					t.Fatal(err)
				}
				if got.Reflection.Seq != seq || got.Reflection.SenderTTL != 255 || got.TTL != 255 {
					t.Errorf("exchange %+v", got)
				}
			}
			if err := client.SendStop(Stop{Number: 1}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Package twamp's server does not answer a packet whose HMAC is wrong, and refuses a wrong secret.
func TestOurTWAMPServerForged(t *testing.T) {
	t.Parallel()
	if _, err := ourTWAMP(t, Login{Mode: Encrypted, KeyID: "alice", Secret: "another"}); !errors.As(err, new(*Refused)) {
		t.Errorf("a wrong secret: %v", err)
	}
	for _, mode := range []Mode{Authenticated, Encrypted} {
		client, err := ourTWAMP(t, Login{Mode: mode, KeyID: "alice", Secret: "a secret"})
		if err != nil {
			t.Fatal(err)
		}
		socket := listen(t)
		session := begin(t, client, SessionRequest{TwoWay: true, SenderPort: socket.Port, SenderAddress: loopback, ReceiverAddress: loopback,
			Padding: 64, StartTime: Stamp(time.Now()), Timeout: Interval(100 * time.Millisecond)})
		to := netip.AddrPortFrom(loopback, session.Accepted.Port)
		forged := session.Keys
		forged.HMAC[0]++
		p := Packet{Seq: 9, Sent: Stamp(time.Now()), Error: someError, Padding: make([]byte, 64)}
		if err := socket.Write(p.Encode(mode, forged), to, 0); err != nil {
			t.Fatal(err)
		}
		if got, err := session.Ping(socket, to, 10); err != nil || got.Reflection.Seq != 0 { // an answer to the first would come first
			t.Errorf("mode %d: exchange %+v, %v", mode, got, err)
		}
	}
}

// Package twamp's client has its packets reflected by the server of this package.
func TestOurTWAMPClient(t *testing.T) {
	t.Parallel()
	for name, mode := range twoWayModes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			offer := host
			offer.Modes = mode
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			type outcome struct {
				*TWServed
				err error
			}
			served := make(chan outcome, 1)
			go func() {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				conn.SetDeadline(time.Now().Add(5 * time.Second))
				s, err := (&TWAMPServer{Host: offer, Address: loopback}).Serve(conn)
				served <- outcome{s, err}
			}()
			client := twamp.Client{Mode: control.Mode(mode & security)}
			if mode.secure() {
				client.KeyID, client.Secret = "alice", []byte("a secret")
			}
			test, err := client.Connect(t.Context(), []netip.AddrPort{listener.Addr().(*net.TCPAddr).AddrPort()})
			if err != nil {
				t.Fatal(err)
			}
			defer test.Close()
			if test.Mode != control.Mode(mode) {
				t.Errorf("the client chose mode %d of %d", test.Mode, mode)
			}
			socket := listen(t)
			terms := twamp.Terms{Port: socket.Port, Padding: 100, Timeout: 100 * time.Millisecond}
			if mode&ReflectOctets != 0 {
				terms.Reflect = 24
			}
			session, err := test.Request(terms)
			if err := errors.Join(err, test.Start()); err != nil {
				t.Fatal(err)
			}
			for seq := range uint32(3) {
				b := twamp.NewPacket(session.Mode, 100)
				packet := control.Packet{Sequence: seq + 50, Sent: control.Timestamp(Stamp(time.Now())), Error: control.Unknown}
				session.Sealer.Seal(b, packet)
				if err := socket.Write(b, session.Remote, 0); err != nil {
					t.Fatal(err)
				}
				d, err := socket.Read()
				if err != nil {
					t.Fatal(err)
				}
				r, err := session.Sealer.OpenReflection(d.Octets)
				if err != nil || r.Sequence != seq || r.Packet != packet || r.TTL != 255 || len(d.Octets) != len(b) {
					t.Errorf("reflection %+v, %v", r, err)
				}
			}
			if err := test.Stop(); err != nil {
				t.Fatal(err)
			}
			test.Close()
			if s := <-served; s.err != nil || len(s.Reflected) != 1 || len(s.Reflected[0]) != 3 || len(s.Stops) != 1 || s.Stops[0].Number != 1 {
				t.Errorf("served %+v, %v", s.TWServed, s.err)
			}
		})
	}
}
