package diagnose

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// made is what a step came to in a test of a budget: its name, seconds of a transfer, bytes that it may move.
type made struct {
	Name           string
	Seconds, Bytes float64
}

// within returns what is made of a plan within a budget, where each step takes its time, and what is left out.
func within(t *testing.T, plan []Step, b Budget, cost Cost) (all []made, without string) {
	t.Helper()
	clock := time.Unix(0, 0)
	_, without, err := Executor{Budget: b, Cost: cost, Now: func() time.Time { return clock }, Make: func(_ context.Context, s Step) (*measure.Result, error) {
		clock = clock.Add(seconds(s.Seconds))
		one := made{Name: s.Name}
		if s.Transfer() {
			one.Seconds, _ = s.Parameters["duration"].(float64)
			one.Bytes, _ = s.Parameters["bytes"].(float64)
		}
		all = append(all, one)
		r := &measure.Result{Kind: s.Kind, Metrics: map[measure.Metric]float64{measure.SentBytes: one.Bytes}}
		if !s.Transfer() {
			r = nil
		}
		return r, nil
	}}.Execute(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	return all, without
}

// A budget makes transfers shorter first, and then leaves out what is worth the least.
func TestBudget(t *testing.T) {
	plan := WithTransactions(Plan(8*time.Second, measure.Forward, measure.Reverse), Program{})
	cost := func(s Step) float64 { return map[string]float64{"capacity": 2e6, "transact": 1e4, "ping": 5e3}[s.Kind] }
	transfers := func(seconds, bytes float64) (all []made) {
		for _, name := range []string{"ping", "trace", "transactions", "connections", "capacity", "capacity-reverse", "transfer", "transfer-reverse"} {
			one := made{Name: name}
			if strings.HasPrefix(name, "transfer") {
				one.Seconds, one.Bytes = seconds, bytes
			}
			all = append(all, one)
		}
		return all
	}
	for name, c := range map[string]struct {
		budget  Budget
		want    []made
		without string
	}{
		"none":                  {Budget{}, transfers(8, 0), ""},
		"enough":                {Budget{Time: time.Minute}, transfers(8, 0), ""},
		"half of each transfer": {Budget{Time: 19 * time.Second}, transfers(4, 0), ""},
		"one way": {Budget{Time: 6 * time.Second}, []made{{Name: "ping"}, {Name: "capacity"}, {Name: "transfer", Seconds: 2}},
			"left out, for the budget of 6.00 s: trace, transactions, connections, capacity-reverse, transfer-reverse"},
		"the least": {Budget{Time: leastBudget}, []made{{Name: "ping"}, {Name: "transfer", Seconds: 2}},
			"left out, for the budget of 5.00 s: trace, transactions, connections, capacity, capacity-reverse, transfer-reverse"},
		"bytes": {Budget{Bytes: 10e6}, transfers(8, 2987500), ""},
		"few bytes": {Budget{Bytes: leastMoved + 1e4}, []made{{Name: "ping"}, {Name: "transfer", Seconds: 8, Bytes: 155e3}},
			"left out, for the budget of 160 kB: trace, transactions, connections, capacity, capacity-reverse, transfer-reverse"},
	} {
		t.Run(name, func(t *testing.T) {
			got, without := within(t, plan, c.budget, cost)
			if diff := cmp.Diff(c.want, got); diff != "" || without != c.without {
				t.Errorf("(-want +got):\n%s\nleft out %q, want %q", diff, without, c.without)
			}
		})
	}
	if plan[6].Parameters["duration"] != 8.0 || plan[6].Parameters["bytes"] != nil {
		t.Errorf("the plan itself has changed: %+v", plan[6])
	}
}

func TestBudgetCannotBe(t *testing.T) {
	for text, b := range map[string]Budget{"5s": {Time: time.Second}, "150 kB": {Bytes: 10}} {
		if err := b.Validate(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%+v: %v", b, err)
		}
	}
	if err := (Budget{}).Validate(); err != nil {
		t.Error(err)
	}
}

// Only transfers end early, and the plan before stays as it is.
func TestEndEarly(t *testing.T) {
	plan := Plan(8*time.Second, measure.Forward, measure.Reverse)
	for _, s := range EndEarly(plan) {
		if _, early := s.Parameters[Narrow]; early != s.Transfer() {
			t.Errorf("%s: %v", s.Name, s.Parameters)
		}
		want := map[string]any{"transfer": 8.0, "transfer-reverse": 4.0}[s.Name]
		if s.Parameters["duration"] != want || s.Name == "transfer-reverse" && s.Seconds != 4.5 {
			t.Errorf("%s lasts %v, %v in all, want %v", s.Name, s.Parameters["duration"], s.Seconds, want)
		}
	}
	back := EndEarly(Plan(8*time.Second, measure.Reverse))
	if got := back[len(back)-1].Parameters["duration"]; got != 8.0 {
		t.Errorf("the way back alone lasts %v", got)
	}
	for _, s := range plan {
		if s.Parameters[Narrow] != nil || s.Transfer() && s.Parameters["duration"] != 8.0 {
			t.Errorf("%s has changed: %v", s.Name, s.Parameters)
		}
	}
}

// Without a cost, steps cost nothing. A step that a rule asked for is worth less than those of the same kind that every plan has.
func TestBudgetOfLaterSteps(t *testing.T) {
	plan := append(Plan(2*time.Second, measure.Forward), Step{Name: "openings", Kind: "ping", Seconds: 3})
	got, without := within(t, plan, Budget{Time: 7 * time.Second, Bytes: 1e6}, nil)
	names := []string{}
	for _, one := range got {
		names = append(names, one.Name)
	}
	if diff := cmp.Diff([]string{"ping", "trace", "capacity", "transfer"}, names); diff != "" || without != "left out, for the budget of 7.00 s and 1.00 MB: openings" {
		t.Errorf("%q (-want +got):\n%s", without, diff)
	}
}

// Of a transfer each end counts, and both ways are moved.
func TestMoved(t *testing.T) {
	r := measure.NewResult("throughput", testStart)
	for metric, value := range map[measure.Metric]float64{measure.SentBytes: 100, measure.ReceivedBytes: 90, measure.ReverseReceivedBytes: 40} {
		r.Metrics[metric] = value
	}
	cost := func(Step) float64 { return 7 }
	if got := []float64{moved(Step{}, []*measure.Result{r}, cost), moved(Step{}, nil, cost)}; got[0] != 140 || got[1] != 7 {
		t.Errorf("%v, want 140 by the Result, and 7 where there is none", got)
	}
}
