package control

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// messaging is a Hub that notes what is sent. The real one is tried in package fleet, and with all else in cmd/pathwise.
type messaging struct {
	mu    sync.Mutex
	plans map[string]fleet.Plan // the last one of each host
}

func (p *messaging) Serve(ctx context.Context, _ fleet.Receiver) error {
	<-ctx.Done()
	return ctx.Err()
}

func (p *messaging) Plan(_ context.Context, plan fleet.Plan) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plans[plan.Host] = plan
	return nil
}

func (p *messaging) Order(context.Context, string, fleet.Order) error { return fleet.ErrAway }

func (p *messaging) Watch(ctx context.Context, _, _ string, ready chan<- struct{}, _ func(fleet.Progress)) error {
	close(ready)
	<-ctx.Done()
	return ctx.Err()
}

// runs are all that hosts were told to do, by ID.
func (p *messaging) runs() map[string]measure.Run {
	all := map[string]measure.Run{}
	for _, plan := range p.plans {
		for _, r := range plan.Runs {
			all[r.ID] = r
		}
	}
	return all
}

const (
	threeHosts = "hosts: {a: {address: 10.0.0.1}, b: {address: 10.0.0.2}, c: {address: 10.0.0.3}}\n"
	twoHosts   = "hosts: {a: {address: 10.0.0.1}, b: {address: 10.0.0.2}}\n"
	someTests  = `
controller: {horizon: 30m}
tools:
  rtt:  {probe: ping, parameters: {count: 5, interval: 200ms}}
  bulk: {probe: throughput, parameters: {duration: 2s}}
groups: {all: {mesh: all}}
tests:
  - {tool: rtt, group: all, schedule: {every: 1m}}
  - {tool: bulk, group: all, schedule: {every: 10m}}
`
)

// bench is a Control with everything that it needs, on a clock that the test moves.
type bench struct {
	*Control
	t         *testing.T
	folder    string
	messaging *messaging
	archive   archive.Archive
	now       time.Time
	turning   sync.Mutex // of now, where steps of a diagnosis are made at once
	seed      uint64     // of the first plan
	named     func(context.Context, string) string
}

// newBench draws a seed for the plan, which it logs, and which PATHWISE_PLAN_SEED gives it to plan the same again.
func newBench(t *testing.T, mesh string) *bench {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv("PATHWISE_PLAN_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("plan: PATHWISE_PLAN_SEED=%d", seed)
	b := &bench{t: t, folder: t.TempDir(), messaging: &messaging{plans: map[string]fleet.Plan{}}, now: noon, seed: seed}
	store, err := archive.Open(t.Context(), filepath.Join(b.folder, "archive"), archive.Options{Now: b.clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	b.archive = store
	b.write(mesh)
	b.restart()
	return b
}

func (b *bench) clock() time.Time {
	b.turning.Lock()
	defer b.turning.Unlock()
	return b.now
}

// turn sets the clock to when a run begins, so that nobody waits. It never goes back.
func (b *bench) turn(begins time.Time) {
	b.turning.Lock()
	defer b.turning.Unlock()
	if begins.After(b.now) {
		b.now = begins
	}
}

func (b *bench) write(mesh string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.folder, "mesh.yaml"), []byte(mesh), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// restart makes the Control anew, as after a kill.
func (b *bench) restart() {
	b.t.Helper()
	var err error
	b.Control, err = New(Config{
		Mesh: filepath.Join(b.folder, "mesh.yaml"), Data: b.folder, Hub: b.messaging, Archive: b.archive,
		Seed: b.seed, Now: b.clock, NameOf: b.named,
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) plan() {
	b.t.Helper()
	if err := b.replan(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

// expectWhole checks that no pair of a test has two runs at one time, and that each host is told of the runs it is source
// of, with what their targets open.
func (b *bench) expectWhole() {
	b.t.Helper()
	type moment struct {
		test, source, target string
		start                time.Time
	}
	seen := map[moment]bool{}
	for _, r := range b.messaging.runs() {
		m := moment{r.Test, r.Source, r.Target, r.Start}
		if seen[m] {
			b.t.Errorf("twice: %v", m)
		}
		seen[m] = true
		opened := false
		for _, o := range b.messaging.plans[r.Target].Opens {
			opened = opened || o.Run == r.ID && o.Responder.Port == r.Responder.Port && o.Responder.Secret == r.Responder.Secret
		}
		if (r.Responder != nil) != opened {
			b.t.Errorf("run %s of %s: needs a listener %v, has one %v", r.ID, r.Test, r.Responder != nil, opened)
		}
	}
}

// Every pair is planned by every test, as often as its schedule says.
func TestPlan(t *testing.T) {
	b := newBench(t, threeHosts+someTests)
	b.plan()
	b.expectWhole()
	count := map[string]int{}
	for _, r := range b.messaging.runs() {
		count[r.Test+" "+r.Source+" "+r.Target]++
	}
	if len(count) != 12 {
		t.Errorf("%d pairs of tests, want 12: %v", len(count), count)
	}
	for pair, n := range count {
		least, most := 29, 31 // of a minute, in half an hour
		if strings.HasPrefix(pair, "bulk") {
			least, most = 2, 4 // of ten minutes
		}
		if n < least || n > most {
			t.Errorf("%s: %d runs in half an hour", pair, n)
		}
	}
	if o := b.Overview(); o.Plan == 0 || o.Runs != len(b.messaging.runs()) || o.Awaited != o.Runs || len(o.Warnings) > 0 {
		t.Errorf("overview %+v", o)
	}
}

// A later plan keeps the runs that are still to come, under their IDs, and goes on where the last one ended.
func TestPlanGoesOn(t *testing.T) {
	for _, c := range []struct {
		name    string
		between func(*bench)
	}{
		{"the same process", func(*bench) {}},
		{"after a restart", (*bench).restart},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, threeHosts+someTests)
			b.plan()
			before := b.messaging.runs()
			b.now = b.now.Add(16 * time.Minute)
			if !b.planDue() {
				t.Error("no plan is due after half of its time")
			}
			c.between(b)
			b.plan()
			after := b.messaging.runs()
			for id, r := range before {
				if _, kept := after[id]; kept == r.Limit().Before(b.now) {
					t.Errorf("run at %v of %s: kept %v", r.Start, r.Test, kept)
				}
			}
			b.expectWhole()
			if until := b.messaging.plans["a"].Until; !until.Equal(b.now.Add(30 * time.Minute)) {
				t.Errorf("planned until %v", until)
			}
		})
	}
}

// A changed mesh file takes effect and disturbs neither what is about to begin nor the pairs that stay; one with errors
// changes nothing, and is told of.
func TestReread(t *testing.T) {
	b := newBench(t, threeHosts+someTests)
	b.plan()
	before := b.messaging.runs()
	b.now = b.now.Add(3 * time.Minute)

	b.write("hosts: {a: {adress: 10.0.0.1}}\n")
	if err := b.reread(); err == nil || !strings.Contains(err.Error(), "adress") {
		t.Errorf("a file with an error: %v", err)
	}
	if o := b.Overview(); !strings.Contains(o.Trouble, "adress") || len(b.Mesh().Hosts) != 3 {
		t.Errorf("trouble %q, %d hosts", o.Trouble, len(b.Mesh().Hosts))
	}

	b.write(twoHosts + someTests)
	if err := b.reread(); err != nil {
		t.Fatal(err)
	}
	b.plan()
	b.expectWhole()
	frozen := b.now.Add(30 * time.Second)
	after := b.messaging.runs()
	for id, r := range before {
		if _, kept := after[id]; !kept && r.Start.After(b.now) && r.Start.Before(frozen) {
			t.Errorf("run of %s at %v, which was about to begin, is gone", r.Test, r.Start)
		}
	}
	for _, r := range after {
		if (r.Source == "c" || r.Target == "c") && r.Start.After(frozen) {
			t.Errorf("run of %s at %v with c, which is gone", r.Test, r.Start)
		}
	}
	if o := b.Overview(); o.Trouble != "" {
		t.Errorf("trouble after it was mended: %s", o.Trouble)
	}
}

// A run without a Result is a miss, with the reason; one that has it is not.
func TestMisses(t *testing.T) {
	b := newBench(t, twoHosts+someTests)
	b.plan()
	first, second := b.current.Runs[0], b.current.Runs[1]
	result := measure.NewResult("ping", first.Start)
	result.ID, result.Source.Name, result.Target.Name, result.Tool = first.ID, first.Source, first.Target, first.Tool
	result.Metrics[measure.RTTMin] = 0.01
	if err := (receiver{b.Control}).File(t.Context(), first.Source, []*measure.Result{result}); err != nil {
		t.Fatal(err)
	}
	b.now = second.Limit().Add(grace + time.Second)
	if err := b.fileMisses(t.Context(), b.now); err != nil {
		t.Fatal(err)
	}
	misses, err := b.archive.Misses(t.Context(), archive.MissQuery{})
	if err != nil {
		t.Fatal(err)
	}
	want := measure.Miss{Run: second.ID, Test: second.Test, Tool: second.Tool, Source: second.Source, Target: second.Target,
		Way: measure.WayOf(second.Task.Kind, second.Task.Parameters), Start: second.Start, Why: second.Source + " has not reported since the controller started"}
	found := false
	for _, m := range misses {
		if m.Run == first.ID {
			t.Error("a run that has its Result is missed")
		}
		if m.Run == second.ID {
			found = true
			if diff := cmp.Diff(want, m); diff != "" {
				t.Errorf("miss (-want +got):\n%s", diff)
			}
		}
	}
	if !found {
		t.Errorf("%d misses without the run in question", len(misses))
	}
}

// A host files its own Results only, of its own runs.
func TestFileRefuses(t *testing.T) {
	b := newBench(t, twoHosts+someTests)
	b.plan()
	var ofA measure.Run
	for _, r := range b.current.Runs {
		if r.Source == "a" {
			ofA = r
		}
	}
	claim := func(id, source string) *measure.Result {
		r := measure.NewResult("ping", noon)
		r.ID, r.Source.Name, r.Target.Name = id, source, "x"
		r.Metrics[measure.RTTMin] = 1
		return r
	}
	claims := []*measure.Result{claim("01KAG0000000000000000000AA", "a"), claim(ofA.ID, "b"), claim("01KAG0000000000000000000AB", "b")}
	if err := (receiver{b.Control}).File(t.Context(), "b", claims); err != nil {
		t.Fatal(err)
	}
	page, err := b.archive.Results(t.Context(), archive.ResultQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Results) != 1 || page.Results[0].ID != "01KAG0000000000000000000AB" {
		t.Errorf("filed %v, want b's own only", page.Results)
	}
}

// What a test on demand cannot be is said in one line, before anything is sent.
func TestDemandErrors(t *testing.T) {
	b := newBench(t, threeHosts+"  \n"+strings.Replace(someTests, "tests:", "exclude: [{pair: [a, c]}]\ntests:", 1))
	b.plan()
	for _, c := range []struct {
		request Request
		want    string
	}{
		{Request{Source: "x", Target: "b", Tool: "rtt"}, `source: "x": want a host of the mesh file`},
		{Request{Source: "a", Target: "y", Tool: "rtt"}, `target: "y": want a host of the mesh file`},
		{Request{Source: "a", Target: "b", Tool: "bilk"}, `tool: "bilk": want a tool of the mesh file`},
		{Request{Source: "a", Target: "b", Tool: "rtt", Parameters: map[string]any{"count": "x"}}, "count"},
		{Request{Source: "a", Target: "c", Tool: "rtt"}, `want one that the mesh file lets these hosts use: see `},
		{Request{Source: "a", Target: "a", Tool: "rtt"}, `target: "a": want another host than the source`},
		{Request{Source: "a", Target: "b", Tool: "rtt"}, "away"},
	} {
		err := b.Test(t.Context(), c.request)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.request, err, c.want)
		}
	}
	if n := b.Overview().OnDemand; n != 0 {
		t.Errorf("%d tests on demand are not over", n)
	}
}

// A mesh that needs more than it may have is planned all the same, and says so.
func TestWarnings(t *testing.T) {
	b := newBench(t, threeHosts+strings.Replace(someTests, "every: 10m", "every: 10s", 1))
	b.plan()
	o := b.Overview()
	if len(o.Warnings) != 1 || !strings.Contains(o.Warnings[0], "bulk") {
		t.Errorf("warnings %q", o.Warnings)
	}
}
