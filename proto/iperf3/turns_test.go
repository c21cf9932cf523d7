package iperf3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// turns relays connections to a server, and returns where, and who spoke in turn on the first of them, the control connection.
func turns(t *testing.T, server string) (addr string, spoke func() string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	t.Cleanup(func() { ln.Close(); group.Wait() })
	var mu sync.Mutex
	var said strings.Builder
	pass := func(from, to net.Conn, who byte, first bool) {
		defer to.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := from.Read(buf)
			if mu.Lock(); first && n > 0 && !strings.HasSuffix(said.String(), string(who)) {
				said.WriteByte(who)
			}
			mu.Unlock()
			if _, failed := to.Write(buf[:n]); err != nil || failed != nil {
				return
			}
		}
	}
	group.Go(func() {
		for first := true; ; first = false {
			near, err := ln.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", server)
			if err != nil {
				near.Close()
				return
			}
			group.Go(func() { pass(near, far, 'c', first) })
			group.Go(func() { pass(far, near, 's', first) })
		}
	})
	return ln.Addr().String(), func() string {
		ln.Close()
		group.Wait()
		return said.String()
	}
}

// Each turn costs half a round trip: the client opens, ends the data, and says that it is done.
func TestFewTurns(t *testing.T) {
	for name, c := range map[string]Config{
		"forward": {Duration: 100 * time.Millisecond, Rate: 1e7}, "reverse": {Duration: 100 * time.Millisecond, Rate: 1e7, Reverse: true},
	} {
		t.Run(name, func(t *testing.T) {
			addr, spoke := turns(t, serve(t, Policy{}))
			r := run(t, addr, c)
			if got, want := spoke(), "cscsc"; got != want {
				t.Errorf("client and server spoke in turn %q, want %q", got, want)
			}
			if s := r.Streams[0]; s.Sent == nil || s.Received == nil || len(r.PeerSamples) == 0 {
				t.Errorf("sent %v, received %v, %d samples of the peer", s.Sent, s.Received, len(r.PeerSamples))
			}
		})
	}
}

// Builds before this one wait for PARAM_EXCHANGE, and send full results when they are asked for them. What the server had still to send is dropped.
func TestOldClient(t *testing.T) {
	for _, reverse := range []bool{false, true} {
		stream := oldClient(t, reverse)
		if _, err := io.Copy(io.Discard, stream); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("reverse %v: the stream ended with %v, want a reset", reverse, err)
		}
	}
}

// oldClient makes a test up to its end, and returns its stream, of which nothing was read or written.
func oldClient(t *testing.T, reverse bool) (stream net.Conn) {
	conn, err := net.Dial("tcp", serve(t, Policy{}))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	next := func(want State) {
		t.Helper()
		if got, err := ReadState(conn); err != nil || got != want {
			t.Fatalf("state %v, error %v, want %v", got, err, want)
		}
	}
	cookie := Cookie{1}
	_, err = conn.Write(cookie[:])
	must(err)
	next(ParamExchange)
	must(WriteFrame(conn, fmt.Appendf(nil, `{"tcp":true,"time":1,"reverse":%v,"pathwise":{"software":"pathwise","version":"1"}}`, reverse)))
	next(Pathwise)
	_, err = ReadFrame(conn, MaxParamsSize)
	must(err)
	next(CreateStreams)
	stream, err = net.Dial("tcp", conn.RemoteAddr().String())
	must(err)
	t.Cleanup(func() { stream.Close() })
	_, err = stream.Write(cookie[:])
	must(err)
	next(TestStart)
	next(TestRunning)
	must(WriteState(conn, TestEnd))
	next(ExchangeResults)
	must(WriteFrame(conn, []byte(`{"cpu_util_total":1,"cpu_util_user":1,"cpu_util_system":1,"sender_has_retransmits":-1,"streams":[]}`)))
	text, err := ReadFrame(conn, MaxResultsSize)
	must(err)
	if _, err := DecodeResults(text); err != nil {
		t.Errorf("results that were not asked for packed: %v", err)
	}
	next(DisplayResults)
	must(WriteState(conn, Done))
	return stream
}

// A client that has sent its parameters already hears that the server is busy, and no reset.
func TestBusyIsHeard(t *testing.T) {
	addr := serve(t, Policy{})
	release := occupy(t, addr)
	defer release()
	for range 3 {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		opening := append(make([]byte, CookieSize), 0, 0, 0, 2, '{', '}')
		if _, err := conn.Write(opening); err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(5 * time.Second))
		if said, err := io.ReadAll(conn); err != nil || len(said) != 1 || State(said[0]) != AccessDenied {
			t.Errorf("the server said %v, error %v", said, err)
		}
		conn.Close()
	}
	if _, err := (&Client{Addr: addr}).Run(context.Background()); !errors.Is(err, ErrBusy) {
		t.Errorf("error is %v, want %v", err, ErrBusy)
	}
}
