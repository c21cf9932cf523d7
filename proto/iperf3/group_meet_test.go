package iperf3

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// No receiver waits for another: each of these answers when all were asked.
func TestGroupMeetsAtOnce(t *testing.T) {
	const receivers = 5
	var asked atomic.Int32
	allAsked := make(chan struct{})
	config := Config{Proto: UDP, Group: "239.255.86.8", Duration: 100 * time.Millisecond, Rate: 1_000_000, Length: 1000, Timeout: 5 * time.Second}
	client := GroupClient{Config: config}
	for range receivers {
		server := &Server{Policy: Policy{Groups: private(t)}, Clock: func() (time.Duration, bool) {
			if asked.Add(1) == receivers {
				close(allAsked)
			}
			select {
			case <-allAsked:
			case <-t.Context().Done():
			}
			return sock.ClockQuality()
		}}
		client.Addrs = append(client.Addrs, serveBy(t, server, Listen))
	}
	all, err := client.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if one.Err != nil {
			t.Errorf("%s: %v", one.Addr, one.Err)
		}
	}
}

// The first datagrams go to all servers before any has answered, and again to those that have not.
func TestShakeHands(t *testing.T) {
	loopback := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}
	open := func() *net.UDPConn {
		t.Helper()
		c, err := net.ListenUDP("udp", loopback)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	servers := []*net.UDPConn{open(), open(), open()}
	addresses := make([]netip.AddrPort, len(servers))
	for i, s := range servers {
		addresses[i] = addrPort(s.LocalAddr())
	}
	go func() { // ends with the sockets
		var b [10]byte
		for i, s := range append(servers, servers[1]) { // the second hears it twice
			_, from, err := s.ReadFromUDPAddrPort(b[:])
			if err != nil {
				return
			}
			if i < len(servers) {
				continue
			}
			for _, s := range servers {
				_, _ = s.WriteToUDPAddrPort(udpAnswer[:], from)
			}
		}
	}()
	if silent, err := shakeHands(t.Context(), open(), addresses, 2*time.Second); err != nil {
		t.Errorf("server %d: %v", silent, err)
	}
	if silent, err := shakeHands(t.Context(), open(), addresses, 20*time.Millisecond); err != ErrUDPBlocked || silent != 0 {
		t.Errorf("servers that are silent: %d, %v", silent, err)
	}
}

// A client that opens UDP streams to one address of a server waits for those that it opens to that address, not to another: a host that is named by two of its
// addresses is two receivers of a group.
func TestLockUDPByAddress(t *testing.T) {
	ln, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	from := func(server string) net.Conn {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}}
		dialed, err := dialer.DialContext(t.Context(), "tcp", net.JoinHostPort(server, strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)))
		if err != nil {
			t.Fatal(err)
		}
		taken, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { dialed.Close(); taken.Close() })
		return taken
	}
	s := &Server{udpSetups: map[udpEnds]chan struct{}{}}
	now, cancel := context.WithCancel(t.Context())
	cancel() // who would have to wait gives up
	unlock, err := s.lockUDP(now, from("127.0.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.lockUDP(now, from("127.0.0.1")); err == nil {
		t.Error("two set-ups from one client to one address at once")
	}
	other, err := s.lockUDP(now, from("127.0.0.2"))
	if err != nil {
		t.Fatalf("a set-up to another address: %v", err)
	}
	other()
	unlock()
	if _, err := s.lockUDP(now, from("127.0.0.1")); err != nil {
		t.Errorf("after the first was over: %v", err)
	}
}
