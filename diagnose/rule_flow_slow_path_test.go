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

// A transfer that is over before TCP is up to speed is slow for that: neither another flow nor one-way delays are asked for, and another flow that flies is no finding.
func TestNoFlowSlowPathInSlowStart(t *testing.T) {
	for lasts, want := range map[float64]bool{testSeconds: true, 0.5: false} {
		results := with(func(p *path) { p.loaded = 0.4 }).results()
		for _, r := range results {
			for i := range r.Samples.TCPInfo {
				sample := &r.Samples.TCPInfo[i]
				sample.ElapsedSeconds *= lasts / testSeconds
				sample.Values["bytes_acked"] *= lasts / testSeconds
			}
		}
		plan := Plan(time.Second, measure.Forward)
		plan = extend(plan, len(plan), results)
		if asked := find(plan, "other-flow") >= 0; asked != want {
			t.Errorf("%g s: asks for another flow %v, want %v", lasts, asked, want)
		}
		other, _ := otherFlow(gather(results).ways[measure.Forward])
		r := measure.NewResult("transact", testStart.Add(time.Minute))
		r.Parameters, r.Metrics[measure.TransactionMedian] = other.Parameters, 0.35
		results = append(results, r)
		if longer := extend(plan, len(plan), results); !want && find(longer, "owd-loaded") >= 0 {
			t.Errorf("%g s: asks for %v", lasts, names(longer))
		}
		if found := outcome(Diagnose(results), "flow-slow-path") == Holds; found != want {
			t.Errorf("%g s: found %v, want %v", lasts, found, want)
		}
	}
}
