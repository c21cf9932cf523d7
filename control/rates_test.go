package control

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

const budgetedTests = `
hosts: {a: {address: 10.0.0.1, limits: {daily: 10TB}}, b: {address: 10.0.0.2}}
controller: {horizon: 30m}
tools:
  bulk: {probe: throughput}
  back: {probe: throughput, parameters: {reverse: true}}
  both: {probe: throughput, parameters: {bidir: true}}
groups: {all: {mesh: all}}
tests:
  - {tool: bulk, group: all, schedule: {every: 10m}}
  - {tool: back, group: all, schedule: {every: 10m}}
  - {tool: both, group: all, schedule: {every: 10m}}
`

// finish files what came of a run, at rates of payload in bit/s, as the run's source does.
func (b *bench) finish(tool, pair, role string, rates ...float64) {
	b.t.Helper()
	r := measure.NewResult("throughput", b.now)
	r.Source.Name, r.Target.Name, r.Tool, r.Role = pair[:1], pair[1:], tool, measure.Role(role)
	if role == "planned" {
		r.Test = tool + "@all"
	}
	r.Way = measure.WayOf("throughput", b.Mesh().Tool(tool).Parameters)
	for i, m := range []measure.Metric{measure.Throughput, measure.ReverseThroughput}[:len(rates)] {
		r.Metrics[m] = rates[i]
	}
	if err := (receiver{b.Control}).File(b.t.Context(), r.Source.Name, []*measure.Result{r}); err != nil {
		b.t.Fatal(err)
	}
}

// reckoned is what runs of the plan are held to, in Mbit/s of payload while they last, by tool and pair.
func (b *bench) reckoned() map[string]int {
	b.t.Helper()
	const takes = 11 // seconds, with what comes before and after the data
	all := map[string]int{}
	for _, r := range b.messaging.runs() {
		if r.Start.Before(b.now.Add(time.Minute)) {
			continue // it is planned still as before
		}
		bytes, _ := r.Task.Parameters["bytes"].(float64)
		at, rate := r.Tool+" "+r.Source+r.Target, int(bytes*8/takes/1e6+0.5)
		if before, seen := all[at]; seen && before != rate {
			b.t.Errorf("%s: held to %d and to %d Mbit/s", at, before, rate)
		}
		all[at] = rate
	}
	return all
}

// renew looks rates up as the loop does when it is time to, and plans if they ask for it.
func (b *bench) renew() {
	b.t.Helper()
	b.now = b.now.Add(ratesEvery)
	if err := b.refreshRates(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	b.plan()
}

// Of each pair, way and tool the highest rate of some days says what the next run may move. A slow run does not shorten the
// next, and what was once is forgotten.
func TestRates(t *testing.T) {
	b := newBench(t, budgetedTests)
	b.plan()
	const unknown = 894 // a Gbit/s less headers
	expect := func(what string, want map[string]int) {
		t.Helper()
		if diff := cmp.Diff(want, b.reckoned()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	all := func(ab, ba, backAB, backBA, both int) map[string]int {
		return map[string]int{"bulk ab": ab, "bulk ba": ba, "back ab": backAB, "back ba": backBA, "both ab": both, "both ba": both} // both ways, whoever asks
	}
	expect("nothing was measured", all(unknown, unknown, unknown, unknown, unknown))

	b.finish("bulk", "ab", "planned", 50e6)
	b.finish("back", "ab", "planned", 30e6)
	b.finish("both", "ab", "planned", 20e6, 80e6)
	b.finish("bulk", "ba", "demand", 7e6)
	b.finish("bulk", "ba", "diagnosis/01J00000000000000000000000/transfer", 8e6)
	b.renew()
	expect("what the plan measured", all(50, unknown, 30, unknown, 80))

	b.finish("bulk", "ab", "planned", 5e6)
	b.finish("back", "ab", "planned", 31e6) // about the same
	b.finish("bulk", "ba", "planned", 200e6)
	b.renew()
	expect("a slow run, one about as fast, and a first one", all(50, 200, 30, unknown, 80))

	b.restart()
	if err := os.Remove(filepath.Join(b.folder, planFile)); err != nil {
		t.Fatal(err)
	}
	b.restart()
	b.plan()
	expect("after a restart, before the archive was asked", all(50, 200, 30, unknown, 80))

	b.now = b.now.AddDate(0, 0, ratesDays)
	b.finish("bulk", "ab", "planned", 5e6)
	b.now = b.now.AddDate(0, 0, 1)
	b.renew()
	expect("what was a week ago is forgotten", all(5, unknown, unknown, unknown, unknown))
}

// Check, plan and controller reckon alike: what the controller measured counts for all of them.
func TestOneEstimate(t *testing.T) {
	b := newBench(t, budgetedTests)
	b.finish("bulk", "ab", "planned", 50e6)
	b.renew()
	m, err := config.Load(filepath.Join(b.folder, "mesh.yaml"), probe.Catalogue{})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := ReadRates(b.folder)
	if err != nil {
		t.Fatal(err)
	}
	measured := kept.Among(m)
	p, err := NewPreview(m, 1, measured)
	if err != nil {
		t.Fatal(err)
	}
	checked := m.Estimate(func(task measure.Task) measure.Demand { d, _ := probe.Demand(task); return d }, measured)
	const runs = 144 // a day
	serves := 0.
	for _, test := range b.planner.work.schedule.Tests {
		for i := range test.Pairs {
			bytes := test.Demand.Bytes
			if test.Bytes != nil {
				bytes = test.Bytes[i]
			}
			serves += runs * bytes
		}
	}
	want := map[string]float64{"serve": serves, "check": serves, "plan": serves}
	planned := 0.
	for _, test := range p.Load().Tests {
		planned += test.BytesPerDay
	}
	got := map[string]float64{"serve": serves, "check": checked.Total.BytesPerDay, "plan": planned}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-6, 0)); diff != "" {
		t.Errorf("bytes a day (-want +got):\n%s", diff)
	}
	if without := m.Estimate(func(task measure.Task) measure.Demand { d, _ := probe.Demand(task); return d }, nil); without.Total.BytesPerDay <= checked.Total.BytesPerDay {
		t.Errorf("%v bytes a day by what was measured, %v without", checked.Total.BytesPerDay, without.Total.BytesPerDay)
	}
}

// Rates that could not be kept are kept soon after, though nothing new was measured.
func TestRatesAreKeptAfterAnError(t *testing.T) {
	b := newBench(t, budgetedTests)
	b.finish("bulk", "ab", "planned", 50e6)
	path := filepath.Join(b.folder, ratesFile)
	if err := os.Mkdir(path, 0o700); err != nil { // a folder, which no file can replace
		t.Fatal(err)
	}
	b.now = b.now.Add(ratesEvery)
	if err := b.refreshRates(t.Context()); err == nil || !strings.Contains(err.Error(), "keep rates") {
		t.Fatalf("error is %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(ratesRetry)
	if err := b.refreshRates(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := ReadRates(b.folder)
	want := map[carried]float64{{"bulk", "a", "b"}: 50e6}
	if diff := cmp.Diff(want, got.of); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// A file of rates that cannot be read costs no more than the rates.
func TestBadRates(t *testing.T) {
	for _, text := range []string{"", "{", `{"schema": "pathwise.rates/9", "rates": []}`, `{"schema": "pathwise.rates/1", "rates": [{"tool": 7}]}`} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, ratesFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := ReadRates(folder); err == nil || len(r.of) > 0 {
			t.Errorf("%q: %v, %v", text, r, err)
		}
	}
	folder := t.TempDir()
	want := &Rates{map[carried]float64{{"bulk", "a", "b"}: 5e6, {"bulk", "b", "a"}: 1.5}}
	if err := want.write(folder); err != nil {
		t.Fatal(err)
	}
	got, err := ReadRates(folder)
	if diff := cmp.Diff(fmt.Sprint(want.of), fmt.Sprint(got.of)); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// Counts of the day that cannot be read begin at zero, and the log says so of each.
func TestBadCounts(t *testing.T) {
	b := newBench(t, "hosts: {a: 192.0.2.1}\n")
	for _, name := range []string{callersFile, spendingFile} {
		if err := os.WriteFile(filepath.Join(b.folder, name), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var said strings.Builder
	c := b.config
	c.Log = slog.New(slog.NewTextHandler(&said, nil))
	if _, err := New(c); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{callersFile, spendingFile} {
		if !strings.Contains(said.String(), name) {
			t.Errorf("nothing is said of %s:\n%s", name, said.String())
		}
	}
}
