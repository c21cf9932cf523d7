package fleet

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// testAgent does what a real one does with a Link, and measures nothing: each Run that it is ordered gives its Result at
// once, spooled in memory until it is filed.
type testAgent struct {
	host string
	link Link
	kick chan struct{}

	mu     sync.Mutex
	plan   Plan
	plans  []uint64 // numbers, as they came
	full   bool     // the disk: it keeps no plan
	orders int
	spool  map[string]*measure.Result
	filed  []string
	live   []Progress
}

func newTestAgent(host string, l Link) *testAgent {
	return &testAgent{host: host, link: l, kick: make(chan struct{}, 1), spool: map[string]*measure.Result{}}
}

func (a *testAgent) Plan(_ context.Context, p Plan) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.plans = append(a.plans, p.Number)
	if a.full {
		return errors.New("disk full (as the test wants it)")
	}
	if p.Number > a.plan.Number {
		a.plan = p
	}
	a.wake()
	return nil
}

func (a *testAgent) Order(_ context.Context, o Order) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.orders++
	switch {
	case o.Run != nil:
		r := testResult(a.host, o.Run)
		a.spool[r.ID] = r
		a.live = append(a.live, Progress{Run: r.ID, Line: "begun"}, Progress{Run: r.ID, Result: r})
		a.wake()
		return nil
	case o.Open != nil:
		return nil
	}
	return errors.New("nothing of that ID runs")
}

func (a *testAgent) Filed(_ context.Context, ids []string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range ids {
		delete(a.spool, id)
		a.filed = append(a.filed, id)
	}
	a.wake()
	return nil
}

func (a *testAgent) wake() {
	select {
	case a.kick <- struct{}{}:
	default:
	}
}

// add puts Results into the spool.
func (a *testAgent) add(results ...*measure.Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range results {
		a.spool[r.ID] = r
	}
	a.wake()
}

func (a *testAgent) waiting() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.spool)
}

// toldFiled returns the IDs that the controller named as filed.
func (a *testAgent) toldFiled() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.filed)
}

func (a *testAgent) counts() (orders int, plans []uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.orders, slices.Clone(a.plans)
}

// redeliver is short here: tests wait for it.
const redeliver = 500 * time.Millisecond

// run serves until ctx ends or the link does.
func (a *testAgent) run(ctx context.Context, l Link) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{})
	go func() { defer close(done); a.talk(ctx) }()
	err := l.Serve(ctx, a)
	cancel()
	<-done
	return err
}

func (a *testAgent) talk(ctx context.Context) {
	t := time.NewTicker(redeliver)
	defer t.Stop()
	sent := map[string]bool{} // since the last tick
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			clear(sent)
		case <-a.kick:
		}
		a.mu.Lock()
		var results []*measure.Result
		for id, r := range a.spool {
			if !sent[id] {
				results = append(results, r)
			}
			sent[id] = true
		}
		live, spooled := a.live, len(a.spool)
		a.live = nil
		s := Status{Host: a.host, At: time.Now(), Plan: a.plan.Number, Spooled: spooled, Running: []string{},
			Open: []string{}, Lacks: []MissingCapability{}}
		a.mu.Unlock()
		for _, p := range live {
			a.link.Live(ctx, p)
		}
		if len(results) > 0 {
			a.link.Deliver(ctx, results) // an error: again at the next tick
		}
		a.link.Report(ctx, s)
	}
}

// testResult is what came of a Run: as many echoes, and bytes of output, as its parameters say.
func testResult(host string, run *measure.Run) *measure.Result {
	r := measure.NewResult("ping", time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	r.ID, r.Source.Name, r.Target.Name, r.Tool = run.ID, host, run.Target, run.Tool
	r.Metrics[measure.RTTMin] = 0.0125
	n, _ := run.Task.Parameters["count"].(float64)
	for i := range int(n) {
		rtt := 0.01 + float64(i*7919%1000)/1e6
		r.Samples.Echoes = append(r.Samples.Echoes, measure.Echo{Seq: i, SentSeconds: float64(i) / 1000, RTTSeconds: &rtt})
	}
	if n, _ := run.Task.Parameters["output"].(float64); n > 0 {
		r.Samples.Output = &measure.Output{Command: []string{"bbcp"}, Stdout: noise(int(n))}
	}
	return r
}

// noise is text that compresses to half of its length, no less.
func noise(length int) string {
	b := make([]byte, length)
	for i, random := 0, rand.New(rand.NewPCG(1, 2)); i < length; i++ {
		b[i] = "0123456789abcdef"[random.IntN(16)]
	}
	return string(b)
}

func testRun(host, id string, count int) *measure.Run {
	return &measure.Run{ID: id, Tool: "rtt", Source: host, Target: "b", LimitSeconds: 5,
		Task:      measure.Task{Kind: "ping", Target: "192.0.2.1", Parameters: map[string]any{"count": float64(count)}},
		Responder: &measure.Responder{Kind: measure.ResponderIperf3, Port: 5201, Secret: "the-secret-of-a-run"}}
}
