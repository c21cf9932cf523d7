package diagnose

import (
	"math"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/calc"
	"github.com/pathwise-net/pathwise/measure"
)

// checkCalls holds what evidence says that a limit allows to the call of the calculator beside it, and tells how many there are.
func checkCalls(t *testing.T, f *measure.Finding) (calls int) {
	t.Helper()
	for _, e := range f.Evidence {
		_, call, has := strings.Cut(e.Means, "pathwise calc ")
		if !has {
			continue
		}
		calls++
		words := strings.Fields(call)
		given := map[string]string{}
		for i := 1; i < len(words); i += 2 {
			given[strings.TrimPrefix(words[i], "--")] = words[i+1]
		}
		formula, err := calc.Find(words[0])
		if err != nil {
			t.Fatal(err)
		}
		answer, err := formula.Work(given)
		if err != nil {
			t.Fatal(call, err)
		}
		const rounded = 1e-3 // answers are printed to three digits
		if got := answer.Lines[len(answer.Lines)-1].Value; math.Abs(got-e.Value) > rounded*e.Value {
			t.Errorf("%s: %s gives %g, and the finding says %g", f.ID, call, got, e.Value)
		}
	}
	return calls
}

// What a limit allows can be worked out: findings of windows, buffers and loss, with and without time-outs, say by which call.
func TestLimitsCanBeWorkedOut(t *testing.T) {
	for name, c := range map[string]struct {
		path path
		call string
	}{
		"a window":           {with(smallWindow), "window --window 76000 --rtt 50ms"},
		"a send buffer":      {with(smallSendBuffer), "window --window 78643 --rtt 50.5ms"},
		"loss":               {with(func(p *path) { lossy(p); p.pacedSent, p.pacedLost, p.goodput = 10_000, 20, 5e6 }), "mathis --c 1 --mss 1448 --rtt 50ms --loss 0.2%"},
		"loss, no time-outs": {with(func(p *path) { lossy(p); p.pacedSent, p.pacedLost, p.goodput = 10_000, 400, 1e6 }), "mathis --c 1 --mss 1448 --rtt 50ms --loss 4%"},
		"loss and time-outs": {with(func(p *path) { lossy(p); p.pacedSent, p.pacedLost, p.goodput, p.timers = 10_000, 400, 1e6, true }), "padhye --mss 1448 --rtt 50ms --loss 4%"},
	} {
		f := Diagnose(c.path.results()).First()
		if f == nil || checkCalls(t, f) != 1 {
			t.Errorf("%s: %+v", name, f)
			continue
		}
		told := false
		for _, e := range f.Evidence {
			told = told || e.Means == "what this limit allows: pathwise calc "+c.call
		}
		if !told {
			t.Errorf("%s: evidence %+v, want %s", name, f.Evidence, c.call)
		}
	}
}
