package diagnose

import (
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// crawling is a path on which a transfer gets 2 of 97 Mbit/s, and nothing shows why.
func crawling() path {
	return with(func(p *path) { p.goodput, p.loaded = 2e6, 0.4 })
}

// Another flow that flies tells that flows are treated apart; one that is as slow tells that they are not. It is asked for where a transfer
// crawls and nothing at its ends holds it.
func TestFlowSlowPath(t *testing.T) {
	plan := Plan(time.Second, measure.Forward)
	asked := extend(plan, len(plan), crawling().results())
	if len(asked) != len(plan)+1 || asked[len(plan)].Name != "other-flow" {
		t.Fatalf("asked for %v", names(asked))
	}
	for took, want := range map[float64]string{0.45: "flow-slow-path", 9: "unexplained"} { // seconds for 3 MB
		r := measure.NewResult("transact", testStart.Add(time.Minute))
		r.Parameters = asked[len(plan)].Parameters
		r.Metrics[measure.TransactionMedian] = took
		d := Diagnose(append(crawling().results(), r))
		checkFindings(t, d)
		if d.Verdict != want {
			t.Errorf("another flow took %v s: %s, want %s", took, d.Verdict, want)
		}
		if g := gather(append(crawling().results(), r)); g.exchange != nil {
			t.Errorf("large transactions were taken for a program's: %+v", g.exchange)
		}
	}
	for name, p := range map[string]path{
		"a window":       with(smallWindow),
		"a send buffer":  with(smallSendBuffer),
		"a full path":    with(fullPath),
		"loss, no queue": with(func(p *path) { lossy(p); p.pacedSent, p.pacedLost = 10_000, 24 }),
		"others' flows":  with(func(p *path) { *p = crawling(); p.usual = 0.08 }),
		"a rate":         with(func(p *path) { idle(p); p.rateParameter = 10e6 }),
	} {
		if longer := extend(plan, len(plan), p.results()); find(longer, "other-flow") >= 0 {
			t.Errorf("%s: asked for %v", name, names(longer))
		}
	}
}
