package main

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
)

// The test binary is also the engine of the labs that it starts, and the meter of what runs in them, as bench is.
func TestMain(m *testing.M) {
	lab.RunEngineIfAsked()
	if len(os.Args) > 2 && os.Args[1] == meteredFlag {
		os.Exit(runMetered(os.Args[2:]))
	}
	if len(os.Args) > 2 && ends[os.Args[1]] != nil {
		os.Exit(runEnd(ends[os.Args[1]], os.Args[2:]))
	}
	os.Exit(m.Run())
}

// need skips a test that runs a program which is not here.
func need(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		only, want, problem string
	}{
		{only: "tcp,ping,loss", want: "tcp ping loss"},
		{only: "loss", want: "loss"},
		{only: "tcp,sctp", problem: `-only: "sctp": no such part; want some of ` + everyPart()},
		{only: "", problem: `-only: "": no such part; want some of ` + everyPart()},
	} {
		chosen, err := choose(c.only)
		var names []string
		for _, p := range chosen {
			names = append(names, p.name)
		}
		problem := ""
		if err != nil {
			problem = err.Error()
		}
		if got := strings.Join(names, " "); got != c.want || problem != c.problem {
			t.Errorf("choose(%q) = %s, %q; want %s, %q", c.only, got, problem, c.want, c.problem)
		}
	}
}

func TestChooseSettings(t *testing.T) {
	for _, c := range []struct {
		list    string
		want    []setting
		problem string
	}{
		{list: everySetting(), want: settings},
		{list: "loopback/8", want: []setting{{"loopback", 8}}},
		{list: "veth/2", problem: `-over: "veth/2": no such setting; want some of veth/1,veth/8,loopback/1,loopback/8`},
	} {
		got, err := chooseSettings(c.list)
		problem := ""
		if err != nil {
			problem = err.Error()
		}
		if !slices.Equal(got, c.want) || problem != c.problem {
			t.Errorf("chooseSettings(%q) = %v, %q; want %v, %q", c.list, got, problem, c.want, c.problem)
		}
	}
}

func TestBadCallsStartNothing(t *testing.T) {
	for _, args := range [][]string{
		{"-pairs", "0"}, {"-seconds", "-1"}, {"-only", "sctp"}, {"-over", "tun/1"}, {"-loud"}, {"tcp"}, {"-pairs", "many"},
		{"-agents", "1"}, {"-simulated", "-5"}, {"-agents", "10001"}, {"-points", "10"},
	} {
		if got := run(args); got != 2 {
			t.Errorf("bench %s: exit status %d, want 2", strings.Join(args, " "), got)
		}
	}
}

// What is missing is named, with where to get it, and the part does not start.
func TestMissingToolsAreNamed(t *testing.T) {
	p := part{name: "tcp", tools: []string{"iperf3"}, run: nil}
	t.Setenv("PATH", t.TempDir())
	b := &bench{out: new(bytes.Buffer), pathwise: os.Args[0]}
	err := b.runPart(t.Context(), p)
	if want := "skipped: iperf3 is not installed; it is in Debian's package iperf3"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	p.tools, b.pathwise = nil, "nowhere/pathwise"
	err = b.runPart(t.Context(), p)
	want := `skipped: -pathwise: "nowhere/pathwise": no such file or directory; run make build first`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestEveryToolHasAPackage(t *testing.T) {
	for _, p := range parts {
		for _, tool := range p.tools {
			if debianPackages[tool] == "" {
				t.Errorf("%s: %s: no package named", p.name, tool)
			}
		}
	}
}

func TestSplitUsage(t *testing.T) {
	type result struct {
		Printed string
		Usage   usage
		Failed  bool
	}
	for _, c := range []struct {
		printed string
		want    result
	}{
		{"{}\n\n{\"user_seconds\":0.25,\"system_seconds\":1.5,\"resident_bytes\":[4096]}\n", result{"{}\n", usage{User: 0.25, System: 1.5, Resident: []int64{4096}}, false}},
		{"\n{\"user_seconds\":0.25,\"system_seconds\":1.5}\n", result{"", usage{User: 0.25, System: 1.5}, false}},
		{"no usage\nat all\n", result{"", usage{}, true}},
		{"", result{"", usage{}, true}},
	} {
		printed, u, err := splitUsage(c.printed)
		if diff := cmp.Diff(c.want, result{printed, u, err != nil}); diff != "" {
			t.Errorf("splitUsage(%q): -want +got\n%s", c.printed, diff)
		}
	}
}

// The meter counts the processor time of what it runs, hands its output on and takes its exit status.
func TestMeteredCountsProcessorTime(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := exec.Command(self, meteredFlag, "sh", "-c", "echo begun; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; exit 7")
	c.Stdout = &out
	_ = c.Run()
	printed, u, err := splitUsage(out.String())
	if err != nil {
		t.Fatal(err)
	}
	if c.ProcessState.ExitCode() != 7 || printed != "begun\n" {
		t.Errorf("exit status %d, printed %q; want 7, begun", c.ProcessState.ExitCode(), printed)
	}
	if u.total() < 0.02 || u.total() > 30 { // the loop takes some 0.2 s
		t.Errorf("processor time %+v of a loop of 300,000", u)
	}
}
