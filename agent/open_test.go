package agent

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/agent/policy"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

const secret = "abcdefghijklmnopqrstuvwxyz0123456789"

// freePort is one that nobody has now.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func opening(n, port int) fleet.Opening {
	return fleet.Opening{Run: id(n), Source: "b", Peer: "127.0.0.1", From: time.Now(), Until: time.Now().Add(time.Minute),
		Responder: measure.Responder{Kind: measure.ResponderIperf3, Port: port, Secret: secret}}
}

func test(t *testing.T, port int, config iperf3.Config) error {
	t.Helper()
	config.Bytes = 100_000
	_, err := (&iperf3.Client{Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Config: config}).Run(t.Context())
	return err
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

func listening(port int) bool {
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err == nil {
		conn.Close()
	}
	return err == nil
}

// TestOpening opens a listener for one test: only the secret from the right address opens it, once.
func TestOpening(t *testing.T) {
	t.Parallel()
	var log safeBuffer
	a := run(t, Config{Dir: t.TempDir(), Listen: "127.0.0.1", Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	port := freePort(t)
	o := opening(1, port)
	for range 2 { // the same order again does nothing
		if err := a.Order(t.Context(), fleet.Order{Open: &o}); err != nil {
			t.Fatal(err)
		}
	}
	if got := a.status().Open; len(got) != 1 || got[0] != id(1) {
		t.Errorf("status tells of %v, want %v", got, id(1))
	}
	if err := test(t, port, iperf3.Config{}); !errors.Is(err, iperf3.ErrBusy) {
		t.Errorf("without the secret: %v, want ErrBusy", err)
	}
	if err := test(t, port, iperf3.Config{Cookie: secret}); err != nil {
		t.Errorf("with the secret: %v", err)
	}
	eventually(t, "closed after the test", func() bool { return len(a.status().Open) == 0 && !listening(port) })
	if err := a.Order(t.Context(), fleet.Order{Open: &o}); err == nil {
		t.Error("it could be opened again")
	}
	elsewhere := opening(2, port)
	elsewhere.Peer = "127.0.0.2"
	if err := a.Order(t.Context(), fleet.Order{Open: &elsewhere}); err != nil {
		t.Fatal(err)
	}
	if err := test(t, port, iperf3.Config{Cookie: secret}); !errors.Is(err, iperf3.ErrPeerLost) {
		t.Errorf("with the secret from elsewhere: %v, want ErrPeerLost: closed before anything is read", err)
	}
	if a.dailyBytes.Used(bytesOfDay)["default"] < 100_000 {
		t.Errorf("its bytes are not counted: %v", a.dailyBytes.Used(bytesOfDay))
	}
	if strings.Contains(log.String(), secret) {
		t.Errorf("the secret is in the log:\n%s", log.String())
	}
}

// What measures with a reflector that an agent opened for a run authenticates its packets where both were told to.
func TestOpeningReflector(t *testing.T) {
	t.Parallel()
	far := run(t, Config{Dir: t.TempDir(), Listen: "127.0.0.1"})
	for sealed, mode := range map[bool]string{true: "A", false: "O"} {
		port := freePort(t)
		o := opening(port, port)
		o.Responder.Kind, o.Responder.Sealed = measure.ResponderSTAMP, sealed
		if err := far.Order(t.Context(), fleet.Order{Open: &o}); err != nil {
			t.Fatal(err)
		}
		p, err := probe.New(measure.Task{Kind: "owd", Target: "127.0.0.1", Parameters: map[string]any{"count": 5., "interval": 0.001, "timeout": 0.5}},
			probe.Options{Responder: &o.Responder})
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Do(t.Context())
		if received := r.Metrics[measure.ReceivedPackets]; err != nil || received < 1 || received != r.Metrics[measure.SentPackets] || r.Parameters["mode"] != mode {
			t.Errorf("sealed %v: %v received in mode %v, %v", sealed, received, r.Parameters["mode"], err)
		}
	}
}

func TestOpeningCloses(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]struct {
		change func(*fleet.Opening)
		act    func(*testing.T, *running)
	}{
		"by its time":  {func(o *fleet.Opening) { o.Until = time.Now().Add(time.Second) }, func(*testing.T, *running) {}},
		"by an order":  {func(*fleet.Opening) {}, func(t *testing.T, a *running) { cancel(a) }},
		"by the agent": {func(*fleet.Opening) {}, func(t *testing.T, a *running) { a.stop() }},
	} {
		t.Run(name, func(t *testing.T) {
			a := run(t, Config{Dir: t.TempDir(), Listen: "127.0.0.1"})
			port := freePort(t)
			o := opening(1, port)
			act.change(&o)
			if err := a.Plan(t.Context(), fleet.Plan{Host: host, Number: 1, Opens: []fleet.Opening{o}}); err != nil {
				t.Fatal(err)
			}
			eventually(t, "open", func() bool { return listening(port) || !time.Now().Before(o.Until) })
			act.act(t, a)
			eventually(t, "closed", func() bool { return !listening(port) })
		})
	}
}

func TestOpeningFails(t *testing.T) {
	t.Parallel()
	closed, err := policy.Parse("agent.yaml", []byte("classes: {a: {opens: []}, c: {}}\nassign: [{class: a, hosts: b}]\ndefault: c"))
	if err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	a := run(t, Config{Dir: t.TempDir(), Listen: "127.0.0.1", Policy: closed})
	for want, change := range map[string]func(*fleet.Opening){
		"refused by the policy of this host: class a: opens: none, so not iperf3": func(*fleet.Opening) {},
		"another program is there":                                 func(o *fleet.Opening) { o.Source = "x" },
		"ports: 1024-65535 may be opened, not 80":                  func(o *fleet.Opening) { o.Responder.Port = 80 },
		"cookie of 5 bytes: must be 36 printable ASCII characters": func(o *fleet.Opening) { o.Responder.Secret = "short" },
		`peer "nowhere": want an address`:                          func(o *fleet.Opening) { o.Peer = "nowhere" },
	} {
		o := opening(1, port)
		change(&o)
		if err := a.Order(t.Context(), fleet.Order{Open: &o}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	// Of a plan, it is the status that says so; a port that becomes free is taken while there is time.
	o, p := opening(2, port), opening(3, port)
	p.Source = "x"
	if err := a.Plan(t.Context(), fleet.Plan{Host: host, Number: 1, Opens: []fleet.Opening{o, p}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the refusal in the status", func() bool {
		for _, lack := range a.status().Lacks {
			if lack.What == "opening for run "+id(2) && strings.Contains(lack.Why, "opens: none") {
				return true
			}
		}
		return false
	})
	taken.Close()
	eventually(t, "open after the port was free", func() bool { return len(a.status().Open) == 1 })
}

// TestOpeningWaits orders an opening whose port another program has for a moment yet.
func TestOpeningWaits(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a := run(t, Config{Dir: t.TempDir(), Listen: "127.0.0.1"})
	o := opening(1, taken.Addr().(*net.TCPAddr).Port)
	time.AfterFunc(openAgain/2, func() { taken.Close() })
	if err := a.Order(t.Context(), fleet.Order{Open: &o}); err != nil {
		t.Error(err)
	}
}

// TestNothingIsLeft ends an agent while it runs a program and holds a port open: within a second neither is left, and both
// have their Result.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	allowed, err := policy.Parse("agent.yaml", []byte("classes: {a: {programs: [/bin/sh, /usr/bin/sh]}}\ndefault: a"))
	if err != nil {
		t.Fatal(err)
	}
	a := run(t, Config{Dir: t.TempDir(), Listen: "127.0.0.1", Policy: allowed})
	port := freePort(t)
	o := opening(1, port)
	if err := a.Order(t.Context(), fleet.Order{Open: &o}); err != nil {
		t.Fatal(err)
	}
	pidFile := programsFolder(t) + "/pid"
	r := newRun(2, time.Now())
	r.Task = measure.Task{Kind: "command", Target: "127.0.0.1",
		Parameters: map[string]any{"argv": []string{"sh", "-c", "echo $$ >" + pidFile + "; sleep 1000 & wait"}}}
	if err := a.Order(t.Context(), fleet.Order{Run: &r}); err != nil {
		t.Fatal(err)
	}
	var pid int
	eventually(t, "the program runs", func() bool {
		text, _ := os.ReadFile(pidFile)
		pid, err = strconv.Atoi(string(bytes.TrimSpace(text)))
		return err == nil
	})
	a.stop()
	if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); err == nil || listening(port) {
		t.Errorf("program left: %v, listener left: %v", err == nil, listening(port))
	}
	a.link.ready = make(chan struct{})
	b := run(t, Config{Dir: a.config.Dir, Link: a.link})
	eventually(t, "its Result", func() bool { return b.link.outcome(2) == errStopped.Error() })

	r.ID = id(3)
	if err := b.Order(t.Context(), fleet.Order{Run: &r}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the refusal", func() bool { return strings.Contains(b.link.outcome(3), "no external programs") })
}

// programsFolder is one that an agent's programs may write, whoever they are.
func programsFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pathwise-programs-")
	if err == nil {
		err = os.Chmod(dir, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// safeBuffer is a buffer for several goroutines.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}
func (s *safeBuffer) String() string { s.mu.Lock(); defer s.mu.Unlock(); return s.b.String() }
