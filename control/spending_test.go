package control

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// spenders are those whose budget of a day's bytes holds for tests from a to b, by their place in a mesh file.
var spenders = map[string][3]string{ // limits of a and of b, budget of a's site
	"host a": {", limits: {daily: 100MB}", "", ""},
	"host b": {"", ", limits: {daily: 100MB}", ""},
	"site X": {"", "", ", budget: {daily: 100MB}"},
}

// spendingMesh has planned runs of 10 MB each from any host to any.
func spendingMesh(of [3]string) string {
	return fmt.Sprintf(`
sites: {X: {rate: 1gbit%s}}
hosts:
  a: {address: 10.0.0.1, site: X%s}
  b: {address: 10.0.0.2%s}
  c: {address: 10.0.0.3}
  d: {address: 10.0.0.4}
controller:
  horizon: 24h
  callers: {classes: {all: {}}, default: all}
tools:
  bulk: {probe: throughput, parameters: {rate: 8mbit, duration: 10s}, needs: {bytes: 10MB}}
  cp:   {command: "cp {target}", parse: {a_seconds: "(.)"}, timeout: 60s, needs: {bytes: 10MB}}
  once: {command: "cp {target}", parse: {a_seconds: "(.)"}, timeout: 60s, needs: {bytes: 1MB}}
groups: {all: {star: {centre: a, leaves: [b], one_way: true}}, others: {star: {centre: c, leaves: [d], one_way: true}}}
tests:
  - {tool: bulk, group: all, schedule: {every: 4h48m}}
  - {tool: cp, group: all, schedule: {every: 4h48m}}
  - {tool: bulk, group: others, name: others, schedule: {every: 4h48m}}
`, of[2], of[0], of[1])
}

// newSpender is a bench at midnight whose hosts do what they are told, and its day's plan.
func newSpender(t *testing.T, of [3]string) *bench {
	t.Helper()
	b := newBench(t, spendingMesh(of))
	b.now = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	b.restart()
	b.config.Hub = &doer{messaging: b.messaging}
	b.plan()
	return b
}

// ask makes a test from a to b now that is reckoned at so many MB; 1 MB of payload comes of it.
func (b *bench) ask(who *Caller, megabytes int) error {
	b.t.Helper()
	b.Mesh().Tool("once").Needs.Bytes = float64(megabytes) * 1e6 // no test of the file is of it
	return testNow(b, Request{Source: "a", Target: "b", Tool: "once", Patience: 6 * time.Hour, Caller: who})
}

// Tests that somebody asks for count for the day of each host and site whose links they use, whoever asks: what is beyond is denied
// until tomorrow, with how much is left, and what a test really took counts when it is over, also after a restart.
func TestDemandCountsForTheDay(t *testing.T) {
	for whose, of := range spenders {
		for name, who := range map[string]*Caller{"owner": nil, "caller": caller("alice", "192.0.2.1")} {
			t.Run(whose+" "+name, func(t *testing.T) {
				b := newSpender(t, of)
				denied := func(megabytes int, want string) {
					t.Helper()
					err := b.ask(who, megabytes)
					var denial *Denial
					if !errors.As(err, &denial) || !denial.Later || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
						t.Errorf("%d MB: %v, want %s", megabytes, err, want)
					}
				}
				denied(101, `daily: "101 MB": want at most 100 MB until midnight UTC: `+whose+` may move 100 MB a day, of which 0 B are taken`)
				for range 3 {
					if err := b.ask(who, 90); err != nil { // of which 1.12 MB on the wire are moved
						t.Fatal(err)
					}
				}
				denied(97, "want at most 96.6 MB until midnight UTC: "+whose)
				if o := b.Overview(); o.OnDemand != 0 {
					t.Errorf("%d tests on demand are not over", o.OnDemand)
				}
				b.restart()
				b.config.Hub = &doer{messaging: b.messaging}
				b.plan()
				denied(97, "want at most 96.6 MB until midnight UTC: "+whose)
				b.now = b.now.Truncate(24*time.Hour).AddDate(0, 0, 1)
				b.plan()
				if err := b.ask(who, 97); err != nil {
					t.Errorf("the next day: %v", err)
				}
			})
		}
	}
}

// Tests that nobody has limited count for nobody's day.
func TestDemandWithoutBudgets(t *testing.T) {
	b := newSpender(t, [3]string{})
	for range 3 {
		if err := b.ask(nil, 1_000_000); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.spending.Used(askedFor)) > 0 || b.other {
		t.Errorf("asked %v, and another plan %v", b.spending.Used(askedFor), b.other)
	}
}

// today sums what hosts were told to move from a to b and from c to d from now until midnight, in MB, and counts the runs by tool.
func (b *bench) today() (ab, cd float64, runs map[string]int) {
	b.t.Helper()
	runs = map[string]int{}
	for _, r := range b.messaging.runs() {
		if dayOf(r.Start) != dayOf(b.now) || r.Start.Before(b.now) {
			continue
		}
		bytes, limited := r.Task.Parameters["bytes"].(float64)
		if bytes = bytes * 1598 / 1428; !limited {
			bytes = 10e6
		}
		if r.Source == "a" {
			ab += bytes / 1e6
		} else {
			cd += bytes / 1e6
		}
		runs[r.Tool+" "+r.Source]++
	}
	return ab, cd, runs
}

// What somebody asked for, planned runs of the same day do without: transfers are shorter, others are left out, and it is told how
// many. Runs between others, and of tomorrow, stay.
func TestPlanSeesDemand(t *testing.T) {
	for whose, of := range spenders {
		t.Run(whose, func(t *testing.T) {
			b := newSpender(t, of)
			before, others, runs := b.today()
			if before > 100.1 || before < 80 || len(runs) != 3 {
				t.Fatalf("%v MB are planned in %v", before, runs)
			}
			hub := b.config.Hub.(*doer)
			hub.hold.Lock() // so that the test goes on and counts as it was reckoned
			ended := make(chan error, 1)
			began := make(chan measure.Run, 2)
			hub.began = began
			go func() { ended <- b.ask(nil, 45) }()
			select {
			case <-began:
			case err := <-ended:
				t.Fatalf("the test did not begin: %v", err)
			}
			if !b.other {
				t.Error("no other plan is asked for")
			}
			b.now = b.now.Add(settles)
			if !b.planDue() {
				t.Error("no other plan is due")
			}
			b.plan()
			after, left, fewer := b.today()
			if after > 55.01 || after < 40 || left != others || fewer["bulk c"] != runs["bulk c"] || fewer["cp a"] >= runs["cp a"] {
				t.Errorf("%v MB in %v are planned beside 45 asked for; %v between others, and before %v MB in %v and %v",
					after, fewer, left, before, runs, others)
			}
			if told := strings.Join(b.Overview().Warnings, "\n"); !strings.Contains(told, whose+": ") || !strings.Contains(told, "since tests on demand took their bytes") {
				t.Errorf("warnings: %s", told)
			}
			hub.hold.Unlock()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			tomorrow := b.now.Truncate(24*time.Hour).AddDate(0, 0, 1)
			b.now = tomorrow
			b.plan()
			if again, _, _ := b.today(); again < before-20 {
				t.Errorf("%v MB are planned for tomorrow, %v today", again, before)
			}
		})
	}
}

// A run of which two have too little left counts once: as shortened, or as left out.
func TestCutsCountRunsOnce(t *testing.T) {
	const mb = 1e6
	for name, c := range map[string]struct {
		asked map[string]float64 // of 100 MB each
		want  map[string]cuts
		gets  float64
	}{
		"nobody asked":          {nil, map[string]cuts{}, 10 * mb},
		"both have enough":      {map[string]float64{"host a": 50 * mb, "host b": 50 * mb}, map[string]cuts{}, 10 * mb},
		"both shorten it":       {map[string]float64{"host a": 95 * mb, "host b": 92 * mb}, map[string]cuts{"host a": {shorter: 1}}, 5 * mb},
		"in the other order":    {map[string]float64{"host a": 92 * mb, "host b": 95 * mb}, map[string]cuts{"host b": {shorter: 1}}, 5 * mb},
		"one leaves it out":     {map[string]float64{"host a": 95 * mb, "host b": 100 * mb}, map[string]cuts{"host b": {leftOut: 1}}, 0},
		"the first leaves it":   {map[string]float64{"host a": 100 * mb, "host b": 95 * mb}, map[string]cuts{"host a": {leftOut: 1}}, 0},
		"little is left of one": {map[string]float64{"host a": 99.5 * mb, "host b": 95 * mb}, map[string]cuts{"host a": {leftOut: 1}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newSpender(t, [3]string{", limits: {daily: 100MB}", ", limits: {daily: 100MB}", ""})
			for whose, bytes := range c.asked {
				limit := []config.DailyLimit{{Whose: whose, Bytes: 100 * mb}}
				if _, err := b.spending.take(limit, bytes, false, b.now); err != nil {
					t.Fatal(err)
				}
			}
			f := filling{Control: b.Control, next: &plan{Issued: b.now}, used: map[string]float64{}, cuts: map[string]cuts{}}
			m, need := b.Mesh(), measure.Demand{Bytes: 10 * mb}
			a, _ := m.Host("a")
			other, _ := m.Host("b")
			if !f.afford(m, m.Tool("bulk"), config.Leg{Source: a, Target: other}, &need, b.now) {
				need.Bytes = 0
			}
			if diff := cmp.Diff(c.want, f.cuts, cmp.AllowUnexported(cuts{})); diff != "" || need.Bytes != c.gets {
				t.Errorf("the run gets %v bytes, want %v; cuts (-want +got):\n%s", need.Bytes, c.gets, diff)
			}
		})
	}
}

// What planned runs took counts, too: less is left for tests on demand, and a Result that comes twice, or of another day, counts
// once or not at all.
func TestPlannedRunsCountForTheDay(t *testing.T) {
	b := newSpender(t, spenders["host a"])
	var first measure.Run
	for _, r := range b.current.Runs {
		if r.Tool == "bulk" && r.Source == "a" {
			first = r
			break
		}
	}
	file := func(r measure.Run, moved float64) {
		t.Helper()
		result := measure.NewResult("throughput", r.Start)
		result.ID, result.Source.Name, result.Target.Name, result.Tool, result.Test = r.ID, r.Source, r.Target, r.Tool, r.Test
		result.Metrics[measure.SentBytes] = moved
		if err := (receiver{b.Control}).File(t.Context(), r.Source, []*measure.Result{result}); err != nil {
			t.Fatal(err)
		}
	}
	file(first, 20e6*1428/1598)
	file(first, 20e6*1428/1598)
	b.now = first.Limit()
	if err := b.spending.Save(); err != nil {
		t.Fatal(err)
	}
	type spent struct{ asked, planned map[string]float64 }
	want, onDisk := spent{map[string]float64{}, map[string]float64{"host a": 20e6}}, openSpending(b.folder, slog.New(slog.DiscardHandler))
	got := spent{onDisk.Used(askedFor), onDisk.Used(planned)}
	round := cmp.Comparer(func(a, b float64) bool { return a-b < 1 && b-a < 1 })
	if diff := cmp.Diff(want, got, round, cmp.AllowUnexported(spent{})); diff != "" {
		t.Errorf("on disk (-want +got):\n%s", diff)
	}
	if err := b.ask(nil, 81); err == nil || !strings.Contains(err.Error(), "at most 80.0 MB until midnight UTC") {
		t.Errorf("81 MB: %v", err)
	}
	last := first
	for _, r := range b.current.Runs {
		if r.Tool == "bulk" && r.Source == "a" {
			last = r
		}
	}
	b.now = last.Limit().AddDate(0, 0, 1)
	file(last, 1e6)
	if _, planned := b.spending.taken("host a", b.now); planned != 0 {
		t.Errorf("%v bytes of yesterday count today", planned)
	}
}

// A test that goes on past midnight counts for the day on which it began.
func TestDemandPastMidnight(t *testing.T) {
	b := newSpender(t, spenders["host a"])
	limits := b.Mesh().DailyLimits(0, 1)
	midnight := b.now.AddDate(0, 0, 1)
	late, err := b.spending.take(limits, 50e6, false, midnight.Add(-time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.spending.take(limits, 30e6, false, midnight); err != nil {
		t.Fatal(err)
	}
	b.spending.settle(late, 1e6)
	if asked, _ := b.spending.taken("host a", midnight); asked != 30e6 {
		t.Errorf("%v bytes were asked for today", asked)
	}
}

// A test that its hosts refuse took nothing.
func TestRefusedDemandCountsNothing(t *testing.T) {
	b := newSpender(t, spenders["host a"])
	b.config.Hub.(*doer).away = true
	if err := b.ask(nil, 90); !errors.Is(err, fleet.ErrAway) {
		t.Errorf("error is %v", err)
	}
	if asked, _ := b.spending.taken("host a", b.now); asked != 0 {
		t.Errorf("%v bytes count", asked)
	}
}
