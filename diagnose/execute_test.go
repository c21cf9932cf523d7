package diagnose

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// The light steps at the start of a plan are begun together, and ended when the plan is, also where a step ends it early. A budget counts what each
// step takes, so that each waits for its turn then, and so does a transaction of more than a packet.
func TestExecuteAhead(t *testing.T) {
	ends := errors.New("no further step makes sense")
	for _, c := range []struct {
		name    string
		program Program
		budget  Budget
		fails   string // a step
		want    []string
	}{
		{name: "small transactions", want: []string{"ping", "trace", "transactions", "connections"}},
		{name: "large transactions", program: Program{Pattern: map[string]any{"response": 4096.0}}, want: []string{"ping", "trace"}},
		{name: "a step fails", fails: "ping", want: []string{"ping", "trace", "transactions", "connections"}},
		{name: "a budget", budget: Budget{Time: time.Hour}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var begun, made []string
			ended := c.want == nil
			e := Executor{Budget: c.budget, Make: func(_ context.Context, s Step) (*measure.Result, error) {
				made = append(made, s.Name)
				if s.Name == c.fails {
					return nil, ends
				}
				return nil, nil
			}, Ahead: func(ctx context.Context, steps []Step) func() {
				for _, s := range steps {
					begun = append(begun, s.Name)
				}
				return func() { ended = ctx.Err() != nil }
			}}
			plan := WithTransactions(Plan(time.Second, measure.Forward), c.program)
			_, _, err := e.Execute(t.Context(), plan)
			want := len(plan)
			if c.fails != "" {
				want = 1
			}
			if !slices.Equal(begun, c.want) || !ended || len(made) != want || (err != nil) != (c.fails != "") {
				t.Errorf("begun %v, ended %v, made %v, error %v; want %v begun and %d made", begun, ended, made, err, c.want, want)
			}
		})
	}
}
