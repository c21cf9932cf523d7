package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
)

// longerWay is the history of a pair whose traffic was moved to a longer way.
func longerWay() *diagnose.Diagnosis {
	at := time.Date(2026, 11, 20, 10, 4, 12, 0, time.UTC)
	level := func(v float64, runs int) analysis.Estimate {
		return analysis.Estimate{Value: v, Low: 0.99 * v, High: 1.01 * v, Runs: runs}
	}
	return diagnose.DiagnoseHistory(&diagnose.History{
		Source: "ucl", Target: "ral", From: at.Add(-6*24*time.Hour - 12*time.Second), To: at.Add(24*time.Hour - 12*time.Second),
		Series: []diagnose.Looked{{Metric: measure.RTTMin, Tool: "rtt", Runs: 1005, StepSeconds: 1200}, {Metric: measure.Throughput, Tool: "bulk", Runs: 56, StepSeconds: 1200}},
		Events: []diagnose.Event{{
			After: at.Add(-time.Minute), Until: at, Looked: 29, With: []string{"another configuration, 2026-11-20 09:58 UTC"},
			Changed: []diagnose.Changed{
				{Metric: measure.RTTMin, Shape: analysis.Step, Before: level(0.0402, 500), Now: level(0.0601, 72), Confidence: 0.99},
				{Metric: measure.Throughput, Shape: analysis.Step, Before: level(9.3e6, 28), Now: level(6.2e6, 4), Confidence: 0.97},
			},
			Route:  &diagnose.Moved{Text: "hop 2: 10.0.1.2 is now 10.0.3.2, as many hops", Before: 4, Now: 4},
			Pairs:  []diagnose.Together{{Source: "ucl", Target: "cern"}, {Source: "warwick", Target: "ral"}},
			Shared: []analysis.Shared{{Part: analysis.Part{Kind: analysis.OnLink, Name: "10.0.0.2 - 10.0.1.2"}, Changed: 3, All: 3}},
		}},
	})
}

// A history is asked of the controller with the caller's token, and told as the page says.
func TestDiagnosePair(t *testing.T) {
	var asked []string
	answers := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RequestURI()+" "+r.Header.Get("Authorization"))
		if err := json.NewEncoder(w).Encode(longerWay()); err != nil {
			t.Error(err)
		}
	}))
	defer answers.Close()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	call := func(more ...string) (int, string, string) {
		var out, said bytes.Buffer
		status := run(append([]string{"diagnose", "--controller", answers.URL, "--token-file", token}, more...), nil, &out, &said)
		return status, out.String(), said.String()
	}
	status, out, said := call("--pair", "ucl/ral", "--since", "7d")
	if diff := cmp.Diff([]string{"/api/v1/pairs/ucl/ral/history?from=-7d Bearer secret"}, asked); status != 0 || diff != "" {
		t.Fatalf("status %d, %q; asked (-want +got):\n%s", status, said, diff)
	}
	page, err := os.ReadFile("../../docs/history.md")
	if err != nil {
		t.Fatal(err)
	}
	if block := "\n$ pathwise diagnose --pair ucl/ral --since 7d\n" + out + "```\n"; !strings.Contains(string(page), block) {
		t.Errorf("docs/history.md does not have:\n%s", block)
	}
	status, out, _ = call("--pair", "ucl/ral", "--since", "2026-11-13T10:00:00Z", "--json", "--fail-on", "warning")
	var d diagnose.Diagnosis
	if err := json.Unmarshal([]byte(out), &d); err != nil || status != exitBadResult || d.Schema != diagnose.Schema || d.Verdict != "path-change" || len(d.History.Events) != 1 {
		t.Errorf("status %d, error %v, %s", status, err, out)
	}
	for says, args := range map[string][]string{
		`--pair: "ucl": want SOURCE/TARGET`:  {"--pair", "ucl"},
		`--since: "x": want how far back`:    {"--pair", "a/b", "--since", "x"},
		"--time: it is for what is measured": {"--pair", "a/b", "-t", "3"},
		"--controller: it goes with --pair":  {"host"},
		`"host": one argument too many`:      {"--pair", "a/b", "host"},
		`--fail-on: "rain": want`:            {"--pair", "a/b", "--fail-on", "rain"},
	} {
		if status, _, said := call(args...); status != exitBadCall || !strings.Contains(said, says) {
			t.Errorf("%v: status %d, %q, want %q", args, status, said, says)
		}
	}
}

// What is found of now, and of no change, is printed as well.
func TestHistoryPrintsDetour(t *testing.T) {
	var out strings.Builder
	printHistory(&out, diagnose.DiagnoseHistory(&diagnose.History{Source: "ucl", Target: "ral", Series: []diagnose.Looked{{Metric: measure.RTTMin}},
		Via: &diagnose.Via{Host: "cern", SourceRoundTrip: 0.004, TargetRoundTrip: 0.006, StraightSeconds: 0.02}}))
	if want := "By way of cern it would take 10.0 ms"; !strings.HasPrefix(out.String(), "verdict    detour") || !strings.Contains(out.String(), want) {
		t.Errorf("want %q:\n%s", want, out.String())
	}
}
