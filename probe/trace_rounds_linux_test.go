package probe

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
)

// A trace in rounds is a test with an end: its Result has what came of each hop, and the parameters that make it again, and each round but the last is told on the way.
func TestTraceRounds(t *testing.T) {
	var told []int
	task := measure.Task{Kind: "trace", Target: "127.0.0.1", Parameters: map[string]any{"rounds": 12, "every": "100ms", "proto": "udp"}}
	p, err := New(task, Options{Rounds: func(s measure.RoundsSample) { told = append(told, s.Rounds) }})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := r.Samples.Rounds
	if s == nil || s.Rounds != 12 || len(s.Hops) != 1 || s.Hops[0].Sent != 12 || s.Hops[0].From[0].Address != "127.0.0.1" {
		t.Errorf("rounds %+v", s)
	}
	want := map[string]any{"rounds": 12., "every": 0.1, "proto": "udp", "max-ttl": 30., "port": 33434., "timeout": 1., "interval": 0.001}
	if diff := cmp.Diff(want, r.Parameters); diff != "" {
		t.Error(diff)
	}
	if len(told) == 0 || told[0] < 1 || told[len(told)-1] > 12 {
		t.Errorf("told of rounds %v", told)
	}
	d := (&Trace{Target: "127.0.0.1", Rounds: 60}).demand()
	if d.DurationSeconds != 63 || d.Bytes <= 0 || d.BitsPerSecond <= 0 {
		t.Errorf("demand %+v", d)
	}
}

// Rounds that are cut short are what was measured until then, with the error.
func TestTraceRoundsEnd(t *testing.T) {
	ctx, end := context.WithTimeout(t.Context(), 20*time.Second) // where no round is told
	defer end()
	told := func(measure.RoundsSample) { end() }
	r, err := Trace{Target: "127.0.0.1", Protocol: "udp", Rounds: mostRounds, Every: LiveFastest, Round: told}.Do(ctx)
	if !errors.Is(err, context.Canceled) || r == nil || r.Samples.Rounds == nil || r.Samples.Rounds.Rounds == 0 {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestTraceRoundsRefused(t *testing.T) {
	for _, c := range []struct {
		parameters map[string]any
		want       string
	}{
		{map[string]any{"rounds": 0}, `rounds "0": give a whole number from 1 to 3600`},
		{map[string]any{"every": "2s"}, `every "2s": give rounds as well, which it is between`},
		{map[string]any{"rounds": 5, "queries": 2}, `rounds "5": leave away queries, which is of a trace that is made once`},
		{map[string]any{"rounds": 5, "both": true}, `rounds "5": leave away both, which is of a trace that is made once`},
		{map[string]any{"rounds": 5, "every": "10ms"}, `every "10ms": give a time from 100ms to 1m0s`},
		{map[string]any{"rounds": 5, "timeout": "20s"}, `timeout "20s": give a time from 1ms to 10s`},
	} {
		err := Validate(measure.Task{Kind: "trace", Target: "a", Parameters: c.parameters})
		if err == nil || err.Error() != c.want || !input.Bad(err) {
			t.Errorf("%v: %v, want %s", c.parameters, err, c.want)
		}
	}
}
