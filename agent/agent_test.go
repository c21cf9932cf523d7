package agent

import (
	gocmp "cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

func TestRunsBeginAtTheirTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		prober := &fakeProber{takes: 3 * time.Second}
		a := run(t, Config{Dir: t.TempDir(), Prober: prober.new})
		start := time.Now()
		var runs []measure.Run
		var want []time.Time
		for n := range 20 {
			at := start.Add(time.Duration(n)*1700*time.Millisecond + 5*time.Second)
			runs = append(runs, newRun(n, at))
			want = append(want, at)
		}
		slices.Reverse(runs)
		a.send(1, runs...)
		pass(time.Minute)
		if diff := cmp.Diff(want, prober.times()); diff != "" {
			t.Errorf("began (-want +got):\n%s", diff)
		}
		got := a.link.result(7)
		wanted := measure.NewResult("ping", want[7])
		wanted.ID, wanted.Test, wanted.Tool, wanted.Role, wanted.DurationSeconds = id(7), "t", "rtt", measure.RolePlanned, 3
		wanted.Source.Name, wanted.Target = host, measure.Endpoint{Name: "b", Address: "192.0.2.1"}
		wanted.Metrics[measure.RTTMin] = 0.01
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("Result (-want +got):\n%s", diff)
		}
		if a.link.count() != len(runs) {
			t.Errorf("%d Results of %d runs", a.link.count(), len(runs))
		}
	})
}

func TestHowRunsEnd(t *testing.T) {
	t.Parallel()
	const slow = 60 * time.Second
	for name, test := range map[string]struct {
		run    func(time.Time) measure.Run
		prober *fakeProber
		act    func(*running)
		want   string
		notes  []string
		tries  int
	}{
		"ok":       {run: func(now time.Time) measure.Run { return newRun(1, now) }, want: "ok", tries: 1},
		"late":     {run: func(now time.Time) measure.Run { return newRun(1, now.Add(-59*time.Second)) }, want: "ok", tries: 1},
		"too late": {run: func(now time.Time) measure.Run { return newRun(1, now.Add(-2*time.Minute)) }, want: "missed: 2m0s after its start, beyond its slot of 60s: this host was not running, or its clock was set forward"},
		"limit":    {run: func(now time.Time) measure.Run { r := newRun(1, now); r.LimitSeconds = 10; return r }, prober: &fakeProber{takes: slow}, want: "ended at its limit of 10s", tries: 1},
		"second try": {run: func(now time.Time) measure.Run { r := newRun(1, now); r.Tries = 2; return r }, prober: &fakeProber{fails: 1}, want: "ok",
			notes: []string{"try 1 of 2 failed: try 1 went wrong"}, tries: 2},
		"tries used up":    {run: func(now time.Time) measure.Run { r := newRun(1, now); r.Tries = 3; return r }, prober: &fakeProber{fails: 9}, want: "try 3 went wrong", notes: []string{"try 1 of 3 failed: try 1 went wrong", "try 2 of 3 failed: try 2 went wrong"}, tries: 3},
		"slot over":        {run: func(now time.Time) measure.Run { r := newRun(1, now); r.Tries, r.SlotSeconds = 9, 1; return r }, prober: &fakeProber{fails: 9}, want: "try 1 went wrong", tries: 1},
		"cancelled":        {run: func(now time.Time) measure.Run { return newRun(1, now) }, prober: &fakeProber{takes: slow}, act: cancel, want: "cancelled by the controller", tries: 1},
		"cancelled before": {run: func(now time.Time) measure.Run { return newRun(1, now.Add(time.Hour)) }, act: cancel, want: "cancelled by the controller"},
		"no such kind": {run: func(now time.Time) measure.Run { r := newRun(1, now); r.Task.Kind = "magic"; return r },
			want: `probe "magic": there is no such kind`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				prober := gocmp.Or(test.prober, &fakeProber{})
				a := run(t, Config{Dir: t.TempDir(), Prober: prober.new})
				a.send(1, test.run(time.Now()))
				pass(5 * time.Second)
				if test.act != nil {
					test.act(a)
				}
				pass(30 * time.Second)
				got := a.link.result(1)
				if got == nil || !strings.HasPrefix(a.link.outcome(1), test.want) || len(prober.times()) != test.tries {
					t.Fatalf("%q after %d tries, want %q after %d", a.link.outcome(1), len(prober.times()), test.want, test.tries)
				}
				if diff := cmp.Diff(test.notes, got.Notes, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("notes (-want +got):\n%s", diff)
				}
				if got.Kind == "" || got.Source.Name != host || got.Target.Name != "b" || got.Tool != "rtt" {
					t.Errorf("Result %+v", got)
				}
			})
		})
	}
}

func cancel(r *running) {
	if err := r.Order(r.t.Context(), fleet.Order{Cancel: id(1)}); err != nil {
		r.t.Error(err)
	}
}

// TestOneAtATime has runs that fill a link and overlap: the second waits for the first, in its slot.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		prober := &fakeProber{takes: 8 * time.Second}
		a := run(t, Config{Dir: t.TempDir(), Prober: prober.new})
		var runs []measure.Run
		for n := range 10 {
			runs = append(runs, exclusive(newRun(n, time.Now().Add(3*time.Second))))
		}
		a.send(1, runs...)
		pass(2 * time.Minute)
		outcomes := map[string]int{}
		for n := range 10 {
			outcomes[a.link.outcome(n)]++
		}
		want := map[string]int{"ok": 8, "missed: 1m2s after its start, beyond its slot of 60s: class default: parallel: one run that fills a link at a time": 2}
		if diff := cmp.Diff(want, outcomes); diff != "" || prober.atOnce() != 1 {
			t.Errorf("%d at a time; outcomes (-want +got):\n%s", prober.atOnce(), diff)
		}
	})
}

// TestClockSteps steps the wall clock by an hour, forward and back. Of two hours of runs, none may begin twice, or all at
// once; each has one Result.
func TestClockSteps(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := &stepped{}
				prober := &fakeProber{takes: time.Second}
				a := run(t, Config{Dir: t.TempDir(), Prober: prober.new, Now: clock.now})
				start := time.Now()
				var runs []measure.Run
				const all = 2 * 120
				for n := range all {
					r := newRun(n, start.Add(time.Duration(n)*30*time.Second))
					r.SlotSeconds, r.LimitSeconds = 600, 700
					runs = append(runs, r)
				}
				a.send(1, runs...)
				pass(10*time.Minute + 5*time.Second) // 21 runs
				before := len(prober.times())
				clock.step(by)
				pass(10 * time.Second)
				at := map[time.Time]int{}
				for _, began := range prober.times()[before:] {
					at[began]++
				}
				for began, n := range at {
					if n > 1 {
						t.Errorf("%d runs began at %v", n, began)
					}
				}
				pass(2*time.Hour - by)
				outcomes := map[string]int{}
				for n := range all {
					outcome, _, _ := strings.Cut(a.link.outcome(n), ":")
					outcomes[outcome]++
				}
				want := map[string]int{"ok": all}
				if by > 0 { // of the hour that never was, those whose slot goes on are done
					want = map[string]int{"ok": all - 100, "missed": 100}
				}
				if diff := cmp.Diff(want, outcomes); diff != "" || before != 21 {
					t.Errorf("%d began before the step; outcomes (-want +got):\n%s", before, diff)
				}
				if len(prober.times()) != want["ok"] {
					t.Errorf("%d runs began, want %d", len(prober.times()), want["ok"])
				}
			})
		})
	}
}

// TestPowerCut takes an image of the agent's disk at moments of a run's life, and goes on from it: of a plan's first time, and
// of its third repetition.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	const every = 20 * time.Second
	for _, round := range []int{0, 3} {
		for _, test := range []struct {
			at   time.Duration // after the round began; the run starts after 5 s and takes 4
			want string
		}{
			{time.Second, "ok"},     // noted after 3 s
			{4 * time.Second, "ok"}, // noted, but its start had not come
			{6500 * time.Millisecond, "the agent was stopped while it ran"},
			{10500 * time.Millisecond, "ok"}, // done before the cut
		} {
			t.Run(fmt.Sprintf("%v in round %d", test.at, round), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					dir := t.TempDir()
					link := newLink()
					link.deaf = true
					before, after := &fakeProber{takes: 4 * time.Second}, &fakeProber{takes: 4 * time.Second}
					a := run(t, Config{Dir: dir, Prober: before.new, Link: link})
					now := time.Now()
					cut := newRun(1, now.Add(5*time.Second))
					give(t, a, fleet.Plan{Host: host, Number: 1, From: now, Until: now.Add(every), Runs: []measure.Run{cut}})
					if round > 0 {
						cut = cut.Again(round, time.Duration(round)*every)
					}
					pass(time.Duration(round)*every + test.at)
					copied := image(t, dir)
					begun := len(before.times())
					a.stop()
					b := run(t, Config{Dir: copied, Prober: after.new})
					pass(every - test.at)
					if got := b.link.outcomeOf(cut.ID); got != test.want {
						t.Errorf("%q, want %q", got, test.want)
					}
					if begun += len(after.times()); begun > round+1 {
						t.Errorf("%d runs began, want %d", begun, round+1)
					}
				})
			})
		}
	}
}

// TestDownForAWhile has runs whose time passes while the agent is down.
func TestDownForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		prober := &fakeProber{takes: time.Second}
		a := run(t, Config{Dir: dir, Prober: prober.new})
		var runs []measure.Run
		for n := range 10 {
			runs = append(runs, newRun(n, time.Now().Add(time.Duration(n)*time.Minute+5*time.Second)))
		}
		a.send(4, runs...)
		pass(3 * time.Minute)
		a.stop()
		link := a.link
		pass(5 * time.Minute)
		link.ready = make(chan struct{})
		b := run(t, Config{Dir: dir, Prober: prober.new, Link: link})
		pass(5 * time.Minute)
		var got []string
		for n := range 10 {
			outcome, _, _ := strings.Cut(link.outcome(n), ":")
			got = append(got, fmt.Sprintf("%s %d", outcome, link.came(n)))
		}
		want := []string{"ok 1", "ok 1", "ok 1", "missed 1", "missed 1", "missed 1", "missed 1", "ok 1", "ok 1", "ok 1"}
		if diff := cmp.Diff(want, got); diff != "" || b.lastStatus().Plan != 4 {
			t.Errorf("plan %d; outcomes and copies (-want +got):\n%s", b.lastStatus().Plan, diff)
		}
	})
}

// TestNewerPlan replaces a plan while one of its runs is under way, and one is done: neither begins again.
func TestNewerPlan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		prober := &fakeProber{takes: 5 * time.Second}
		a := run(t, Config{Dir: dir, Prober: prober.new})
		now := time.Now()
		done, going, dropped, kept := newRun(1, now), newRun(2, now.Add(9*time.Second)), newRun(3, now.Add(20*time.Second)), newRun(4, now.Add(25*time.Second))
		a.send(1, done, going, dropped, kept)
		pass(10 * time.Second)
		a.send(2, done, going, kept, newRun(5, now.Add(30*time.Second)))
		a.send(1, newRun(6, now)) // an older one
		pass(5 * time.Second)
		a.stop()
		a.link.ready = make(chan struct{})
		a = run(t, Config{Dir: dir, Prober: prober.new, Link: a.link}) // and once more from the disk
		pass(time.Minute)
		var got []string
		for n := range 7 {
			got = append(got, a.link.outcome(n))
		}
		if diff := cmp.Diff([]string{"", "ok", "ok", "", "ok", "ok", ""}, got); diff != "" || len(prober.times()) != 4 {
			t.Errorf("%d began; outcomes (-want +got):\n%s", len(prober.times()), diff)
		}
	})
}

func TestSpoiltPlanIsSetAside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		a := run(t, Config{Dir: dir, Prober: (&fakeProber{}).new})
		a.send(3, newRun(1, time.Now().Add(time.Hour)), newRun(2, time.Now().Add(time.Hour)))
		a.stop()
		path := filepath.Join(dir, "plan")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text[len(text)/2] ^= 1
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		a = run(t, Config{Dir: dir, Prober: (&fakeProber{}).new})
		a.send(3, newRun(1, time.Now()))
		pass(5 * time.Second)
		if got := a.link.outcome(1); got != "ok" {
			t.Errorf("the plan sent again gave %q", got)
		}
		if _, err := os.Stat(path + ".spoilt"); err != nil {
			t.Error(err)
		}
	})
}

func TestPlansRefused(t *testing.T) {
	t.Parallel()
	a, err := New(Config{Host: host, Dir: t.TempDir(), Link: newLink()})
	if err != nil {
		t.Fatal(err)
	}
	defer a.end()
	p := fleet.Plan{Host: "b", Number: 1, Runs: []measure.Run{newRun(1, time.Now())}}
	if err, want := a.Plan(t.Context(), p), `plan 1 is for host "b", and this is "a"`; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if _, err := New(Config{Host: host, Dir: a.config.Dir, Link: newLink()}); err == nil || !strings.Contains(err.Error(), "another agent uses it") {
		t.Errorf("a second agent in the folder: %v", err)
	}
}

// TestControllerAway has the controller away for ten minutes: nothing is lost, and all comes once it is back.
func TestControllerAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := run(t, Config{Dir: t.TempDir(), Prober: (&fakeProber{}).new})
		var runs []measure.Run
		const all = 700
		for n := range all {
			runs = append(runs, newRun(n, time.Now().Add(time.Duration(n)*time.Second)))
		}
		a.send(1, runs...)
		pass(time.Minute)
		a.link.set(func(l *memoryLink) { l.away = true })
		pass(10 * time.Minute)
		if got := a.lastStatus().Spooled; got < 590 {
			t.Errorf("%d Results in the spool after ten minutes", got)
		}
		a.link.set(func(l *memoryLink) { l.away = false })
		pass(2 * time.Minute)
		if a.link.count() != all || a.lastStatus().Spooled != 0 {
			t.Errorf("%d of %d Results came, %d are in the spool", a.link.count(), all, a.lastStatus().Spooled)
		}
		for n := range all {
			if a.link.came(n) != 1 {
				t.Errorf("Result %d came %d times", n, a.link.came(n))
			}
		}
	})
}

func (r *running) lastStatus() fleet.Status { return r.link.lastStatus() }

// TestOrder is a run on demand: it begins at once, shows at most ten things a second, and its Result comes both ways.
func TestOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		prober := &fakeProber{takes: 5 * time.Second}
		a := run(t, Config{Dir: t.TempDir(), Prober: prober.new})
		pass(10 * time.Second)
		ordered := time.Now()
		order := newRun(1, ordered.Add(-time.Minute))
		for range 3 { // the same order again does nothing
			if err := a.Order(t.Context(), fleet.Order{Run: &order}); err != nil {
				t.Fatal(err)
			}
		}
		pass(time.Minute)
		if len(prober.times()) != 1 || prober.times()[0].Sub(ordered) > time.Second {
			t.Fatalf("began %v, ordered at %v", prober.times(), ordered)
		}
		if err := a.Order(t.Context(), fleet.Order{Run: &order}); err != nil || len(prober.times()) != 1 {
			t.Errorf("an old order: %v, began %v", err, prober.times())
		}
		shown := a.link.shown()
		echoes, last := shown[:len(shown)-1], shown[len(shown)-1]
		if len(echoes) < 30 || len(echoes) > 60 || slices.ContainsFunc(echoes, func(p fleet.Progress) bool { return p.Echo == nil || p.Run != id(1) }) {
			t.Errorf("%d things were shown in 5 s, want 10 a second, all echoes", len(echoes))
		}
		if diff := cmp.Diff(a.link.result(1), last.Result); diff != "" || a.link.outcome(1) != "ok" {
			t.Errorf("%s; Result filed and shown differ:\n%s", a.link.outcome(1), diff)
		}
	})
}

func TestOrdersRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := run(t, Config{Dir: t.TempDir(), Prober: (&fakeProber{}).new})
		far := measure.Responder{Kind: "ftp"}
		other, magic := newRun(1, time.Now()), newRun(1, time.Now())
		other.Source, magic.Task.Kind = "b", "magic"
		for want, order := range map[string]fleet.Order{
			"an order of nothing; this agent may be older than its controller":                                                        {},
			"cancel " + id(1) + ": no such run or opening here":                                                                       {Cancel: id(1)},
			"run " + id(1) + ` is for host "b", and this is "a"`:                                                                      {Run: &other},
			`probe "magic": there is no such kind`:                                                                                    {Run: &magic},
			"open for run " + id(2) + `: "ftp": this agent opens iperf3, transact, flows, ndt7, owamp, twamp, stamp and command only`: {Open: &fleet.Opening{Run: id(2), Until: time.Now().Add(time.Minute), Responder: far}},
		} {
			if err := a.Order(t.Context(), order); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		}
	})
}

// TestTooLargeToCarry has Results that no message can hold: one goes without its samples, one not at all, and those after
// them are delivered.
func TestTooLargeToCarry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		link := newLink()
		link.most = 2000
		a := run(t, Config{Dir: t.TempDir(), Link: link})
		long := func(n int) *measure.Result {
			r := measure.NewResult("ping", time.Now())
			r.ID, r.Source.Name = id(n), host
			return r
		}
		samples, parameters, small := long(1), long(2), long(3)
		samples.Samples.Output = &measure.Output{Stdout: strings.Repeat("x", 3000)}
		parameters.Parameters["long"] = strings.Repeat("x", 3000)
		for _, r := range []*measure.Result{samples, parameters, small} {
			a.put(r)
		}
		pass(5 * time.Second)
		if diff := cmp.Diff([]string{id(1), id(3)}, link.ids()); diff != "" {
			t.Errorf("delivered (-want +got):\n%s", diff)
		}
		want := long(1)
		want.Notes = []string{noSamples}
		if diff := cmp.Diff(want, link.result(1), cmpopts.IgnoreFields(measure.Result{}, "Started")); diff != "" {
			t.Errorf("the one whose samples were too many (-want +got):\n%s", diff)
		}
		if left := a.spool.State().Results; left != 0 {
			t.Errorf("%d Results are left in the spool", left)
		}
	})
}
