package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// path is a Hub whose hosts have 100 Mbit/s and 50 ms between them, and measure at once. Of TCP it moves 14 Mbit/s, which is what
// the receive window lets pass, or, if lossy, 2.6 Mbit/s.
type path struct {
	*messaging
	lossy  bool
	route  string                // routers, one letter each, that traces show; "": none
	fails  map[string]string     // what Results of a kind of probe fail for
	closed error                 // what a target answers that is to open something
	held   chan struct{}         // transfers end once this is closed; nil: at once
	file   func(*measure.Result) // what Results of transfers are given to in place of being shown; nil: they are shown
	busy   []error               // what starting a transfer comes to, one after the other; nil, and from the end on: it starts

	mu       sync.Mutex
	runs     []measure.Run
	canceled []string
	shown    map[string]chan fleet.Progress
}

func (p *path) of(run string) chan fleet.Progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown[run] == nil {
		p.shown[run] = make(chan fleet.Progress, 2)
	}
	return p.shown[run]
}

func (p *path) Order(_ context.Context, _ string, o fleet.Order) error {
	switch {
	case o.Open != nil:
		return p.closed
	case o.Cancel != "":
		p.mu.Lock()
		defer p.mu.Unlock()
		p.canceled = append(p.canceled, o.Cancel)
		return nil
	}
	run := *o.Run
	transfer := run.Task.Kind == "throughput"
	if transfer && len(p.busy) > 0 {
		err := p.busy[0]
		if p.busy = p.busy[1:]; err != nil {
			return err
		}
	}
	p.mu.Lock()
	p.runs = append(p.runs, run)
	p.mu.Unlock()
	p.of(run.ID) <- fleet.Progress{Run: run.ID, Line: "begun"}
	switch {
	case transfer && p.file != nil:
		p.file(p.measure(&run))
	case !transfer || p.held == nil:
		p.of(run.ID) <- fleet.Progress{Run: run.ID, Result: p.measure(&run)}
	}
	return nil
}

func (p *path) Watch(ctx context.Context, _, run string, ready chan<- struct{}, each func(fleet.Progress)) error {
	close(ready)
	for {
		select {
		case shown := <-p.of(run):
			if each(shown); shown.Result != nil {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// measure is the Result of a run.
func (p *path) measure(run *measure.Run) *measure.Result {
	r := measure.NewResult(run.Task.Kind, run.Start)
	r.ID, r.Source.Name, r.Target.Name, r.Tool = run.ID, run.Source, run.Target, run.Tool
	address := map[string]string{"a": "10.0.0.1", "b": "10.0.0.2"}
	r.Source.Address, r.Target.Address = address[run.Source], address[run.Target]
	if why := p.fails[run.Task.Kind]; why != "" {
		r.Fail(errors.New(why))
		return r
	}
	reverse, _ := run.Task.Parameters["reverse"].(bool)
	r.Parameters["reverse"] = reverse
	switch {
	case r.Kind == "ping":
		r.Metrics[measure.RTTMin] = 0.05
	case r.Kind == "trace":
		r.Metrics[measure.HopCount] = 3
		if p.route != "" {
			r.Samples.Hops = traced(run.Source, run.Target, p.route, run.Start).Samples.Hops
		}
	case r.Kind == "transact":
		r.Parameters = map[string]any{"request": 64.0, "response": 65.0, "writes": 1.0, "turns": 1.0, "nodelay": false, "new": run.Task.Parameters["new"]}
		r.Metrics[measure.TransactionMin], r.Metrics[measure.TransactionMedian], r.Metrics[measure.TransactionIdeal] = 0.05, 0.05, 0.05
	case r.Kind == "capacity":
		r.Metrics[measure.Capacity] = 100e6
	case run.Task.Parameters["proto"] == "udp":
		r.Parameters["proto"] = "udp"
		r.Metrics[measure.SentPackets], r.Metrics[measure.LostPackets] = 3000, 30
	default:
		p.transfer(r, reverse)
	}
	return r
}

func (p *path) rate() float64 {
	if p.lossy {
		return 2.6e6
	}
	return 14e6
}

func (p *path) transfer(r *measure.Result, reverse bool) {
	rate, held, resent := p.rate(), 0.97, 0.0
	if p.lossy {
		held, resent = 0, 0.01
	}
	r.Metrics[measure.Throughput], r.Metrics[measure.RwndLimitedRatio] = rate, held
	direction := measure.Forward
	if reverse {
		direction = measure.Reverse
	}
	for at := range 7 {
		packets := rate / 8 / 1448 * float64(at)
		r.Samples.TCPInfo = append(r.Samples.TCPInfo, measure.TCPSample{End: measure.Sender, Direction: direction, Stream: 1,
			ElapsedSeconds: float64(at), Values: map[string]float64{"snd_mss_bytes": 1448, "rtt_seconds": 0.05, "min_rtt_seconds": 0.05,
				"options": 7, "snd_wnd_bytes": 87380, "notsent_bytes": 60_000, "bytes_acked": rate / 8 * float64(at),
				"data_segs_out": packets, "total_retrans_packets": packets * resent}})
	}
	r.Samples.Ends = []measure.TCPEnd{{End: measure.Receiver, Direction: direction, Stream: 1, Host: "b", ReceiveBufferBytes: 87380}}
}

// newPath is a bench over a path, whose clock is moved to where each run begins: nobody waits.
func newPath(t *testing.T, mesh string) (*bench, *path) {
	t.Helper()
	b := newBench(t, mesh)
	p := &path{messaging: b.messaging, shown: map[string]chan fleet.Progress{}}
	b.config.Hub = p
	b.plan()
	return b, p
}

// diagnosis makes one from a to b, and returns all that was shown of it.
func (b *bench) diagnosis(ctx context.Context, r DiagnosisRequest) (lines []DiagnosisLine, err error) {
	b.t.Helper()
	r.Source, r.Target = "a", "b"
	each := r.Show
	r.Show = func(l DiagnosisLine) {
		if l.Begins != nil {
			b.turn(*l.Begins)
		}
		if lines = append(lines, l); each != nil {
			each(l)
		}
	}
	_, err = b.Diagnose(ctx, r)
	return lines, err
}

// story is what lines tell, without IDs and times.
func story(lines []DiagnosisLine) (told []string) {
	for _, l := range lines {
		switch {
		case l.Plan != nil:
			told = append(told, fmt.Sprintf("%d steps", len(l.Plan)))
		case l.Diagnosis != nil:
			told = append(told, "found "+l.Diagnosis.Verdict)
		case l.State == StepDone || l.State == StepFailed:
			told = append(told, strings.TrimSpace(fmt.Sprintf("%s %s %s", l.Step, l.State, l.Error)))
		}
	}
	return told
}

// filed are the diagnoses in the archive.
func (b *bench) filed() []*measure.Result {
	b.t.Helper()
	page, err := b.archive.Results(b.t.Context(), archive.ResultQuery{Kind: "diagnosis"})
	if err != nil {
		b.t.Fatal(err)
	}
	return page.Results
}

// A diagnosis goes through its plan, adds what loss asks for, and is filed.
func TestDiagnose(t *testing.T) {
	for verdict, lossy := range map[string]bool{"receive-window-limited": false, "random-loss": true} {
		b, p := newPath(t, twoHosts+someTests)
		p.lossy = lossy
		began := b.now
		lines, err := b.diagnosis(t.Context(), DiagnosisRequest{Patience: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"8 steps", "ping done", "trace done", "transactions done", "connections done", "capacity done", "capacity-reverse done", "transfer done", "9 steps", "audit done",
			"10 steps", "audit-far done", "transfer-reverse done", "found " + verdict}
		if lossy {
			want = []string{"8 steps", "ping done", "trace done", "transactions done", "connections done", "capacity done", "capacity-reverse done", "transfer done", "9 steps", "paced done",
				"10 steps", "audit done", "11 steps", "audit-far done", "transfer-reverse done", "12 steps",
				"paced-reverse done", "found " + verdict}
		}
		if diff := cmp.Diff(want, story(lines)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", verdict, diff)
		}
		b.expectSteps(lines, p.runs)
		last := lines[len(lines)-1]
		filed := b.filed()
		if len(filed) != 1 || last.ID == "" || len(last.Diagnosis.Results) != len(p.runs) {
			t.Fatalf("%d diagnoses are filed; the last line is %+v", len(filed), last)
		}
		whole := measure.Result{Schema: measure.ResultSchema, ID: last.ID, Kind: "diagnosis", Tool: "diagnosis", Role: measure.RoleDemand, Status: measure.StatusOK,
			Source: measure.Endpoint{Name: "a", Address: "10.0.0.1"}, Target: measure.Endpoint{Name: "b", Address: "10.0.0.2"},
			Started: began, DurationSeconds: b.now.Sub(began).Seconds(), Notes: []string{},
			Parameters: map[string]any{"verdict": verdict, "results": idsOf(last.Diagnosis.Results)},
			Metrics:    map[measure.Metric]float64{measure.Achieved: p.rate(), measure.Expected: *last.Diagnosis.ExpectedBitsPerSecond}}
		if diff := cmp.Diff(&whole, filed[0], cmpopts.IgnoreFields(measure.Result{}, "Samples")); diff != "" {
			t.Errorf("%s filed (-want +got):\n%s", verdict, diff)
		}
		if diff := cmp.Diff(last.Diagnosis.Findings, b.whole(last.ID).Samples.Findings); diff != "" || len(last.Diagnosis.Findings) == 0 {
			t.Errorf("findings filed (-want +got):\n%s", diff)
		}
	}
}

func idsOf(results []*measure.Result) []any {
	var ids []any
	for _, r := range results {
		ids = append(ids, r.ID)
	}
	return ids
}

func (b *bench) whole(id string) *measure.Result {
	b.t.Helper()
	r, err := b.archive.Result(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// expectSteps checks that each step waits, runs, shows what it does and ends, in this order, one at a time but for transactions, and that no line
// has samples.
func (b *bench) expectSteps(lines []DiagnosisLine, runs []measure.Run) {
	b.t.Helper()
	told, order := map[string][]string{}, []string{}
	for _, l := range lines {
		if l.Step != "" {
			told[l.Step] = append(told[l.Step], fmt.Sprint(l.State, " ", l.Progress != nil, " ", l.Run != ""))
			if name := strings.Replace(l.Step, "connections", "transactions", 1); len(order) == 0 || order[len(order)-1] != name {
				order = append(order, name)
			}
		}
		if l.Progress != nil && l.Progress.Result != nil && l.Progress.Result.Samples.TCPInfo != nil {
			b.t.Error("a line has samples")
		}
		if l.Diagnosis != nil && slices.ContainsFunc(l.Diagnosis.Results, func(r *measure.Result) bool { return r.Samples.TCPInfo != nil }) {
			b.t.Error("the diagnosis has samples")
		}
	}
	for name, got := range told {
		if diff := cmp.Diff([]string{"waiting false true", "running false false", " true false", " true false", "done false true"}, got); diff != "" {
			b.t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if len(told) != len(runs) || len(order) != len(told)-1 {
		b.t.Errorf("%d runs of %d steps, in the order %q", len(runs), len(told), order)
	}
}

// What cannot be measured is a failed step with its reason, and the diagnosis is made of the rest. Without a transfer there is
// none.
func TestDiagnoseOfWhatThereIs(t *testing.T) {
	b, p := newPath(t, twoHosts+someTests)
	p.fails = map[string]string{"trace": "kinds: only ping, not trace", "capacity": "the target does not report packet trains"}
	lines, err := b.diagnosis(t.Context(), DiagnosisRequest{Patience: time.Hour})
	want := []string{"8 steps", "ping done", "trace failed kinds: only ping, not trace", "transactions done", "connections done",
		"capacity failed the target does not report packet trains", "capacity-reverse failed the target does not report packet trains", "transfer done", "9 steps", "audit done",
		"10 steps", "audit-far done", "transfer-reverse done", "found receive-window-limited"}
	if diff := cmp.Diff(want, story(lines)); err != nil || diff != "" {
		t.Fatalf("%v (-want +got):\n%s", err, diff)
	}
	filed := b.whole(lines[len(lines)-1].ID)
	if _, known := filed.Get(measure.Expected); known || filed.Status != measure.StatusPartial || filed.Error == nil ||
		!strings.HasPrefix(*filed.Error, "not all was measured: trace: kinds: only ping, not trace; capacity: the target") {
		t.Errorf("filed: %+v", filed)
	}
	p.closed = &fleet.Refusal{Host: "b", Why: "opens: none"}
	lines, err = b.diagnosis(t.Context(), DiagnosisRequest{Patience: time.Hour})
	if err == nil || !strings.HasPrefix(err.Error(), "no transfer was measured: open b: ") || !errors.Is(err, p.closed) {
		t.Errorf("without transfers: %v", err)
	}
	if told := story(lines); len(told) != 9 || !strings.HasPrefix(told[7], "transfer failed open b: ") || len(b.filed()) != 1 {
		t.Errorf("without transfers: %q; %d diagnoses filed", told, len(b.filed()))
	}
}

// What cannot be at all is said before anything is shown.
func TestDiagnoseErrors(t *testing.T) {
	b, _ := newPath(t, strings.Replace(callersOf, "controller:", "hosts: {a: 10.0.0.1, b: 10.0.0.2, r: {address: 10.0.0.3, reach: responder}}\n"+
		someTests[strings.Index(someTests, "tools:"):]+"controller:", 1))
	for _, c := range []struct {
		source, target string
		caller         *Caller
		want           string
	}{
		{"x", "b", nil, `source: "x": want a host of the mesh file`},
		{"a", "y", nil, `target: "y": want a host of the mesh file`},
		{"a", "a", nil, `target: "a": want another host than the source`},
		{"r", "a", nil, `source: "r": want a host that runs an agent; this one only answers`},
		{"a", "b", caller("bob", "203.0.113.1"), `caller: "bob from 203.0.113.1": want one to whom`},
	} {
		_, err := b.Diagnose(t.Context(), DiagnosisRequest{Source: c.source, Target: c.target, Caller: c.caller,
			Show: func(l DiagnosisLine) { t.Errorf("shown: %+v", l) }})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s to %s: %v, want %s", c.source, c.target, err, c.want)
		}
	}
	b.restart() // before there is a plan
	if _, err := b.Diagnose(t.Context(), DiagnosisRequest{Source: "a", Target: "b"}); !errors.Is(err, ErrNotReady) {
		t.Errorf("before there is a plan: %v", err)
	}
}

// A caller's limits hold for each step: one that would take too long is cut short, one that may not be at all fails.
func TestDiagnoseForCallers(t *testing.T) {
	b, p := newPath(t, twoHosts+strings.Replace(strings.Replace(someTests, "controller: {horizon: 30m}\n", callersOf, 1),
		"one:  {parent: all, parallel: 1}", "one:  {parallel: 1, duration: 3s, tools: [ping, capacity, throughput]}", 1))
	lines, err := b.diagnosis(t.Context(), DiagnosisRequest{Caller: caller("bob", "192.0.2.7"), Patience: time.Hour})
	want := []string{"8 steps", "ping done", `trace failed class one: tools: "trace": want one of ping, capacity, throughput`,
		`transactions failed class one: tools: "transact": want one of ping, capacity, throughput`,
		`connections failed class one: tools: "transact": want one of ping, capacity, throughput`,
		`capacity failed class one: duration: "6s": want at most 3s`, `capacity-reverse failed class one: duration: "6s": want at most 3s`, "transfer done", "9 steps",
		`audit failed class one: tools: "audit": want one of ping, capacity, throughput`, "10 steps",
		`audit-far failed class one: tools: "audit": want one of ping, capacity, throughput`,
		"transfer-reverse done", "found receive-window-limited"}
	if diff := cmp.Diff(want, story(lines)); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, r := range p.runs {
		want := map[any]float64{false: 3, true: 4}[r.Task.Parameters["reverse"]] // half of what is planned there; all of it back, with what a set-up may take
		if d := r.Task.Parameters["duration"]; r.Task.Kind == "throughput" && d != want {
			t.Errorf("a transfer of %v s, want %v", d, want)
		}
	}
	_, err = b.diagnosis(t.Context(), DiagnosisRequest{Caller: caller("alice", "203.0.113.1"), Patience: time.Hour})
	var denial *Denial
	if !errors.As(err, &denial) || !strings.HasPrefix(err.Error(), `no transfer was measured: class slow: tools: "throughput": want`) {
		t.Errorf("who may start no transfer: %v", err)
	}
	if n := b.callers.tests["one"] + b.callers.tests["slow"]; n != 0 {
		t.Errorf("%d tests are not over", n)
	}
}

// Who leaves has the step called back that is under way, and nothing is filed as a diagnosis.
func TestDiagnoseLeft(t *testing.T) {
	b, p := newPath(t, twoHosts+someTests)
	p.held = make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	run := ""
	lines, err := b.diagnosis(ctx, DiagnosisRequest{Patience: time.Hour, Show: func(l DiagnosisLine) {
		if l.Step == "transfer" && l.Run != "" {
			run = l.Run
		}
		if l.Step == "transfer" && l.Progress != nil {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || !slices.Contains(p.canceled, run) || len(b.filed()) != 0 {
		t.Errorf("%v; %s of %q called back; %d filed", err, run, p.canceled, len(b.filed()))
	}
	if told := story(lines); len(told) != 7 || told[6] != "capacity-reverse done" || b.Overview().OnDemand != 0 {
		t.Errorf("told %q; %+v", told, b.Overview())
	}
}

// All steps together wait no longer than the patience: here the capacity for 15 s, and then nothing for as long again.
func TestDiagnosePatience(t *testing.T) {
	const onlyLight = "tools: {rtt: {probe: ping}}\ngroups: {all: {mesh: all}}\ntests: [{tool: rtt, group: all, schedule: {every: 10m}}]\n"
	b, _ := newPath(t, twoHosts+onlyLight)
	fill := func() {
		bulk, err := b.demandOf(Request{Source: "b", Target: "a", Tool: "throughput", Parameters: map[string]any{"duration": "14s"}})
		if err == nil {
			_, err = b.place(bulk, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	fill()
	waited := time.Duration(0)
	last := b.now
	lines, err := b.diagnosis(t.Context(), DiagnosisRequest{Patience: 25 * time.Second, Show: func(l DiagnosisLine) {
		if l.Begins != nil {
			waited += l.Begins.Sub(last)
			last = *l.Begins
		}
		if l.Step == "capacity-reverse" && l.State == StepDone {
			fill()
		}
	}})
	told := story(lines)
	if len(told) != 9 || told[6] != "capacity-reverse done" || !strings.HasPrefix(told[7], "transfer failed both ends are not free together") ||
		!errors.Is(err, ErrNotFree) || waited < 15*time.Second || waited > 25*time.Second {
		t.Errorf("waited %v: %q, %v", waited, told, err)
	}
}

// What is to run is listed soonest first, with what somebody asked for.
func TestPlanned(t *testing.T) {
	b, p := newPath(t, threeHosts+someTests)
	p.held = make(chan struct{})
	all, err := b.Planned("", 1000)
	if err != nil || len(all) != len(b.current.Runs) {
		t.Fatalf("%d of %d runs, %v", len(all), len(b.current.Runs), err)
	}
	b.now = all[len(all)/2].End.Add(time.Second)
	ahead, err := b.Planned("c", 5)
	if err != nil || len(ahead) != 5 {
		t.Fatalf("%d runs of c, %v", len(ahead), err)
	}
	for i, r := range ahead {
		if r.Source != "c" && r.Target != "c" || !r.End.After(b.now) || r.Exclusive != (r.Tool == "bulk") || r.Run == "" ||
			i > 0 && r.Start.Before(ahead[i-1].Start) {
			t.Errorf("run %d: %+v", i, r)
		}
		if lasts := r.End.Sub(r.Start); lasts < 2*time.Second || lasts > 4*time.Second { // of the tools, with what setting up takes
			t.Errorf("%s lasts %v", r.Tool, lasts)
		}
	}
	listed := false
	_, _ = b.diagnosis(t.Context(), DiagnosisRequest{Patience: time.Hour, Show: func(l DiagnosisLine) {
		if l.Step != "ping" || l.State != StepRunning {
			return
		}
		now, err := b.Planned("a", 1000)
		listed = err == nil && slices.ContainsFunc(now, func(r PlannedRun) bool { return r.Tool == "ping" && r.Test == "" && r.Run != "" })
		p.fails = map[string]string{"throughput": "enough"}
		p.held = nil
	}})
	if !listed {
		t.Error("a test that somebody asked for is not listed")
	}
	if _, err := b.Planned("x", 1); err == nil || !strings.Contains(err.Error(), `host: "x": want a host`) {
		t.Errorf("of no host: %v", err)
	}
}
