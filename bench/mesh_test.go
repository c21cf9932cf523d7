package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// TestSimulatedPlan has a simulated agent do its plan: each run once, whatever plan comes in between.
func TestSimulatedPlan(t *testing.T) {
	now := time.Now()
	run := func(id string, after time.Duration) measure.Run {
		return measure.Run{ID: id, Test: "t", Tool: "rtt", Source: "a", Target: "b", Start: now.Add(after),
			Task: measure.Task{Kind: "ping", Target: "127.1.0.2"}}
	}
	s := &simulation{sent: map[string]time.Time{}}
	a := &simulated{of: s, host: "a", changed: make(chan struct{}, 1), done: map[string]bool{}, kept: map[string]*kept{}}
	plan := func(number uint64, runs ...measure.Run) {
		t.Helper()
		if err := a.Plan(t.Context(), fleet.Plan{Host: "a", Number: number, Runs: runs}); err != nil {
			t.Fatal(err)
		}
	}
	due := func() (ids []string) {
		results, _ := a.due()
		for _, r := range results {
			if r.Source.Name != "a" || r.Test != "t" || len(r.Metrics) != 12 {
				t.Errorf("made up %+v", r)
			}
			ids = append(ids, r.ID)
		}
		return ids
	}
	past, missed := run("past", -time.Minute), run("missed", -time.Second)
	plan(1, run("late", time.Hour), past)
	if diff := cmp.Diff([]string{"past"}, due()); diff != "" {
		t.Errorf("due (-want +got):\n%s", diff)
	}
	plan(2, run("later", 2*time.Hour), missed, past)
	plan(1, run("old", -time.Hour))
	if diff := cmp.Diff([]string{"missed"}, due()); diff != "" {
		t.Errorf("due of the second plan (-want +got):\n%s", diff)
	}
	if _, known := s.deliveredAt("past"); !known || len(a.kept) != 2 || len(a.runs) != 1 || a.runs[0].ID != "later" {
		t.Errorf("kept %v, to come %v", a.kept, a.runs)
	}
	if err := a.Filed(t.Context(), []string{"past", "missed"}); err != nil || len(a.kept) != 0 || a.status().Plan != 2 {
		t.Errorf("%v; kept %v; status %+v", err, a.kept, a.status())
	}
}

// TestPlanMeshes holds what the planner is asked for.
func TestPlanMeshes(t *testing.T) {
	got := map[string]int{}
	for _, m := range planMeshes(10) {
		if err := m.mesh.Validate(); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		got[m.name] = len(m.mesh.Tests[0].Pairs)
	}
	want := map[string]int{"10 hosts, all pairs": 90, "10 hosts, 20 % excluded": 78, "10 hosts, star": 18,
		"10 hosts, 5 sites that let 2 through": 90}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
}

// TestMeshPart runs a small mesh of simulated agents through a real controller.
func TestMeshPart(t *testing.T) {
	pathwise := filepath.Join(t.TempDir(), "pathwise")
	if out, err := exec.Command("go", "-C", "..", "build", "-o", pathwise, "./cmd/pathwise").CombinedOutput(); err != nil {
		t.Fatalf("build pathwise: %v\n%s", err, out)
	}
	var out bytes.Buffer
	const firstRuns = 5 * time.Second // until some have ended, of those that the plan begins with
	b := &bench{out: &out, pathwise: pathwise, settle: firstRuns, watch: 3 * time.Second}
	if err := b.crowded(t.Context(), "simulated", 10, time.Second, &simulation{}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	t.Log("\n" + out.String())
	for _, want := range []string{
		`10 agents, simulated; a pair every 1s`,
		`controller: [0-9.]+ % of a core; [0-9.]+ MB resident, [0-9.]+ MB at most; [1-9][0-9.]* Results/s filed of 50\.0 planned`,
		`ms after its delivery at the median, .*; [1-9]\d* asked for`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
