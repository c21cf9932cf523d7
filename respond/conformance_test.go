package respond

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	secret      = "abcdefghijklmnopqrstuvwxyz0123456789"
	otherSecret = "9876543210zyxwvutsrqponmlkjihgfedcba"
	// enough for anything here, on a machine that does much else.
	patience = 20 * time.Second
	// long is a test that is not meant to come to its end.
	long = 10 * time.Second
)

var (
	loopback  = netip.MustParseAddr("127.0.0.1")
	elsewhere = netip.MustParseAddr("127.0.0.2")
)

// opened is a responder under test, and what came of its tests.
type opened struct {
	*Opened
	kind   Kind
	client client
	tests  chan Tested
	cancel context.CancelFunc
	ended  chan error
	log    *record
}

// record is a log for several goroutines.
type record struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) { r.mu.Lock(); defer r.mu.Unlock(); return r.b.Write(p) }
func (r *record) String() string              { r.mu.Lock(); defer r.mu.Unlock(); return r.b.String() }

// forRun opens a kind for a run on a free port, and serves it.
func forRun(t *testing.T, kind Kind, r Run) *opened {
	t.Helper()
	tests := make(chan Tested, 10)
	r.OnTest = func(t Tested) { tests <- t }
	if r.Secret == "" {
		r.Secret = secret
	}
	return served(t, kind, tests, func(ctx context.Context, log *slog.Logger) (*Opened, error) {
		return kind.OpenForRun(ctx, "127.0.0.1:0", r, log)
	})
}

func served(t *testing.T, kind Kind, tests chan Tested, open func(context.Context, *slog.Logger) (*Opened, error)) *opened {
	t.Helper()
	before := runtime.NumGoroutine()
	o := &opened{kind: kind, client: clients[kind.Name], tests: tests, ended: make(chan error, 1), log: &record{}}
	var ctx context.Context
	ctx, o.cancel = context.WithCancel(t.Context())
	t.Cleanup(o.cancel)
	var err error
	if o.Opened, err = open(ctx, slog.New(slog.NewTextHandler(o.log, &slog.HandlerOptions{Level: slog.LevelDebug}))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.leavesNothing(t, before) })
	go func() { o.ended <- o.Serve(ctx) }()
	return o
}

// leavesNothing closes a responder, if it is not closed, and looks for what it left.
func (o *opened) leavesNothing(t *testing.T, goroutines int) {
	o.cancel()
	o.closes(t)
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > goroutines; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), goroutines, stacks[:runtime.Stack(stacks, true)])
		}
	}
	again, err := o.kind.Open(context.Background(), o.Addr.String(), Limits{}, nil)
	if err != nil {
		t.Fatalf("its port is not free: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	if strings.Contains(o.log.String(), secret) {
		t.Errorf("the secret is in its log:\n%s", o.log)
	}
}

// closes waits until Serve returned, without an error.
func (o *opened) closes(t *testing.T) {
	t.Helper()
	select {
	case err := <-o.ended:
		if err != nil {
			t.Errorf("Serve: %v", err)
		}
		o.ended <- nil // for whoever asks again
	case <-time.After(patience):
		t.Fatal("it does not close")
	}
}

// test makes a test of a length with a secret, and says whether it is to come to its end.
func (o *opened) test(t *testing.T, secret string, d time.Duration, admitted bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := o.client.test(ctx, o.Addr.String(), secret, d, nil); (err == nil) != admitted || ctx.Err() != nil {
		t.Errorf("test of %v: %v; want admitted: %v", d, err, admitted)
	}
}

// came waits for what the responder tells of a test: that it went to its end, or did not.
func (o *opened) came(t *testing.T, toItsEnd bool) {
	t.Helper()
	select {
	case got := <-o.tests:
		if got.Client.Addr() != loopback || (got.Err == nil) != toItsEnd || toItsEnd && got.Bytes == 0 {
			t.Errorf("told of %+v, want bytes from %v, to its end: %v", got, loopback, toItsEnd)
		}
	case <-time.After(patience):
		t.Fatal("it does not tell of the test")
	}
}

// begin begins a long test, and returns when it runs. failed yields how it ended.
func (o *opened) begin(t *testing.T, secret string) (failed <-chan error) {
	t.Helper()
	begun, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- o.client.test(t.Context(), o.Addr.String(), secret, long, sync.OnceFunc(func() { close(begun) }))
	}()
	select {
	case <-begun:
	case err := <-ended:
		t.Fatalf("the test does not begin: %v", err)
	}
	return ended
}

// conformance is what every kind does that listens.
var conformance = map[string]func(*testing.T, Kind){
	"admits the secret alone, once": func(t *testing.T, kind Kind) {
		o := forRun(t, kind, Run{Peer: loopback})
		o.test(t, otherSecret, 0, false)
		o.test(t, "", 0, false)
		if len(o.tests) > 0 {
			t.Errorf("a test was let in: %+v", <-o.tests)
		}
		o.test(t, secret, 0, true)
		o.came(t, true)
		o.closes(t)
		o.test(t, secret, 0, false)
	},
	"admits its peer alone": func(t *testing.T, kind Kind) {
		o := forRun(t, kind, Run{Peer: elsewhere})
		o.test(t, secret, 0, false)
		if len(o.tests) > 0 || len(o.ended) > 0 {
			t.Error("a test from elsewhere was let in, or closed it")
		}
	},
	"closes after so many tests": func(t *testing.T, kind Kind) {
		o := forRun(t, kind, Run{Tests: 2})
		o.test(t, secret, 0, true)
		o.came(t, true)
		o.test(t, secret, 0, true)
		o.came(t, true)
		o.closes(t)
	},
	"closes when its time is over": func(t *testing.T, kind Kind) {
		until := time.Now().Add(300 * time.Millisecond)
		o := forRun(t, kind, Run{Until: until})
		o.closes(t)
		if early := time.Until(until); early > 0 {
			t.Errorf("%v before its time", early)
		}
	},
	"ends a test when its time is over": func(t *testing.T, kind Kind) {
		o := forRun(t, kind, Run{Until: time.Now().Add(2 * time.Second)})
		failed := o.begin(t, secret)
		o.closes(t)
		if err := <-failed; err == nil {
			t.Error("the test went to its end")
		}
		o.came(t, false)
	},
	"ends a test when it is closed": func(t *testing.T, kind Kind) {
		o := forRun(t, kind, Run{})
		failed := o.begin(t, secret)
		o.cancel()
		o.closes(t)
		if err := <-failed; err == nil {
			t.Error("the test went to its end")
		}
		o.came(t, false)
	},
	"outlives a peer that is lost": func(t *testing.T, kind Kind) {
		o := forRun(t, kind, Run{Peer: loopback})
		o.client.vanish(t, o.Addr.String(), secret)
		o.came(t, false)
		o.test(t, secret, 0, true)
		o.came(t, true)
		o.closes(t)
	},
	"refuses or ends a test that is too long": func(t *testing.T, kind Kind) {
		o := forRun(t, kind, Run{Longest: time.Second})
		o.test(t, secret, long, false)
		if kind.Untold {
			o.came(t, false)
		} else if len(o.tests) > 0 {
			t.Errorf("a test was let in: %+v", <-o.tests)
		}
		o.test(t, secret, 0, true)
		all := served(t, kind, nil, func(ctx context.Context, log *slog.Logger) (*Opened, error) {
			return kind.Open(ctx, "127.0.0.1:0", Limits{Longest: time.Second}, log)
		})
		all.test(t, "", long, false)
		all.test(t, "", 0, true)
	},
	"answers everybody, within limits": func(t *testing.T, kind Kind) {
		o := served(t, kind, nil, func(ctx context.Context, log *slog.Logger) (*Opened, error) {
			return kind.Open(ctx, "127.0.0.1:0", Limits{Tests: 2}, log)
		})
		o.test(t, "", 0, true)
		o.test(t, otherSecret, 0, true)
		one, two := o.begin(t, ""), o.begin(t, "")
		o.test(t, "", 0, false)
		o.cancel()
		if <-one == nil || <-two == nil {
			t.Error("a test went to its end")
		}
	},
	"is closed without being served": func(t *testing.T, kind Kind) {
		o, err := kind.OpenForRun(t.Context(), "127.0.0.1:0", Run{Secret: secret}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
		again, err := kind.Open(t.Context(), o.Addr.String(), Limits{}, nil)
		if err != nil {
			t.Fatalf("its port is not free: %v", err)
		}
		again.Close()
	},
	"is not opened without a secret, or where another program is": func(t *testing.T, kind Kind) {
		if o, err := kind.OpenForRun(t.Context(), "127.0.0.1:0", Run{}, nil); err == nil {
			o.Close()
			t.Error("opened for a run without a secret, which is for everybody")
		}
		o := forRun(t, kind, Run{})
		if again, err := kind.OpenForRun(t.Context(), o.Addr.String(), Run{Secret: secret}, nil); err == nil {
			again.Close()
			t.Error("opened twice at one port")
		} else if _, port, _ := net.SplitHostPort(o.Addr.String()); !strings.Contains(err.Error(), port) {
			t.Errorf("%v: does not name the port", err)
		}
	},
}

// reflecting is what every kind does that answers packets one by one.
var reflecting = map[string]func(*testing.T, Kind){
	"answers everybody, as long as it is open": func(t *testing.T, kind Kind) {
		o := served(t, kind, nil, func(ctx context.Context, log *slog.Logger) (*Opened, error) {
			return kind.Open(ctx, "127.0.0.1:0", Limits{}, log)
		})
		if !answered(t, o.Addr, loopback) || !answered(t, o.Addr, elsewhere) {
			t.Error("it does not answer")
		}
	},
	"answers its peer alone": func(t *testing.T, kind Kind) {
		o := forRun(t, kind, Run{Peer: elsewhere})
		if answered(t, o.Addr, loopback) || !answered(t, o.Addr, elsewhere) {
			t.Error("it answers another host, or not its peer")
		}
	},
	"answers by the secret alone where it is sealed": func(t *testing.T, kind Kind) {
		if o, err := kind.OpenForRun(t.Context(), "127.0.0.1:0", Run{Sealed: true}, nil); err == nil {
			o.Close()
			t.Error("opened for a run without a secret")
		}
		if o := forRun(t, kind, Run{Sealed: true}); answered(t, o.Addr, loopback) {
			t.Error("it answers who has no secret")
		}
	},
	"closes when its time is over":   conformance["closes when its time is over"],
	"is closed without being served": conformance["is closed without being served"],
	"is not opened where another program is": func(t *testing.T, kind Kind) {
		o := forRun(t, kind, Run{})
		again, err := kind.OpenForRun(t.Context(), o.Addr.String(), Run{}, nil)
		if err == nil {
			again.Close()
			t.Error("opened twice at one port")
		} else if _, port, _ := net.SplitHostPort(o.Addr.String()); !strings.Contains(err.Error(), port) {
			t.Errorf("%v: does not name the port", err)
		}
	},
}

// answered reports whether a packet from an address is answered.
func answered(t *testing.T, to net.Addr, from netip.Addr) bool {
	t.Helper()
	conn, err := net.DialUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(from, 0)), to.(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(time.Second)) // of a socket that is open
	n, err := conn.Read(make([]byte, 200))
	return err == nil && n == 100
}

// TestConformance holds every kind that listens to what whoever opens it goes by. Each case ends with no goroutine left and the port
// free, which it looks for alone: no case runs beside another.
func TestConformance(t *testing.T) {
	for _, name := range Listening() {
		kind, _ := KindOf(name)
		if kind.Reflects {
			for what, check := range reflecting {
				t.Run(name+" "+what, func(t *testing.T) { check(t, kind) })
			}
			continue
		}
		if clients[name].test == nil || clients[name].vanish == nil {
			t.Errorf("%s: has no client in this test", name)
			continue
		}
		for what, check := range conformance {
			t.Run(name+" "+what, func(t *testing.T) { check(t, kind) })
		}
	}
}
