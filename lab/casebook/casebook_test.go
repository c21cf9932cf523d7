package casebook

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/scenario"
)

func TestMain(m *testing.M) {
	lab.RunEngineIfAsked()
	os.Exit(m.Run())
}

// references are the texts that stories are of. A source begins with one.
var references = []string{"gridnm-2002", "high-performance-data-transfer-2006", "measurement-and-monitoring-2009",
	"network-application-performance-2012", "pert-performance-guides-2005"}

// Every case can be read, is called as its file, names its source, says when it holds, and shows a figure of its source.
func TestCasesAreStories(t *testing.T) {
	all, err := filepath.Glob("*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c, err := scenario.Parse(file, text)
		if err != nil {
			t.Error(err)
			continue
		}
		if c.Name+".yaml" != file {
			t.Errorf("%s: is called %s", file, c.Name)
		}
		told := false
		for _, one := range references {
			told = told || strings.HasPrefix(c.Source, one+", ")
		}
		if !told || c.Condition == "" {
			t.Errorf("%s: source %q, condition %q; want a reference with the place in it, and a condition", file, c.Source, c.Condition)
		}
		compared := 0
		for _, s := range c.Steps {
			if s.Expect != nil && s.Expect.Reference != "" {
				compared++
			}
		}
		if compared == 0 {
			t.Errorf("%s: no figure of its source", file)
		}
	}
	if len(List()) != len(all) {
		t.Errorf("%d cases listed, %d files", len(List()), len(all))
	}
}

// Each figure of a case is told, with what was wrong, or that it was not reached.
func TestSum(t *testing.T) {
	figure := func(name string) scenario.Step {
		return scenario.Step{Expect: &scenario.Expect{Figure: name, Reference: name + " there"}}
	}
	c := &scenario.Case{Name: "x", Title: "X", Source: "s", Condition: "c",
		Steps: []scenario.Step{figure("right"), {Expect: &scenario.Expect{}}, figure("wrong"), figure("late")}}
	shown := func(name, ours string) *scenario.Figure {
		return &scenario.Figure{Name: name, Reference: name + " there", Ours: ours}
	}
	r := &scenario.Report{Verdict: scenario.Fail, Why: "x", Duration: 2, Steps: []scenario.StepReport{
		{Number: 1, OK: true, Figure: shown("right", "1 s")}, {Number: 2, OK: true},
		{Number: 3, Seen: "2 s, wanted 1 s", Figure: shown("wrong", "2 s")}}}
	want := &Played{Name: "x", Title: "X", Source: "s", Condition: "c", Verdict: scenario.Fail, Why: "x", Seconds: 2, Figures: []Figure{
		{Figure: *shown("right", "1 s"), OK: true},
		{Figure: *shown("wrong", "2 s"), Why: "2 s, wanted 1 s"},
		{Figure: *shown("late", ""), Why: "was not reached"}}}
	if diff := cmp.Diff(want, sum(c, r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPlayUnknown(t *testing.T) {
	_, err := Play(t.Context(), []string{"detours", "atlantis"}, scenario.Options{}, nil)
	var unknown *scenario.UnknownError
	if !errors.As(err, &unknown) || !strings.Contains(err.Error(), `"atlantis": no such case in the casebook; want one of`) {
		t.Errorf("error %v; want one that names the cases there are", err)
	}
}

// quick are the cases of every test run: short ones, which a busy machine does not upset.
var quick = []string{"detours", "nagle-and-delayed-ack"}

// The quick cases come out as they say; all others are for `make casebook`.
func TestPlay(t *testing.T) {
	self := filepath.Join(t.TempDir(), "pathwise")
	if out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", self, "../../cmd/pathwise").CombinedOutput(); err != nil {
		t.Fatalf("build pathwise: %v\n%s", err, out)
	}
	var told []string
	book, err := Play(t.Context(), quick, scenario.Options{Self: []string{self}}, func(p *Played) { told = append(told, p.Name) })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(quick, told); diff != "" || book.Passed != len(quick) {
		t.Errorf("%d as expected; told of (-want +got):\n%s", book.Passed, diff)
	}
	for _, p := range book.Cases {
		for _, f := range p.Figures {
			t.Logf("%s: %s: reference %q, ours %q", p.Name, f.Name, f.Reference, f.Ours)
		}
		if p.Verdict != scenario.Pass {
			t.Errorf("%s: %s: %s", p.Name, p.Verdict, p.Why)
		}
	}
}
