package main

import (
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/peertest"
)

// owampTruncated is less than any OWAMP packet has, and owampBytes what one of the open mode without padding has.
const (
	owampTruncated = 5
	owampBytes     = 14
)

// forgeOWAMP makes the three forgeries of an attacker of an OWAMP server that has a session there, at whose port it aims: packets that are too short and
// one packet again and again, from where the server expects packets of the session, and whole ones from elsewhere.
func forgeOWAMP(to netip.AddrPort) (all []*forgery, end func(), err error) {
	conn, err := net.Dial("tcp", to.String())
	if err != nil {
		return nil, nil, fmt.Errorf("connect to %s: %w", to, err)
	}
	local := conn.LocalAddr().(*net.TCPAddr).AddrPort().Addr()
	own, elsewhere := 0, 0
	var port uint16
	var session peertest.Session
	client, err := peertest.Connect(conn, peertest.Login{Mode: peertest.Open})
	if err == nil {
		own, port, err = bound(local)
	}
	if err == nil {
		elsewhere, _, err = bound(local)
	}
	if err == nil {
		session, err = client.RequestSession(peertest.SessionRequest{ConfReceiver: true, Packets: 1, SenderPort: port, SenderAddress: local,
			ReceiverAddress: to.Addr(), StartTime: peertest.Stamp(time.Now()), Timeout: peertest.Interval(time.Minute), Slots: []peertest.Slot{{Fixed: true}}})
	}
	if err == nil {
		err = client.StartSessions()
	}
	if err != nil {
		conn.Close()
		return nil, nil, fmt.Errorf("open session to attack: %w", err)
	}
	target := netip.AddrPortFrom(to.Addr(), session.Accepted.Port)
	packet := control.NewPacket(control.Open, 0)
	control.NewSealer(control.Open, control.Keys{}, control.SID{}).Seal(packet, control.Packet{Sent: control.TimestampOf(time.Now()), Error: control.Unknown})
	fill := func(b []byte) { copy(b, packet) }
	all = []*forgery{{own, target, owampTruncated, fill}, {elsewhere, target, owampBytes, fill}, {own, target, owampBytes, fill}}
	return all, func() { conn.Close(); unix.Close(own); unix.Close(elsewhere) }, nil
}

// bound opens a socket on a free port of an address.
func bound(at netip.Addr) (socket int, port uint16, err error) {
	if socket, err = openForgery(); err != nil {
		return 0, 0, err
	}
	if err = unix.Bind(socket, &unix.SockaddrInet4{Addr: at.As4()}); err != nil {
		return 0, 0, fmt.Errorf("bind to %s: %w", at, err)
	}
	name, err := unix.Getsockname(socket)
	if err != nil {
		return 0, 0, fmt.Errorf("read port: %w", err)
	}
	return socket, uint16(name.(*unix.SockaddrInet4).Port), nil
}
