package scenario

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
)

func TestMain(m *testing.M) {
	lab.RunEngineIfAsked()
	os.Exit(m.Run())
}

// standIn takes the place of pathwise: a shell that prints a document and keeps its arguments in it.
var standIn = []string{"sh", "-c", `echo '{"metrics": {"rtt_min_seconds": 0.04}, "words": "'"$*"'"}'`, "pathwise"}

func mustParse(t *testing.T, steps string) *Case {
	t.Helper()
	c, err := Parse("x.yaml", []byte(head+steps))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRun(t *testing.T) {
	c := mustParse(t, `needs: [ping]
steps:
  - exec: {on: a, run: [ping, -c, 3, -i, 0.01, b], as: before}
  - set: {between: [a, b], forward: {loss: 100%}}
  - exec: {on: a, run: [ping, -c, 2, -i, 0.01, -W, 0.2, b], as: after, status: 1}
  - exec: {on: b, run: [sh, -c, "echo up; sleep 100"], as: server, background: true, ready: up}
  - measure: {on: a, run: [look, b], as: seen}
  - exec: {on: a, run: [sh, -c, "sleep 0.1; echo '{\"n\": 2}'"], as: later, background: true}
  - wait: {for: later}
  - stop: server
  - expect: {of: before, value: run.text, contains: 3 received}
  - expect: {of: after, value: run.status, equal: 1}
  - expect: {of: seen, value: words, equal: look b --json}
  - expect: {of: seen, value: metrics.rtt_min_seconds, near: 40ms, within: 1%, figure: round trip, reference: 41 ms}
  - expect: {of: seen, value: words, contains: look, figure: words}
  - expect: {of: later, over: seen, value: n, over_value: metrics.rtt_min_seconds, equal: 50}
  - expect: {of: seen, value: nothing, present: false}
  - expect: {of: later, value: n, present: true, figure: any number}
  - expect: {of: truth, link: [a, b], value: dropped.loss, equal: 2}
  - expect: {of: truth, link: [a, b], direction: reverse, value: packets, equal: 3}
  - expect: {of: truth, flow: icmp a > b, since: after, value: lost, equal: 2}
  - expect: {of: truth, value: emulator.refused_packets, equal: 0}
`)
	r, err := Run(t.Context(), c, Options{Self: standIn, Env: []string{"A=B"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Steps {
		t.Logf("%v %s %s: %s", s.OK, s.Kind, s.What, s.Seen)
	}
	if r.Verdict != Pass || len(r.Steps) != len(c.Steps) || r.Truth == nil {
		t.Errorf("verdict %s: %s, %d steps", r.Verdict, r.Why, len(r.Steps))
	}
	want := []Figure{{"round trip", "41 ms", "40.0 ms", 0.04}, {"words", "", "look b --json", "look b --json"},
		{"any number", "", "2", 2.0}}
	if diff := cmp.Diff(want, figures(r)); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
}

func figures(r *Report) (all []Figure) {
	for _, s := range r.Steps {
		if s.Figure != nil {
			all = append(all, *s.Figure)
		}
	}
	return all
}

// A value that is not as expected is shown all the same, and where there is none, what would have been.
func TestFiguresOfFailures(t *testing.T) {
	r, err := Run(t.Context(), mustParse(t, `steps:
  - measure: {on: a, run: [x], as: m}
  - expect: {of: m, value: metrics.rtt_min_seconds, above: 1s, figure: round trip, reference: 2 s}
  - expect: {of: m, value: metrics.none, above: 1s, figure: nothing}
`), Options{Self: standIn})
	if err != nil {
		t.Fatal(err)
	}
	want := []Figure{{"round trip", "2 s", "40.0 ms", 0.04}, {"nothing", "", "", nil}}
	if diff := cmp.Diff(want, figures(r)); diff != "" || r.Verdict != Fail {
		t.Errorf("verdict %s, figures (-want +got):\n%s", r.Verdict, diff)
	}
}

// An expectation that is not met makes the case fail, and the rest is still played; a step that cannot be played ends it.
func TestRunFails(t *testing.T) {
	for _, test := range []struct {
		steps string
		want  string
		seen  int // steps
	}{
		{"[{measure: {on: a, run: [x], as: m}}, {expect: {of: m, value: metrics.rtt_min_seconds, above: 1s}}, {wait: 1ms}]",
			"m metrics.rtt_min_seconds: 40.0 ms, wanted above 1.00 s", 3},
		{"[{measure: {on: a, run: [x], as: m}}, {expect: {of: m, value: metrics.x, above: 1s}}]", "no such value; there is rtt_min_seconds", 2},
		{"[{exec: {on: a, run: [sh, -c, 'echo no >&2; exit 4']}}, {wait: 1ms}]", "exit status 4, wanted 0: no", 1},
		{"[{exec: {on: a, run: [nonsense-program]}}, {wait: 1ms}]", "not found", 1},
		{"[{exec: {on: a, run: [sleep, 60], timeout: 50ms}}, {wait: 1ms}]", "took longer than 50ms", 1},
		{"[{exec: {on: a, run: [sh, -c, 'echo oh'], background: true, ready: up}}]", "ended before it was ready: oh", 1},
		{"[{exec: {on: a, run: [nonsense-program], background: true, ready: up}}]", "not found", 1},
		{"[{exec: {on: a, run: [nonsense-program], background: true}}, {exec: {on: a, run: ['true']}}]", "not found", 2},
		{"[{exec: {on: a, run: [nonsense-program], background: true, as: s}}, {exec: {on: a, run: ['true']}}]", "not found", 2},
		{"[{exec: {on: a, run: [sleep, 60], background: true, as: s}}, {expect: {of: s, value: run.status, equal: 0}}]", "is still running", 2},
		{"[{set: {host: a, sysctl: {net.ipv4.nonsense: 1}}}, {wait: 1ms}]", "nonsense", 1},
	} {
		r, err := Run(t.Context(), mustParse(t, "steps: "+test.steps), Options{Self: standIn})
		if err != nil {
			t.Errorf("%s: %v", test.steps, err)
			continue
		}
		if r.Verdict != Fail || !strings.Contains(r.Why, test.want) || len(r.Steps) != test.seen {
			t.Errorf("%s: %s: %q after %d steps; want %q after %d", test.steps, r.Verdict, r.Why, len(r.Steps), test.want, test.seen)
		}
	}
}

func TestSkip(t *testing.T) {
	for text, want := range map[string]string{
		"skip: no clock\n": "no clock",
		"needs: [nonsense-program]\nsteps: [{wait: 1ms}]\n": "needs nonsense-program, which is not installed",
	} {
		r, err := Run(t.Context(), mustParse(t, text), Options{Self: standIn})
		if err != nil || r.Verdict != Skip || r.Why != want {
			t.Errorf("%q: %s %q, %v; want skip %q", text, r.Verdict, r.Why, err, want)
		}
	}
}

// When ctx ends the lab goes, and with it all that ran in it.
func TestCancel(t *testing.T) {
	alive := filepath.Join(t.TempDir(), "alive")
	c := mustParse(t, "steps: [{exec: {on: a, run: [sh, -c, 'while :; do date +%N > "+alive+"; sleep 0.02; done'], background: true}}, {wait: 60s}]\n")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	r, err := Run(ctx, c, Options{Self: standIn})
	if !errors.Is(err, context.DeadlineExceeded) || r == nil || r.Verdict != Cut {
		t.Errorf("error %v, report %+v; want the deadline, and a report of a case cut short", err, r)
	}
	before, err := os.ReadFile(alive)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // five times what the program needs to write again
	if after, err := os.ReadFile(alive); err != nil || string(before) != string(after) {
		t.Errorf("the program still runs: %q, %q, %v", before, after, err)
	}
}

// The emulator's own limits are the reason for a failure, and a remark where there is none.
func TestJudge(t *testing.T) {
	truth := &lab.Truth{Emulator: lab.EmulatorTruth{Bottleneck: true, Why: "too slow"}}
	good, bad := StepReport{OK: true}, StepReport{What: "x", Seen: "1, wanted 2"}
	for _, test := range []struct {
		r       Report
		verdict string
		why     string
		notes   int
	}{
		{Report{Steps: []StepReport{good}}, Pass, "", 0},
		{Report{Steps: []StepReport{good}, Truth: truth}, Pass, "", 1},
		{Report{Steps: []StepReport{good, bad}}, Fail, "x: 1, wanted 2", 0},
		{Report{Steps: []StepReport{bad}, Truth: truth}, Fail, "the emulator was the bottleneck (too slow); x: 1, wanted 2", 0},
	} {
		r := test.r
		r.judge(nil)
		if r.Verdict != test.verdict || r.Why != test.why || len(r.Notes) != test.notes {
			t.Errorf("%s %q %q; want %s %q and %d notes", r.Verdict, r.Why, r.Notes, test.verdict, test.why, test.notes)
		}
	}
}

// After a diagnosis, and while the lab stands, what was printed can be read and more can be done; what goes wrong then is the diagnosis's
// failure.
func TestAfter(t *testing.T) {
	c := mustParse(t, "steps: [{measure: {on: a, run: [look], as: seen}}, {diagnose: {on: a, run: [b]}}]")
	for _, fails := range []error{nil, errors.New("no cure")} {
		var told, printed, ran string
		r, err := Run(t.Context(), c, Options{Self: standIn,
			Diagnosed: func(document []byte) error { told = string(document); return nil },
			After: func(ctx context.Context, s *Stage) error {
				printed = string(s.Printed("seen"))
				if s.Printed("other") != nil {
					t.Error("a program that there is none of printed something")
				}
				text, err := s.Run(ctx, "b", []string{"echo", "again"})
				ran = string(text)
				if _, err := s.Run(ctx, "b", []string{"false"}); err == nil {
					t.Error("a program that fails is no error")
				}
				return errors.Join(err, fails)
			}})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(told, "diagnose b --json") || !strings.Contains(printed, "look --json") || ran != "again\n" {
			t.Errorf("told %q, then %q and %q", told, printed, ran)
		}
		if (r.Verdict == Pass) != (fails == nil) || fails != nil && !strings.Contains(r.Why, "no cure") {
			t.Errorf("%v: verdict %s, %s", fails, r.Verdict, r.Why)
		}
	}
}
