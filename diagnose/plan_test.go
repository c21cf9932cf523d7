package diagnose

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

func names(plan []Step) (all []string) {
	for _, s := range plan {
		all = append(all, s.Name)
	}
	return all
}

// The steps of each way, whole.
func TestPlan(t *testing.T) {
	want := []Step{
		{Name: "ping", Kind: "ping", Parameters: map[string]any{"count": 20, "interval": 0.05},
			Why: "how long round trips take, and how many are lost", Seconds: 1.5},
		{Name: "trace", Kind: "trace", Parameters: map[string]any{}, Why: "which way the packets go", Seconds: 1},
		{Name: "capacity-reverse", Kind: "capacity", Parameters: map[string]any{"reverse": true, "brief": true},
			Why: "what the narrowest link can carry, on the way back", Seconds: 2, Way: measure.Reverse, Round: aroundCapacity},
		{Name: "transfer-reverse", Kind: "throughput",
			Parameters: map[string]any{"reverse": true, "duration": 6.0, "length": 32768, "event-loop": true},
			Why:        "how fast data moves, and what holds it back, on the way back", Seconds: 6.5, Way: measure.Reverse},
	}
	if diff := cmp.Diff(want, Plan(6*time.Second, measure.Reverse)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	both := Plan(time.Second, measure.Forward, measure.Reverse)
	if diff := cmp.Diff([]string{"ping", "trace", "capacity", "capacity-reverse", "transfer", "transfer-reverse"}, names(both)); diff != "" {
		t.Errorf("both ways (-want +got):\n%s", diff)
	}
	for _, s := range both {
		transfer := s.Name == "transfer" || s.Name == "transfer-reverse"
		if s.Transfer() != transfer {
			t.Errorf("%s: transfer %v", s.Name, s.Transfer())
		}
	}
}

// extend is Extend but for the audits, which every slow path asks for when nothing else is.
func extend(plan []Step, made int, results []*measure.Result) []Step {
	return slices.DeleteFunc(slices.Clone(Extend(plan, made, results)), func(s Step) bool { return s.Kind == "audit" })
}

// A way that is slow, and no other, asks for audits of both hosts, for its rate and round trip, each with where its data goes.
func TestAuditsAreAsked(t *testing.T) {
	both := Plan(time.Second, measure.Forward, measure.Reverse)
	slow := hundred().results()
	for _, r := range slow {
		r.Source.Address, r.Target.Address = "10.0.0.1", "10.0.0.2"
	}
	step := func(name, why, to string, far bool) Step {
		return Step{Name: name, Kind: "audit", Why: why, Seconds: 0.7, Far: far,
			Parameters: map[string]any{"interval": 0.2, "rate": 97.5e6, "rtt": 0.05, "to": to}}
	}
	want := []Step{step("audit", "what this host is set to", "10.0.0.2", false), step("audit-far", "what the far host is set to", "10.0.0.1", true)}
	plan := both
	for at := range 8 { // the transfer, and what comes behind it
		plan = Extend(plan, 5+at, slow)
	}
	if diff := cmp.Diff(want, slices.DeleteFunc(slices.Clone(plan), func(s Step) bool { return s.Kind != "audit" })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if longer := Extend(both, len(both), with(fullPath).results()); len(longer) > len(both) {
		t.Errorf("a full path asks for %v", names(longer))
	}
}

// What the target would have to measure of itself is made only where it can.
func TestFarSteps(t *testing.T) {
	results := hundred().results()
	for far, want := range map[bool]bool{true: true, false: false} {
		var made []string
		_, without, err := Executor{Far: far, Make: func(_ context.Context, s Step) (*measure.Result, error) {
			made = append(made, s.Name)
			if i := slices.IndexFunc(results, func(r *measure.Result) bool { return r.Kind == s.Kind }); i >= 0 && s.Way != measure.Reverse {
				return results[i], nil
			}
			return nil, nil
		}}.Execute(t.Context(), Plan(time.Second, measure.Forward, measure.Reverse))
		if got := slices.Contains(made, "audit-far"); err != nil || without != "" || got != want || !slices.Contains(made, "audit") {
			t.Errorf("far %v: made %v, left out %q, %v", far, made, without, err)
		}
	}
}

// What is wrong at either host is a finding of its own, about that host.
func TestHostSettings(t *testing.T) {
	results := hundred().results()
	for _, name := range []string{"bob", "carol"} {
		r := measure.NewResult("audit", time.Time{})
		r.Source.Name, r.Parameters = name, map[string]any{"rate": 1e8, "rtt": 0.05, "to": "10.0.0.9"}
		r.Metrics[measure.HostSettingsBad] = 0
		if name == "carol" {
			r.Metrics[measure.HostSettingsBad] = 2
			r.Samples.Findings = []measure.Finding{{ID: "tcp-rmem", Severity: measure.Warning}, {ID: "rings", Severity: measure.Warning},
				{ID: "rings", Severity: measure.Warning}, {ID: "offload", Severity: measure.Info}}
		}
		results = append(results, r)
	}
	d := Diagnose(results)
	checkFindings(t, d)
	i := slices.IndexFunc(d.Findings, func(f measure.Finding) bool { return f.ID == "host-settings" })
	if i < 0 {
		t.Fatalf("not found: %+v", d.Findings)
	}
	f := d.Findings[i]
	if f.Where != "carol" || f.Way != "" || f.Severity != measure.Info || f.Advice[0].Host != "carol" ||
		f.Explanation != "What carol is set to is not what 100 Mbit/s over 50.0 ms needs: tcp-rmem, rings." || f.Evidence[0].Value != 2 ||
		f.Advice[0].Command != "pathwise host --to 10.0.0.9" {
		t.Errorf("%+v", f)
	}
	if slices.ContainsFunc(d.Findings[i+1:], func(f measure.Finding) bool { return f.ID == "host-settings" }) {
		t.Error("bob has nothing in the way")
	}
}

// Settings that the advice of another finding sets at that host are not to be set twice, and the finding says so.
func TestSettingsThatAreCured(t *testing.T) {
	const cured = " The advice that stands before sets that."
	for name, c := range map[string]struct {
		host     string
		settings []string
		cured    bool
	}{
		"what the advice sets":   {"carol", []string{"tcp-rmem"}, true},
		"more than that":         {"carol", []string{"tcp-rmem", "tcp-sack"}, false},
		"something else":         {"carol", []string{"tcp-wmem"}, false},
		"the same, at the other": {"bob", []string{"tcp-rmem"}, false},
	} {
		r := measure.NewResult("audit", time.Time{})
		r.Source.Name, r.Parameters = c.host, map[string]any{"rate": 1e8, "rtt": 0.05}
		r.Metrics[measure.HostSettingsBad] = float64(len(c.settings))
		for _, s := range c.settings {
			r.Samples.Findings = append(r.Samples.Findings, measure.Finding{ID: s, Severity: measure.Problem})
		}
		d := Diagnose(append(with(smallWindow).results(), r))
		i := slices.IndexFunc(d.Findings, func(f measure.Finding) bool { return f.ID == "host-settings" })
		if d.Verdict != "receive-window-limited" || i < 0 || strings.HasSuffix(d.Findings[i].Explanation, cured) != c.cured {
			t.Errorf("%s: %+v", name, d.Findings)
		}
	}
}

// A paced probe comes behind the transfer that asks for it, once.
func TestExtend(t *testing.T) {
	lost := with(lossy).results()
	backwards := with(lossy).results()
	for _, r := range backwards {
		if r.Kind != "ping" {
			r.Parameters["reverse"] = true
		}
		for i := range r.Samples.TCPInfo {
			r.Samples.TCPInfo[i].Direction = measure.Reverse
		}
	}
	both, forward := Plan(time.Second, measure.Forward, measure.Reverse), Plan(time.Second, measure.Forward)
	for _, c := range []struct {
		name    string
		plan    []Step
		results []*measure.Result
		want    []string
	}{
		{"nothing measured yet", both, nil, names(both)},
		{"no loss", both, with(fullPath).results(), names(both)},
		{"slow for no reason that shows", both, hundred().results(),
			[]string{"ping", "trace", "capacity", "capacity-reverse", "transfer", "other-flow", "transfer-reverse"}},
		{"loss", both, lost, []string{"ping", "trace", "capacity", "capacity-reverse", "transfer", "paced", "transfer-reverse"}},
		{"loss on the way back", both, backwards,
			[]string{"ping", "trace", "capacity", "capacity-reverse", "transfer", "transfer-reverse", "paced-reverse"}},
		{"loss on a way that is not planned", forward, backwards, names(forward)},
		{"nothing came through", both, with(func(p *path) { lossy(p); p.capacity, p.goodput = 0, 0 }).results(), names(both)},
		{"it is there", extend(both, 0, lost), lost, names(extend(both, 0, lost))},
	} {
		before := names(c.plan)
		if diff := cmp.Diff(c.want, names(extend(c.plan, 0, c.results))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if diff := cmp.Diff(before, names(c.plan)); diff != "" {
			t.Errorf("%s: the plan before has changed:\n%s", c.name, diff)
		}
	}
	want := Step{Name: "paced", Kind: "throughput", Why: "whether packets are lost on a path that is nearly empty", Seconds: 4.5, Way: measure.Forward,
		Parameters: map[string]any{"reverse": false, "proto": "udp", "rate": 9.75e6, "duration": 4.0, "length": 1400}}
	if diff := cmp.Diff(want, extend(both, 0, lost)[5]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Steps that move data can be cut down to two seconds, and no further; others cannot.
func TestShorter(t *testing.T) {
	plan := Plan(6*time.Second, measure.Forward)
	transfer := plan[3]
	for _, want := range []float64{3, 2} {
		var ok bool
		if transfer, ok = transfer.Shorter(); !ok || transfer.Parameters["duration"] != want || transfer.Seconds != want+setUpTakes {
			t.Errorf("%+v, %v; want %v s", transfer, ok, want)
		}
	}
	for _, s := range append([]Step{transfer}, plan[:3]...) {
		if shorter, ok := s.Shorter(); ok {
			t.Errorf("%s can be shorter: %+v", s.Name, shorter)
		}
	}
	if plan[3].Parameters["duration"] != 6.0 {
		t.Errorf("the step itself has changed: %+v", plan[3])
	}
}

// A probe at half of the capacity comes where losses show no queue and a slow one saw none, and not on paths faster than hosts keep up with.
func TestHalfProbe(t *testing.T) {
	plan := Plan(time.Second, measure.Forward)
	for name, c := range map[string]struct {
		path path
		want float64
	}{
		"losses without a queue":       {with(bursty), 48.75e6},
		"a slow probe lost as well":    {with(lossy), 0},
		"it was made":                  {with(func(p *path) { bursty(p); p.halfLost = 0 }), 0},
		"faster than hosts keep up to": {with(func(p *path) { bursty(p); p.capacity, p.goodput = 2e9, 200e6 }), 0},
		"capacity not known":           {with(func(p *path) { bursty(p); p.capacity = 0 }), 0},
	} {
		rate := 0.0
		for _, s := range extend(append(slices.Clone(plan), Step{Name: "paced", Way: measure.Forward}), 5, c.path.results()) {
			if s.Name == "half" {
				rate = s.Parameters["rate"].(float64)
			}
		}
		if rate != c.want {
			t.Errorf("%s: %v, want %v", name, rate, c.want)
		}
	}
}
