package iperf3

import (
	"crypto/rand"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"
)

// A port that is open for one peer refuses every other host, and its handshakes are not theirs to take.
func TestOnlyThePeer(t *testing.T) {
	for _, test := range []struct {
		peer string
		want error
	}{
		{"127.0.0.1", nil},
		{"::ffff:127.0.0.1", nil}, // the same host
		{"127.0.0.2", ErrPeerLost},
		{"::1", ErrPeerLost},
	} {
		addr := serve(t, Policy{Peer: netip.MustParseAddr(test.peer)})
		for name, c := range map[string]Config{"tcp": {Bytes: 1000, Parallel: 2}, "udp": {Proto: UDP, Bytes: 1000}} {
			_, err := (&Client{Addr: addr, Config: c}).Run(t.Context())
			if !errors.Is(err, test.want) {
				t.Errorf("%s, open for %s: error is %v, want %v", name, test.peer, err, test.want)
			}
		}
	}
}

// Whatever another host leaves open, and at whatever step of a test it falls silent, a test comes through at once.
func TestSilenceBlocksNobodyElse(t *testing.T) {
	const connections, tests = 200, 3 * setupsEach // more than any share
	for _, step := range []struct {
		name  string
		times int
		play  func(t *testing.T, addr string)
	}{
		{"before the cookie", connections, func(t *testing.T, addr string) { dialFrom(t, addr) }},
		{"amid the cookie", connections, func(t *testing.T, addr string) { _, _ = dialFrom(t, addr).Write([]byte("half a cook")) }},
		{"after the cookie", tests, func(t *testing.T, addr string) { say(t, addr, "") }},
		{"amid the parameters", tests, func(t *testing.T, addr string) { say(t, addr, "\x00\x00\x01\x00{") }},
		{"without a stream", tests, func(t *testing.T, addr string) { setUpTo(t, addr, `{"tcp":true,"parallel":4}`, 0) }},
		{"with half of the streams", tests, func(t *testing.T, addr string) { setUpTo(t, addr, `{"tcp":true,"parallel":4}`, 2) }},
		{"without a UDP stream", tests, func(t *testing.T, addr string) { setUpTo(t, addr, `{"udp":true,"parallel":4}`, 0) }},
	} {
		t.Run(step.name, func(t *testing.T) {
			addr := serve(t, Policy{})
			for range step.times {
				step.play(t, addr)
			}
			began := time.Now()
			for name, c := range map[string]Config{
				"tcp": {Bytes: 1000, Parallel: 4}, "udp": {Proto: UDP, Bytes: 10_000, Parallel: 2}, "reverse": {Bytes: 1000, Reverse: true},
			} {
				if r := run(t, addr, c); r.Total(directions(c)[0]).ReceivedBytes == 0 {
					t.Errorf("%s: nothing came", name)
				}
			}
			if took := time.Since(began); took > defaultTimeout/2 {
				t.Errorf("three small tests took %v", took)
			}
		})
	}
}

// dialFrom connects from an address that is not the tests' own. The server may close what is too much.
func dialFrom(t *testing.T, addr string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	conn, err := d.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// say opens a control connection and sends a cookie and some more.
func say(t *testing.T, addr, more string) (net.Conn, Cookie) {
	t.Helper()
	conn := dialFrom(t, addr)
	cookie, err := NewCookie(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = conn.Write(append(cookie[:], more...))
	return conn, cookie
}

// setUpTo goes on to CREATE_STREAMS, if the server lets it, and opens some streams.
func setUpTo(t *testing.T, addr, params string, streams int) {
	t.Helper()
	conn, cookie := say(t, addr, "\x00\x00\x00"+string(rune(len(params)))+params)
	for state := State(0); streams > 0 && state != CreateStreams; {
		var err error
		if state, err = ReadState(conn); err != nil || state == AccessDenied {
			return
		}
	}
	for range streams {
		_, _ = dialFrom(t, addr).Write(cookie[:])
	}
}

// All streams of a test share one time limit, however evenly they come, and so does a UDP test.
func TestStreamsHaveOneDeadline(t *testing.T) {
	const limit = 300 * time.Millisecond
	for _, params := range []string{`{"tcp":true,"parallel":100}`, `{"udp":true,"parallel":100}`} {
		addr := serve(t, Policy{Timeout: limit})
		conn, cookie := say(t, addr, "\x00\x00\x00"+string(rune(len(params)))+params)
		for range 2 {
			if _, err := ReadState(conn); err != nil {
				t.Fatal(err)
			}
		}
		began, closed := time.Now(), make(chan struct{})
		go func() {
			defer close(closed)
			_, _ = ReadState(conn)
		}()
		ticker := time.NewTicker(limit / 3) // within the limit of each, were there one
		defer ticker.Stop()
		for over := false; !over; {
			select {
			case <-closed:
				over = true
			case <-ticker.C:
				if params[2] == 't' {
					_, _ = dialFrom(t, addr).Write(cookie[:])
				}
				if time.Since(began) > 20*limit {
					t.Fatalf("%s: still waiting after %v", params, 20*limit)
				}
			}
		}
	}
}
