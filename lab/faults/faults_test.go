package faults

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/scenario"
)

func TestMain(m *testing.M) {
	lab.RunEngineIfAsked()
	os.Exit(m.Run())
}

// termFindings have the field's name of what is seen, where cases have that of their cause.
var termFindings = []string{"variable-delay", "pause-frames"}

// findings are those that diagnosis was to know from the start. Each must have a case of its name; any other finding is called as a
// fault that shows it, but for variable-delay and pause-frames: the names of their faults, delay-variation and flow-control, are terms of the
// knowledge base.
var findings = strings.Fields(`pmtu-blackhole outage no-window-scaling receiver-application-slow receive-buffer-fixed
	receive-window-limited send-buffer-fixed send-buffer-limited chatty-application application-limited nagle-delayed-ack
	pacing-limited slow-start-limited host-cpu-limited disk-limited reordering-harmful reordering-benign ack-path-congested
	policer duplex-mismatch random-loss burst-loss shallow-buffer bufferbloat cross-traffic path-full loss-budget-exceeded
	path-change small-mss no-sack no-timestamps no-ecn dscp-remarked middlebox clock-unsynchronised`)

// Every case can be read, tells what it must, and proves itself: it compares, and it asks the lab or a second measurement.
func TestLibrary(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c, err := scenario.Parse(file, text)
		if err != nil {
			t.Error(err)
			continue
		}
		named[c.Name] = c.Finding
		if c.Name+".yaml" != file {
			t.Errorf("%s: is called %s", file, c.Name)
		}
		if c.Source == "" || c.Condition == "" {
			t.Errorf("%s: want a source and a condition", file)
		}
		if c.Finding != "" && c.Finding != c.Name && !slices.Contains(slices.Concat(findings, termFindings), c.Finding) {
			t.Errorf("%s: finding %q: no such finding", file, c.Finding)
		}
		if c.Skip == "" && expectations(c) < 2 {
			t.Errorf("%s: %d expectations; want one of the fault and one without it at least", file, expectations(c))
		}
	}
	for _, finding := range findings {
		if named[finding] != finding {
			t.Errorf("%s: no case of that name with that finding", finding)
		}
	}
	if len(List()) != len(files) {
		t.Errorf("%d cases listed, %d files", len(List()), len(files))
	}
}

func expectations(c *scenario.Case) (n int) {
	for _, s := range c.Steps {
		if s.Expect != nil {
			n++
		}
	}
	return n
}

func TestReadUnknown(t *testing.T) {
	_, err := Read("../secrets")
	var unknown *scenario.UnknownError
	if !errors.As(err, &unknown) || !strings.Contains(err.Error(), "random-loss") {
		t.Errorf("error %v; want one that names the cases there are", err)
	}
}

// quick are the cases of every test run: short ones, of a path, a host, a program and a box each, whose expectations a busy
// machine cannot upset easily.
var quick = []string{"asymmetric-route", "dscp-remarked", "ecn-syn-dropped", "mixed-sizes",
	"nagle-delayed-ack", "nagle-last-segment", "no-timestamps"}

// The cases come out as they say; with PATHWISE_FAULTS=all, all of them. A case whose lab was more than this machine could
// carry at the moment is played once more.
func TestCases(t *testing.T) {
	names := quick
	if os.Getenv("PATHWISE_FAULTS") == "all" {
		names = nil
		for _, one := range List() {
			names = append(names, one.Name)
		}
	}
	self := filepath.Join(t.TempDir(), "pathwise")
	if out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", self, "../../cmd/pathwise").CombinedOutput(); err != nil {
		t.Fatalf("build pathwise: %v\n%s", err, out)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			r := play(t, name, self)
			if r.Verdict == scenario.Fail && r.Truth != nil && r.Truth.Emulator.Bottleneck {
				t.Logf("once more: %s", r.Why)
				r = play(t, name, self)
			}
			for _, s := range r.Steps {
				t.Logf("%v %s %s: %s", s.OK, s.Kind, s.What, s.Seen)
			}
			if r.Verdict == scenario.Fail {
				t.Errorf("%s after %.1f s: %s", r.Verdict, r.Duration, r.Why)
			}
		})
	}
}

func play(t *testing.T, name, self string) *scenario.Report {
	t.Helper()
	c, err := library.Case(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := scenario.Run(t.Context(), c, scenario.Options{Self: []string{self}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
