package iperf3

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"
)

// fake is a server that does what a test wants with each connection.
func fake(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			serve(conn)
			conn.Close()
		}
	}()
	return ln.Addr().String()
}

func closedPort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// untilClosed reads until the peer closes.
func untilClosed(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// accepting goes through the handshake up to the state given, with the client's streams ignored.
func accepting(states ...State) func(net.Conn) {
	return func(conn net.Conn) {
		var cookie Cookie
		_, _ = io.ReadFull(conn, cookie[:])
		_ = WriteState(conn, ParamExchange)
		_, _ = ReadFrame(conn, MaxParamsSize)
		for _, s := range states {
			_ = WriteState(conn, s)
		}
	}
}

func TestClientErrors(t *testing.T) {
	tests := []struct {
		name string
		addr func(t *testing.T) string
		c    Config
		want error
	}{
		{"nobody there", closedPort, Config{}, ErrRefused},
		{"silent", func(t *testing.T) string { return fake(t, untilClosed) }, Config{Timeout: 100 * time.Millisecond}, ErrPeerSilent},
		{"closes at once", func(t *testing.T) string { return fake(t, func(net.Conn) {}) }, Config{}, ErrPeerLost},
		{"busy", func(t *testing.T) string {
			return fake(t, func(c net.Conn) { _ = WriteState(c, AccessDenied); untilClosed(c) })
		}, Config{}, ErrBusy},
		{"dies before streams", func(t *testing.T) string { return fake(t, accepting()) }, Config{}, ErrPeerLost},
		{"terminates", func(t *testing.T) string { return fake(t, accepting(ServerTerminate)) }, Config{}, ErrPeerTerminated},
		{"dies in the data", func(t *testing.T) string { return dying(t) }, Config{Duration: time.Minute}, ErrPeerLost},
		{"dies in reverse", func(t *testing.T) string { return dying(t) }, Config{Duration: time.Minute, Reverse: true}, ErrPeerLost},
		{"UDP blocked", func(t *testing.T) string {
			return fake(t, func(c net.Conn) { accepting(CreateStreams)(c); untilClosed(c) })
		}, Config{Proto: UDP}, ErrUDPBlocked},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, err := (&Client{Addr: test.addr(t), Config: test.c}).Run(context.Background())
			if !errors.Is(err, test.want) {
				t.Fatalf("error is %v, want %v", err, test.want)
			}
			if r == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("report %v, error %q: want a report and one line", r, err)
			}
		})
	}
}

// dying is a server that closes everything once data has come or gone.
func dying(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		ctl, err := ln.Accept()
		if err != nil {
			return
		}
		defer ctl.Close()
		accepting(CreateStreams)(ctl)
		data, err := ln.Accept()
		if err != nil {
			return
		}
		defer data.Close()
		_ = WriteState(ctl, TestStart)
		_ = WriteState(ctl, TestRunning)
		_, _ = data.Write(make([]byte, 1000))
		_, _ = io.CopyN(io.Discard, data, CookieSize)
	}()
	return ln.Addr().String()
}

func TestServerError(t *testing.T) {
	addr := serve(t, Policy{MaxDuration: 5 * time.Second, MaxStreams: 2, MaxRate: 1000})
	for want, c := range map[int32]Config{
		codeDuration: {Duration: 10 * time.Second},
		codeStreams:  {Duration: time.Second, Parallel: 3},
		codeRate:     {Duration: time.Second, Proto: UDP, Reverse: true, Rate: 2000},
	} {
		refuses(t, addr, c, want)
	}
	refuses(t, addr, Config{Proto: UDP, Reverse: true, Search: true, Rate: 1000, Duration: shortestSearch}, codeRate) // its first rate is loadrate.Least
}

// refuses fails a test that the server does not refuse with a code.
func refuses(t *testing.T, addr string, c Config, want int32) {
	t.Helper()
	_, err := (&Client{Addr: addr, Config: c}).Run(t.Context())
	var e *PeerError
	if !errors.As(err, &e) || e.Code != want || !strings.Contains(err.Error(), errorText(want)) {
		t.Errorf("error is %v, want %q", err, errorText(want))
	}
}

func TestServerTurnsOthersAway(t *testing.T) {
	addr := serve(t, Policy{})
	release := occupy(t, addr)
	_, err := (&Client{Addr: addr, Config: Config{Bytes: 1}}).Run(context.Background())
	if !errors.Is(err, ErrBusy) {
		t.Errorf("error is %v, want ErrBusy", err)
	}
	release()
	run(t, addr, Config{Bytes: 1})
}

// occupy runs a test until release is called.
func occupy(t *testing.T, addr string) (release func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	done := make(chan struct{})
	eventually(t, func() error {
		running, failed := make(chan struct{}, 10_000), make(chan error, 1)
		c := Config{Duration: time.Minute, Rate: 1_000_000, Interval: 20 * time.Millisecond, OnInterval: func(IntervalReport) { running <- struct{}{} }}
		go func() {
			if _, err := (&Client{Addr: addr, Config: c}).Run(ctx); ctx.Err() == nil {
				failed <- err
				return
			}
			close(done)
		}()
		select {
		case err := <-failed:
			return starting(err)
		case <-running:
			return nil
		}
	})
	return func() { cancel(); <-done }
}

// starting turns what a stock server does while it gets ready for its next test into ErrBusy.
func starting(err error) error {
	if errors.Is(err, ErrRefused) || errors.Is(err, ErrPeerLost) {
		return errors.Join(ErrBusy, err)
	}
	return err
}

func TestServerSurvivesGarbage(t *testing.T) {
	addr := serve(t, Policy{Timeout: 200 * time.Millisecond})
	cookie, err := NewCookie(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, play := range map[string]func(net.Conn){
		"HTTP":        func(c net.Conn) { _, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") },
		"nothing":     func(c net.Conn) {},
		"cookie only": func(c net.Conn) { _, _ = c.Write(cookie[:]) },
		"huge frame":  func(c net.Conn) { _, _ = c.Write(append(cookie[:], 0xff, 0xff, 0xff, 0xff)) },
		"no JSON":     func(c net.Conn) { _, _ = c.Write(append(cookie[:], 0, 0, 0, 1, '{')) },
		"no streams":  func(c net.Conn) { _, _ = c.Write(append(cookie[:], 0, 0, 0, 2, '{', '}')) },
		"early end":   func(c net.Conn) { _, _ = c.Write(append(cookie[:], 0, 0, 0, 2, '{', '}', 4)) },
		"closes after JSON": func(c net.Conn) {
			_, _ = c.Write(append(cookie[:], 0, 0, 0, 2, '{', '}'))
			c.(*net.TCPConn).CloseWrite()
		},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			play(conn)
			conn.SetReadDeadline(time.Now().Add(5 * time.Second))
			if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("the server keeps the connection")
			}
			conn.Close()
			eventually(t, func() error {
				_, err := (&Client{Addr: addr, Config: Config{Bytes: 1000}}).Run(context.Background())
				return err
			})
		})
	}
}

// eventually repeats f while the server says it is busy: it may take a moment to notice that a client has gone.
func eventually(t *testing.T, f func() error) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for {
		err := f()
		if err == nil {
			return
		}
		if !errors.Is(err, ErrBusy) || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func TestVanishedClientFreesTheServer(t *testing.T) {
	addr := serve(t, Policy{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := &clientRun{config: Config{Duration: time.Minute, Reverse: true, Timeout: time.Second}.withDefaults(), report: &Report{}}
	if err := r.open(ctx, []netip.AddrPort{netip.MustParseAddrPort(addr)}); err != nil {
		t.Fatal(err)
	}
	ctl := r.ctl.conn
	if err := r.negotiate(); err != nil {
		t.Fatal(err)
	}
	if err := r.openStreams(ctx); err != nil {
		t.Fatal(err)
	}
	if err := r.ctl.expect(TestStart); err != nil {
		t.Fatal(err)
	}
	ctl.Close() // and not a word more, while the server's stream is blocked because nobody reads it
	began := time.Now()
	eventually(t, func() error {
		_, err := (&Client{Addr: addr, Config: Config{Bytes: 1000}}).Run(ctx)
		return err
	})
	if took := time.Since(began); took > time.Second {
		t.Errorf("the server was free after %v", took)
	}
	r.t.closeStreams()
}

func TestConfigErrors(t *testing.T) {
	for want, c := range map[string]Config{
		`protocol "sctp": must be tcp or udp`:                                       {Proto: "sctp"},
		`window -1: must be 1 to 536870912 bytes`:                                   {Window: -1},
		`rate -5: must be positive`:                                                 {Rate: -5},
		`parallel streams 500: must be 1 to 128`:                                    {Parallel: 500},
		`length 70000: must be 16 to 65507 bytes for UDP`:                           {Proto: UDP, Length: 70000},
		`reverse true: cannot be joined with bidir, which tests that direction too`: {Reverse: true, Bidir: true},
		`omit 1.5s: must be 0 to 60 whole seconds`:                                  {Omit: 1500 * time.Millisecond},
		`train small size 5: must be 16 to 100 bytes, the size of the others`:       {Proto: UDP, Train: &Train{Packets: 1, Trains: 1, Size: 100, Small: 5}},
		`train steps 1: must be at most 1000, of one size, and those of the train`:  {Proto: UDP, Train: &Train{Packets: 3, Trains: 1, Size: 100, Steps: []Step{{Packets: 2}}}},
		`train step {2 0 -1}: must be of one packet or more, with no times below 0`: {Proto: UDP, Train: &Train{Packets: 2, Trains: 1, Size: 100, Steps: []Step{{Packets: 2, Rest: -1}}}},
		`train size 5: must be 16 to 9000 bytes`:                                    {Proto: UDP, Train: &Train{Packets: 1, Trains: 1, Size: 5}},
		`cookie of 5 bytes: must be 36 printable ASCII characters`:                  {Cookie: "short"},
		`source given: works for one TCP stream from client to server`:              {Source: neverEnding{}, Reverse: true},
	} {
		_, err := (&Client{Addr: "127.0.0.1", Config: c}).Run(context.Background())
		var bad interface{ BadInput() bool }
		if !errors.As(err, &bad) || !bad.BadInput() || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	_, err := (&Client{Addr: closedPort(t), Config: Config{Congestion: "nosuch"}}).Run(context.Background())
	var bad interface{ BadInput() bool }
	if !errors.As(err, &bad) || !strings.Contains(err.Error(), "cubic") {
		t.Errorf("unknown congestion control: %v, want a list of what there is", err)
	}
	for _, addr := range []string{"", ":5201", "host:0", "host:99999", "host:x"} {
		if _, err := hostPort(addr); err == nil {
			t.Errorf("address %q accepted", addr)
		}
	}
	for in, want := range map[string]string{"host": "host:5201", "::1": "[::1]:5201", "[::1]": "[::1]:5201", "[::1]:7": "[::1]:7"} {
		if got, err := hostPort(in); got != want || err != nil {
			t.Errorf("address %q became %q, %v", in, got, err)
		}
	}
}
