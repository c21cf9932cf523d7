package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

const meshText = `
hosts: {a: 10.0.0.1, b: 10.0.0.2, gone: 10.0.0.3, strict: 10.0.0.4}
tools: {rtt: {probe: ping, parameters: {count: 2, interval: 200ms}}}
groups: {all: {mesh: [a, b]}}
tests: [{tool: rtt, group: all, schedule: {every: 1h}}]
controller:
  callers:
    classes:
      staff:  {tools: [rtt, trace], parallel: 1}
      little: {daily_bytes: 1}
    assign: [{class: staff, token: alice, network: 127.0.0.0/8}, {class: little, token: carol}]
`

// The listeners that `pathwise serve` opens.
var (
	owner  = Listener{Owner: true}
	public = Listener{Secure: true, Public: anybody}
)

func anybody() bool { return true }

// hub is a Hub whose hosts do what they are ordered to, as soon as held is closed; but for gone, which is away, and strict,
// whose owner lets nobody in.
type hub struct {
	held     chan struct{}
	canceled chan string                         // IDs of runs that were called back
	adds     func(*measure.Run, *measure.Result) // to what was measured; nil: nothing
	mu       sync.Mutex
	shown    map[string]chan fleet.Progress
}

func (h *hub) Serve(ctx context.Context, _ fleet.Receiver) error { <-ctx.Done(); return ctx.Err() }
func (h *hub) Plan(context.Context, fleet.Plan) error            { return nil }

func (h *hub) of(run string) chan fleet.Progress {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.shown[run] == nil {
		h.shown[run] = make(chan fleet.Progress, 2)
	}
	return h.shown[run]
}

func (h *hub) Order(ctx context.Context, host string, o fleet.Order) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case o.Cancel != "":
		select {
		case h.canceled <- o.Cancel:
		default: // nobody counts them
		}
		return nil
	case host == "gone":
		return fleet.ErrAway
	case host == "strict":
		return &fleet.Refusal{Host: host, Why: "class everyone: kinds: none, so not ping"}
	case o.Run == nil:
		return nil
	}
	run := *o.Run
	h.of(run.ID) <- fleet.Progress{Run: run.ID, Line: "begun"}
	go func() {
		<-h.held
		result := resultOf(run.ID, run.Start)
		if h.adds != nil {
			h.adds(&run, result)
		}
		h.of(run.ID) <- fleet.Progress{Run: run.ID, Result: result}
	}()
	return nil
}

func (h *hub) Watch(ctx context.Context, _, run string, ready chan<- struct{}, each func(fleet.Progress)) error {
	close(ready)
	for {
		select {
		case p := <-h.of(run):
			if each(p); p.Result != nil {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func resultOf(id string, at time.Time) *measure.Result {
	r := measure.NewResult("ping", at)
	r.ID, r.Source.Name, r.Target.Name, r.Tool, r.Test = id, "a", "b", "rtt", "rtt@all"
	r.Metrics[measure.RTTMin], r.Metrics[measure.RTTMedian] = 0.01, 0.0125
	return r
}

// bench is a Server before a Control that runs.
type bench struct {
	*Server
	t      *testing.T
	hub    *hub
	folder string
	said   *logged
	url    string // of what serve opened last
}

// logged is a log, which may go on while it is read.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newBench(t *testing.T) *bench {
	t.Helper()
	return newBenchOf(t, meshText)
}

// newBenchOf is one of another mesh.
func newBenchOf(t *testing.T, meshText string) *bench {
	t.Helper()
	folder := t.TempDir()
	store, err := archive.Open(t.Context(), filepath.Join(folder, "archive"), archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	file := filepath.Join(folder, "mesh.yaml")
	if err := os.WriteFile(file, []byte(meshText), 0o600); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, folder: folder, said: &logged{}, hub: &hub{
		held: make(chan struct{}), canceled: make(chan string, 10), shown: map[string]chan fleet.Progress{}}}
	log := slog.New(slog.NewTextHandler(b.said, nil))
	c, err := control.New(control.Config{Mesh: file, Data: folder, Hub: b.hub, Archive: store, Log: log,
		NameOf: func(_ context.Context, address string) string { return routerNames[address] }})
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := account.Open(folder, account.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := accounts.Close(); err != nil {
			t.Error(err)
		}
	})
	b.Server = &Server{Control: c, Archive: store, Accounts: accounts, Version: "v1", Log: log, Metrics: http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "pathwise_hosts 4\n") })}
	return b
}

// run lets the Control run until the test ends, and returns when its plan is made.
func (b *bench) run() {
	b.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.Control.Run(ctx) }()
	b.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			b.t.Error(err)
		}
	})
	b.eventually("there is a plan", func() bool { return b.Control.Overview().Plan > 0 })
}

func (b *bench) eventually(what string, holds func() bool) {
	b.t.Helper()
	for late := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(late) {
			b.t.Fatalf("not within half a minute: %s", what)
		}
	}
}

// serve listens until the test ends, and says how to end that before, which returns when it has ended.
func (b *bench) serve(h http.Handler) (closed func() error) {
	b.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.t.Fatal(err)
	}
	return b.serveOn(l, "http", h)
}

func (b *bench) serveOn(l net.Listener, scheme string, h http.Handler) (closed func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- public.Serve(ctx, l, h, b.Log) }()
	closed = sync.OnceValue(func() error { cancel(); return <-ended })
	b.t.Cleanup(func() {
		if err := closed(); err != nil {
			b.t.Error(err)
		}
	})
	b.url = scheme + "://" + l.Addr().String()
	return closed
}

// ask makes a call and returns the whole answer.
func (b *bench) ask(method, path, body string, headers ...string) (status int, text string, header http.Header) {
	b.t.Helper()
	answer := b.call(b.t.Context(), method, path, body, headers...)
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer.StatusCode, string(all), answer.Header
}

func (b *bench) call(ctx context.Context, method, path, body string, headers ...string) *http.Response {
	b.t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, b.url+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer
}

// expect checks the status of an answer, and that an error is one JSON document of one line.
func (b *bench) expect(method, path, body string, want int, has string, headers ...string) {
	b.t.Helper()
	status, text, header := b.ask(method, path, body, headers...)
	if status != want || !strings.Contains(text, has) {
		b.t.Errorf("%s %s: %d %s; want %d with %s", method, path, status, text, want, has)
	}
	var p huma.ErrorModel
	if strings.Contains(header.Get("Content-Type"), "json") && status >= 400 {
		if err := json.Unmarshal([]byte(text), &p); err != nil || p.Detail == "" || strings.Contains(p.Detail, "\n") {
			b.t.Errorf("%s %s: %q is no error of one line: %v", method, path, text, err)
		}
	}
}

var errMissing = errors.New("missing")
