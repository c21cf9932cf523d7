package peertest

import (
	"errors"
	"net/netip"
	"testing"
	"time"
)

// A client has its packets reflected in every mode.
func TestTWAMP(t *testing.T) {
	t.Parallel()
	twoWay := host
	twoWay.Modes |= Mixed | ReflectOctets | SymmetricalSize
	for name, mode := range map[string]Mode{"open": Open, "authenticated": Authenticated, "encrypted": Encrypted, "mixed": Mixed,
		"reflect octets": Open | ReflectOctets, "symmetrical size": Mixed | SymmetricalSize, "both": Open | ReflectOctets | SymmetricalSize} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, wait := connect(t, (&TWAMPServer{Host: twoWay, Address: loopback}).Serve)
			client, err := Connect(conn, Login{Mode: mode, KeyID: "alice", Secret: "a secret", TwoWay: true})
			if err != nil {
				t.Fatal(err)
			}
			socket := listen(t)
			r := SessionRequest{TwoWay: true, SenderPort: socket.Port, SenderAddress: loopback, ReceiverAddress: loopback, Padding: 100,
				StartTime: Stamp(time.Now()), Timeout: Interval(time.Second)}
			if mode&ReflectOctets != 0 {
				r.ReflectOctets, r.ReflectPadding = 0x1234, 24
			}
			session, err := client.RequestSession(r)
			if err != nil {
				t.Fatal(err)
			}
			if mode&ReflectOctets != 0 && session.Accepted.ReflectedOctets != 0x1234 {
				t.Errorf("the server reflects %#x", session.Accepted.ReflectedOctets)
			}
			if err := client.StartSessions(); err != nil {
				t.Fatal(err)
			}
			for seq := range uint32(3) {
				got, err := session.Ping(socket, netip.AddrPortFrom(loopback, session.Accepted.Port), seq)
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
			if served, err := wait(); err != nil || served.Mode != mode || len(served.Reflected[0]) != 3 {
				t.Errorf("served %+v, %v", served, err)
			}
		})
	}
}

// A client that stops another number of sessions than it has breaks the RFC.
func TestTWAMPWrongStop(t *testing.T) {
	t.Parallel()
	conn, wait := connect(t, (&TWAMPServer{Host: host, Address: loopback}).Serve)
	client, err := Connect(conn, Login{Mode: Open, TwoWay: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(client.StartSessions(), client.SendStop(Stop{Number: 1})); err != nil {
		t.Fatal(err)
	}
	if _, err := wait(); !errors.As(err, new(*Violation)) {
		t.Errorf("the server says %v", err)
	}
}
