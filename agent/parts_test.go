package agent

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/agent/policy"
	"github.com/pathwise-net/pathwise/agent/spool"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

func TestPlanFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan")
	empty, err := loadPlan(path)
	if err != nil || empty.Number != 0 {
		t.Errorf("no file: %+v, %v", empty, err)
	}
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	with := newRun(2, start)
	with.Responder = &measure.Responder{Kind: measure.ResponderIperf3, Port: 5201, Secret: secret}
	want := &stored{done: []string{id(9)}, Plan: fleet.Plan{Host: host, Number: 7, Issued: start, Until: start.Add(time.Hour),
		Runs:  []measure.Run{newRun(1, start), with},
		Opens: []fleet.Opening{{Run: id(3), Source: "b", From: start, Until: start, Peer: "192.0.2.1", Responder: *with.Responder}}}}
	for range 2 { // the second replaces the first
		if err := savePlan(path, want); err != nil {
			t.Fatal(err)
		}
	}
	got, err := loadPlan(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(stored{})); diff != "" {
		t.Error(diff)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file, which holds secrets, has mode %v", info.Mode())
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) {
		if p, err := readPlan(bytes.NewReader(whole[:cut])); err == nil {
			t.Fatalf("cut at %d of %d, it was read: %+v", cut, len(whole), p)
		}
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("%d files are left, want 1", len(files))
	}
}

func FuzzReadPlan(f *testing.F) {
	f.Add([]byte(`{"format":"pathwise.agent.plan/1","plan":{"host":"a"}}` + "\n" + `{"lines":1,"crc32c":1}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if p, err := readPlan(bytes.NewReader(text)); err == nil && p.Host == "" && len(text) == 0 {
			t.Error("nothing was read as a plan")
		}
	})
}

// TestPlansShareMemory has equal texts and parameters of many runs stand in memory once.
func TestPlansShareMemory(t *testing.T) {
	runs := []measure.Run{newRun(1, time.Now()), newRun(2, time.Now())}
	for i := range runs {
		runs[i].Tool = string([]byte("tool"))
		runs[i].Task.Parameters = map[string]any{"count": 5.}
	}
	a := newAgenda(&fleet.Plan{Runs: runs}, nil)
	if one, two := a.runs.events[0], a.runs.events[1]; one.shared != two.shared {
		t.Error("what both are is kept twice")
	}
	for i, e := range a.runs.events {
		if diff := cmp.Diff(runs[i], e.run()); diff != "" {
			t.Errorf("run %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestMissingCapabilities(t *testing.T) {
	p, err := policy.Parse("agent.yaml", []byte("classes: {a: {kinds: [ping, command], opens: [], programs: [/nowhere/bbcp]}}\ndefault: a"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, lack := range look(p, probe.Kinds()) {
		got[lack.Kind+" "+lack.What] = lack.Why
	}
	for what, why := range map[string]string{
		"throughput policy":             "the owner of this host allows no throughput",
		" target":                       "the owner of this host lets no iperf3 listener be opened",
		" target command":               "the owner of this host lets no program answer others' tests",
		"command program /nowhere/bbcp": "no such file or directory",
	} {
		if !strings.Contains(got[what], why) {
			t.Errorf("%q: %q, want %q", what, got[what], why)
		}
	}
	if _, ok := got["ping policy"]; ok {
		t.Error("ping is allowed, and is told to be lacking")
	}
	kinds := []probe.Kind{
		{Name: "ping", Needs: []probe.Need{{What: "socket", Try: func() error { return os.ErrPermission }}, {What: "air", Try: func() error { return nil }}}},
		{Name: "command", Needs: []probe.Need{{What: "right", Parameter: "proto", Value: "syn", Try: func() error { return os.ErrPermission }}}}}
	want := []fleet.MissingCapability{{Kind: "ping", What: "socket", Why: "permission denied"},
		{Kind: "command proto=syn", What: "right", Why: "permission denied"}}
	if diff := cmp.Diff(want, look(p, kinds)[:2]); diff != "" {
		t.Errorf("what kinds need (-want +got):\n%s", diff)
	}
	global, local := &net.IPNet{IP: net.ParseIP("2001:db8::1")}, &net.IPNet{IP: net.ParseIP("fe80::1")}
	if noIPv6([]net.Addr{local, global}, nil) != "" || noIPv6([]net.Addr{local, &net.IPNet{IP: net.ParseIP("127.0.0.1")}}, nil) == "" {
		t.Error("IPv6 is not told from its absence")
	}
	if got := disk(spool.State{Trouble: os.ErrClosed, Memory: 3, Dropped: 2}); len(got) != 2 {
		t.Errorf("a full disk: %v", got)
	}
}

func TestMoved(t *testing.T) {
	r := measure.NewResult("throughput", time.Now())
	if got := moved(r, measure.Demand{Bytes: 5}); got != 5 {
		t.Errorf("without counts, %d bytes; want what was reckoned", got)
	}
	r.Metrics = map[measure.Metric]float64{measure.SentBytes: 100, measure.ReceivedBytes: 90, measure.ReverseReceivedBytes: 7}
	if got := moved(r, measure.Demand{Bytes: 5}); got != 107 {
		t.Errorf("%d bytes, want 107", got)
	}
}

// BenchmarkAgenda claims ten thousand runs one by one, as their times come.
func BenchmarkAgenda(b *testing.B) {
	start := time.Now()
	var runs []measure.Run
	for n := range 10_000 {
		runs = append(runs, newRun(n, start.Add(time.Duration(n)*time.Second)))
	}
	for b.Loop() {
		a := newAgenda(&fleet.Plan{Runs: runs}, nil)
		for n := range runs {
			if len(a.runs.claim(start.Add(time.Duration(n)*time.Second))) != 1 {
				b.Fatal("not one run")
			}
		}
	}
}
