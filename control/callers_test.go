package control

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// doer is a Hub whose hosts do at once what they are ordered to: each run moves 1 MB. While hold is locked they wait.
type doer struct {
	*messaging
	hold  sync.Mutex
	away  bool
	began chan measure.Run // nil: nobody is told
	each  sync.Map         // what Watch calls, by ID of the run
}

func (d *doer) Order(ctx context.Context, host string, o fleet.Order) error {
	if d.away {
		return fleet.ErrAway
	}
	if o.Run == nil {
		return nil
	}
	run := *o.Run
	if d.began != nil {
		d.began <- run
	}
	each, _ := d.each.Load(run.ID)
	go func() {
		d.hold.Lock()
		defer d.hold.Unlock()
		r := measure.NewResult(run.Task.Kind, run.Start)
		r.ID, r.Source.Name, r.Target.Name, r.Tool = run.ID, run.Source, run.Target, run.Tool
		r.Metrics[measure.SentBytes], r.Metrics[measure.ReceivedBytes] = 1e6, 1e6-1
		each.(chan fleet.Progress) <- fleet.Progress{Run: run.ID, Result: r}
	}()
	return nil
}

func (d *doer) Watch(ctx context.Context, _, run string, ready chan<- struct{}, each func(fleet.Progress)) error {
	shown := make(chan fleet.Progress, 1)
	d.each.Store(run, shown)
	close(ready)
	select {
	case p := <-shown:
		each(p)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const callersOf = `
controller:
  horizon: 30m
  callers:
    classes:
      all:  {daily_bytes: 70MB}
      slow: {parent: all, tools: [bulk, rtt], rate: 20mbit, duration: 10s}
      one:  {parent: all, parallel: 1}
    assign: [{class: slow, token: alice}, {class: one, network: 192.0.2.0/24}]
`

// newCallersBench is a bench with callers, with its plan made and its log at hand.
func newCallersBench(t *testing.T) (*bench, *doer, *bytes.Buffer) {
	t.Helper()
	b := newBench(t, threeHosts+strings.Replace(someTests, "controller: {horizon: 30m}\n", callersOf, 1))
	said := &bytes.Buffer{}
	hub := &doer{messaging: b.messaging}
	b.config.Hub, b.config.Log = hub, slog.New(slog.NewTextHandler(&locked{w: said}, nil))
	b.plan()
	return b, hub, said
}

type locked struct {
	mu sync.Mutex
	w  *bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func caller(token, address string) *Caller {
	return &Caller{Token: token, Address: netip.MustParseAddr(address)}
}

// bulk is a test of two seconds at a rate in Mbit/s, which is 250 kB for each.
func bulk(who *Caller, rate int) Request {
	return Request{Source: "a", Target: "b", Tool: "bulk", Caller: who, Patience: time.Hour,
		Parameters: map[string]any{"rate": fmt.Sprintf("%dmbit", rate), "proto": "udp"}}
}

// A caller gets what the class allows, and a Denial that says what would be allowed.
func TestCallersLimits(t *testing.T) {
	b, _, said := newCallersBench(t)
	alice, inside, nobody := caller("alice", "203.0.113.1"), caller("bob", "192.0.2.7"), caller("bob", "203.0.113.1")
	for _, c := range []struct {
		request Request
		want    string
		later   bool
	}{
		{bulk(nobody, 1), `caller: "bob from 203.0.113.1": want one to whom controller.callers`, false},
		{bulk(alice, 100), `class slow: rate: "105 Mbit/s": want at most 20.0 Mbit/s`, false},
		{Request{Source: "a", Target: "b", Tool: "bulk", Caller: alice}, `class slow: rate: "as fast as the path carries"`, false},
		{Request{Source: "a", Target: "b", Tool: "trace", Caller: alice}, `class slow: tools: "trace": want one of bulk, rtt`, false},
		{bulk(inside, 1000), `class all: daily_bytes: "261 MB": want at most 70.0 MB`, true},
	} {
		err := b.Test(t.Context(), c.request)
		var denial *Denial
		if !errors.As(err, &denial) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || denial.Later != c.later {
			t.Errorf("%+v: %v, want %s", c.request, err, c.want)
		}
	}
	if n := strings.Count(said.String(), "test denied"); n != 5 || strings.Count(said.String(), "\n") != n {
		t.Errorf("%d lines of denials, want 5:\n%s", n, said)
	}
	said.Reset()
	owner := bulk(nil, 1000)
	begin := b.now
	owner.Placed = func(_ string, at time.Time) { begin = at }
	b.now = begin
	if err := testNow(b, owner); err != nil {
		t.Errorf("the owner: %v", err)
	}
	if said.Len() > 0 {
		t.Errorf("the owner's tests are logged: %s", said)
	}
	if err := testNow(b, bulk(alice, 10)); err != nil {
		t.Errorf("alice: %v", err)
	}
	for _, want := range []string{"test accepted", "caller=alice", "from=203.0.113.1", "class=slow", "run=", "tool=bulk"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("no %s in: %s", want, said)
		}
	}
}

// testNow makes a test, with the clock where it begins: nobody waits.
func testNow(b *bench, r Request) error {
	r.Placed = func(_ string, begins time.Time) { b.now = begins }
	return b.Test(b.t.Context(), r)
}

// The day's bytes are those of Results, count for the parents, too, and outlive the controller; the next day has its own.
func TestCallersBytes(t *testing.T) {
	b, hub, _ := newCallersBench(t)
	alice, inside := caller("alice", "203.0.113.1"), caller("bob", "192.0.2.7")
	for range 2 {
		if err := testNow(b, bulk(alice, 10)); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(class string, want float64) {
		t.Helper()
		if got := b.callers.bytes.Of(callersBytes, class); got != want {
			t.Errorf("%s took %g bytes, want %g", class, got, want)
		}
	}
	expect("slow", 2e6)
	expect("all", 2e6)
	hub.away = true
	if err := testNow(b, bulk(alice, 10)); !errors.Is(err, fleet.ErrAway) {
		t.Errorf("a host that is away: %v", err)
	}
	expect("all", 2e6)
	hub.away = false
	b.restart()
	b.config.Hub = hub
	b.plan()
	expect("all", 2e6)
	if info, err := os.Stat(filepath.Join(b.folder, callersFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v, %v", callersFile, info, err)
	}
	b.callers.bytes.Add(b.callers.bytes.Day(b.now.UTC()), callersBytes, []string{"all"}, 68e6)
	if err := testNow(b, bulk(inside, 10)); err == nil || !strings.Contains(err.Error(), "of which 70.0 MB are taken") {
		t.Errorf("beyond the day's bytes: %v", err)
	}
	b.now = b.now.Add(24 * time.Hour)
	b.plan()
	if err := testNow(b, bulk(inside, 10)); err != nil {
		t.Errorf("on the next day: %v", err)
	}
	expect("all", 1e6)
	expect("slow", 0)
}

// A test counts from when it is asked for until it is over, however it ends.
func TestCallersParallel(t *testing.T) {
	b, hub, _ := newCallersBench(t)
	hub.began = make(chan measure.Run, 1)
	hub.hold.Lock()
	inside := caller("bob", "192.0.2.7")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	over := make(chan error, 1)
	rtt := Request{Source: "a", Target: "b", Tool: "rtt", Caller: inside}
	go func() { over <- b.Test(ctx, rtt) }()
	<-hub.began
	err := b.Test(t.Context(), rtt)
	var denial *Denial
	if !errors.As(err, &denial) || !denial.Later || denial.Error() != `class one: parallel: "2": want at most 1 at a time` {
		t.Errorf("a second at a time: %v", err)
	}
	cancel()
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Errorf("called back: %v", err)
	}
	hub.hold.Unlock()
	if err := b.Test(t.Context(), rtt); err != nil {
		t.Errorf("after the first: %v", err)
	}
}

// Without callers in the mesh file only the owner may start tests.
func TestNoCallers(t *testing.T) {
	b := newBench(t, threeHosts+someTests)
	b.plan()
	err := b.Test(t.Context(), Request{Source: "a", Target: "b", Tool: "rtt", Caller: caller("alice", "127.0.0.1")})
	var denial *Denial
	if !errors.As(err, &denial) || denial.Later || !strings.HasPrefix(err.Error(), "controller.callers: want classes") {
		t.Errorf("got %v", err)
	}
}

// Tests on demand, new plans, changes of the mesh file and those who look on do not disturb each other.
func TestAllAtOnce(t *testing.T) {
	b, _, _ := newCallersBench(t)
	alice := caller("alice", "203.0.113.1")
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 10 {
				err := b.Test(t.Context(), Request{Source: "a", Target: "b", Tool: "rtt", Caller: alice})
				if err != nil && !errors.Is(err, ErrNotReady) { // the mesh was replaced in between
					t.Error(err)
				}
				b.Overview()
				b.Hosts()
			}
		})
	}
	text, err := os.ReadFile(filepath.Join(b.folder, "mesh.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		b.write(fmt.Sprintf("%s\n# %d\n", text, i))
		if err := b.reread(); err != nil {
			t.Error(err)
		}
		b.plan()
		receiver{b.Control}.Heard(fleet.Status{Host: "a", Lacks: make([]fleet.MissingCapability, i)})
	}
	group.Wait()
	b.plan()
	b.expectWhole()
	if o := b.Overview(); o.OnDemand != 0 || b.callers.tests["slow"] != 0 || b.callers.tests["all"] != 0 {
		t.Errorf("not over: %+v, %v", o, b.callers.tests)
	}
}
