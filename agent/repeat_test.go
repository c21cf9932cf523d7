package agent

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/agent/policy"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// every is how long the plans of these tests are, and away how long their controller is.
const (
	every = 5 * time.Minute
	away  = 3 * time.Hour
)

// fiveMinutes are the plans of a source and a target for the next five minutes: a run each, and one that was carried over.
func fiveMinutes() (source, target fleet.Plan) {
	from := time.Now()
	source = fleet.Plan{Host: host, Number: 1, From: from, Until: from.Add(every)}
	target = source
	target.Host = "b"
	for at := -10 * time.Second; at < every; at += time.Minute {
		r, o := plannedAt(from.Add(at))
		source.Runs, target.Opens = append(source.Runs, r), append(target.Opens, o)
	}
	return source, target
}

// secretProber notes the secrets that runs are given, by the time at which they begin.
type secretProber struct {
	fakeProber
	mu      sync.Mutex
	secrets map[time.Time]string
}

func (p *secretProber) new(task measure.Task, o probe.Options) (measure.Prober, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.secrets[time.Now().Truncate(time.Second)] = o.Responder.Secret
	return p.fakeProber.new(task, o)
}

func give(t *testing.T, a *running, p fleet.Plan) {
	t.Helper()
	if err := a.Plan(context.Background(), p); err != nil {
		t.Fatal(err)
	}
}

// refusing is the policy of a host that opens nothing, but knows what it was to open.
func refusing(t *testing.T) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("agent.yaml", []byte("classes: {a: {opens: []}}\ndefault: a"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestControllerNeverReturns has two hosts go on with a plan of five minutes for three hours: both come to the same IDs and
// secrets, and each run is done once, at its time.
func TestControllerNeverReturns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		prober := &secretProber{secrets: map[time.Time]string{}}
		source, target := fiveMinutes()
		a := run(t, Config{Dir: t.TempDir(), Prober: prober.new})
		b := run(t, Config{Host: "b", Dir: t.TempDir(), Policy: refusing(t)})
		give(t, a, source)
		give(t, b, target)
		opened := map[time.Time]fleet.Opening{} // by the second in which their run starts
		for range away / time.Minute {
			pass(time.Minute)
			b.mu.Lock()
			for _, d := range b.responders {
				opened[d.opening.From.Add(5*time.Second).Truncate(time.Second)] = d.opening
			}
			b.mu.Unlock()
		}
		want := upTo(&source, time.Now())
		slices.Sort(want)
		if diff := cmp.Diff(want, a.link.ids()); diff != "" {
			t.Errorf("Results (-want +got):\n%s", diff)
		}
		if got := len(prober.times()); got != len(want) || got != 36*5+1 {
			t.Errorf("%d runs began, want %d, 36 times 5 and the one carried over", got, len(want))
		}
		for id, outcome := range a.link.outcomes() {
			if outcome != "ok" {
				t.Errorf("run %s: %s", id, outcome)
			}
		}
		for at, o := range opened {
			if id := a.link.startedAt(at); id != "" && id != o.Run || prober.secrets[at] != "" && prober.secrets[at] != o.Responder.Secret {
				t.Errorf("at %v the source does %s with %q, the target opens for %s with %q", at, id, prober.secrets[at], o.Run, o.Responder.Secret)
			}
		}
		if len(opened) < len(want) {
			t.Errorf("the target opened %d times for %d runs", len(opened), len(want))
		}
	})
}

// TestRepetitionEnds gives a newer plan in the second repetition of one, which replaces it; and plans that are not repeated.
func TestRepetitionEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*fleet.Plan)
		newer  bool
		rounds int
	}{
		"a newer plan":    {newer: true, rounds: 2},
		"no beginning":    {change: func(p *fleet.Plan) { p.From = time.Time{} }, rounds: 1},
		"no length":       {change: func(p *fleet.Plan) { p.Until = p.From }, rounds: 1},
		"negative length": {change: func(p *fleet.Plan) { p.Until = p.From.Add(-time.Hour) }, rounds: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				prober := &fakeProber{}
				a := run(t, Config{Dir: t.TempDir(), Prober: prober.new})
				p, _ := fiveMinutes()
				if test.change != nil {
					test.change(&p)
				}
				give(t, a, p)
				pass(2*every - time.Second)
				if test.newer {
					a.send(2, newRun(1, time.Now().Add(time.Hour)))
				}
				pass(50 * time.Minute)
				if got, want := len(prober.times()), 5*test.rounds+1; got != want {
					t.Errorf("%d runs began, want %d", got, want)
				}
			})
		})
	}
}

// TestRepetitionGoesOn has an agent down, or its clock stepped, while it repeats a plan. What passed of the repetition that had
// begun, and of the present one, is missed; those in between leave nothing; nothing begins twice, and all goes on.
func TestRepetitionGoesOn(t *testing.T) {
	t.Parallel()
	const (
		first = 3*every + 95*time.Second // after the one run that was carried over, and 16 others; 4 are left of the round
		whole = 8*every - 5*time.Second
	)
	for name, test := range map[string]struct {
		down, step time.Duration
		ok, missed int
	}{
		"all the time":           {ok: 41},
		"down for a minute":      {down: time.Minute, ok: 41}, // which is as long as the slots
		"down for three minutes": {down: 3 * time.Minute, ok: 39, missed: 2},
		"down as a round ends":   {down: 4 * time.Minute, ok: 38, missed: 3},
		"down for three rounds":  {down: 3 * every, ok: 17 + 2*5, missed: 4},
		"an hour forward":        {step: time.Hour, ok: 17 + 5*5, missed: 4},
		"forward while down":     {down: time.Second, step: time.Hour, ok: 17 + 5*5, missed: 4},
		"an hour back":           {step: -time.Hour, ok: 17},
		"back while down":        {down: time.Second, step: -time.Hour, ok: 17},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir, clock, prober := t.TempDir(), &stepped{}, &fakeProber{takes: time.Second}
				a := run(t, Config{Dir: dir, Prober: prober.new, Now: clock.now})
				p, _ := fiveMinutes()
				give(t, a, p)
				pass(first)
				clock.step(test.step)
				if test.down > 0 {
					a.stop()
					time.Sleep(test.down)
					a.link.ready = make(chan struct{})
					a = run(t, Config{Dir: dir, Prober: prober.new, Now: clock.now, Link: a.link})
				}
				pass(whole - first - test.down)
				all := upTo(&p, clock.now().Add(time.Hour))
				got := map[string]int{}
				for id, outcome := range a.link.outcomes() {
					outcome, _, _ = strings.Cut(outcome, ":")
					got[outcome]++
					if !slices.Contains(all, id) || a.link.copies[id] != 1 {
						t.Errorf("run %s came %d times; it is of the plan: %v", id, a.link.copies[id], slices.Contains(all, id))
					}
				}
				want := map[string]int{"ok": test.ok, "missed": test.missed}
				maps.DeleteFunc(want, func(_ string, n int) bool { return n == 0 })
				if diff := cmp.Diff(want, got); diff != "" || len(prober.times()) != test.ok {
					t.Errorf("%d runs began; outcomes (-want +got):\n%s", len(prober.times()), diff)
				}
			})
		})
	}
}

// TestPlanComesLate gives a plan that was issued a minute before it came, while the one before it was repeated: what it wants
// for that minute was measured already, and is not made up for.
func TestPlanComesLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		prober := &fakeProber{}
		a := run(t, Config{Dir: t.TempDir(), Prober: prober.new})
		first, _ := fiveMinutes()
		give(t, a, first)
		pass(every + 90*time.Second)
		before := len(prober.times())
		late := fleet.Plan{Host: host, Number: 2, From: time.Now().Add(-time.Minute), Until: time.Now().Add(every)}
		for n, at := range []time.Duration{-50 * time.Second, -2 * time.Second, 10 * time.Second} {
			late.Runs = append(late.Runs, newRun(100+n, time.Now().Add(at)))
		}
		give(t, a, late)
		pass(20 * time.Second)
		if got := len(prober.times()) - before; got != 1 {
			t.Errorf("%d runs began, want the one to come", got)
		}
		for n, want := range []string{"missed: told 50s after its start", "missed: told 2s after", "ok"} {
			if got := a.link.outcome(100 + n); !strings.HasPrefix(got, want) {
				t.Errorf("run %d: %q, want %q", n, got, want)
			}
		}
	})
}
