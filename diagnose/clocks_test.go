package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// What both clocks show is told where it cannot be right, and never the verdict: no transfer is slower for it. The path has a round trip of 50 ms.
func TestClocks(t *testing.T) {
	kept := func(bound time.Duration) measure.Clock { return measure.NewClock(bound, true) }
	loose := measure.NewClock(0, false)
	ahead := func(c measure.Clock, least, most float64) *measure.Clock {
		c.AheadSeconds = &[2]float64{least, most}
		return &c
	}
	set := func(c measure.Clock, by float64) measure.Clock { c.StepSeconds = by; return c }
	for name, c := range map[string]struct {
		near measure.Clock
		far  *measure.Clock
		says string // what its text has in it; "": it is not told of
	}{
		"nothing is known of the far one":    {loose, nil, ""},
		"both are kept":                      {kept(time.Millisecond), ahead(kept(time.Millisecond), -0.03, 0.03), ""},
		"neither is kept, and they agree":    {loose, ahead(loose, -0.02, 0.04), ""},
		"neither is kept":                    {loose, ahead(loose, 0.06, 0.11), "60.0 ms apart at the least, beside round trips of 50.0 ms"},
		"behind":                             {loose, ahead(loose, -0.11, -0.06), "60.0 ms apart"},
		"apart by less than a delay one way": {loose, ahead(loose, 0.02, 0.07), ""},
		"kernels say that it cannot be":      {kept(2 * time.Millisecond), ahead(kept(3*time.Millisecond), 0.007, 0.06), "at most 5.00 ms off"},
		"kernels allow it":                   {kept(2 * time.Millisecond), ahead(kept(5*time.Millisecond), 0.007, 0.06), ""},
		"only the far one is kept":           {loose, ahead(kept(time.Millisecond), -0.03, 0.03), "The kernel of bob says"},
		"only this one is kept":              {kept(time.Millisecond), &loose, "The kernel of carol says"},
		"this one was set":                   {set(loose, 1.5), &loose, "The clock of bob was set by 1.50 s"},
		"the far one was set back":           {kept(time.Millisecond), new(set(kept(time.Millisecond), -0.25)), "The clock of carol was set by -250 ms"},
	} {
		results := hundred().results()
		tcp := results[slices.IndexFunc(results, func(r *measure.Result) bool { return r.Kind == "throughput" })]
		tcp.Clock, tcp.TargetClock = c.near, c.far
		d := Diagnose(results)
		i := slices.IndexFunc(d.Findings, func(f measure.Finding) bool { return f.ID == "clock-unsynchronised" })
		switch {
		case c.says == "" && i >= 0:
			t.Errorf("%s: %s", name, d.Findings[i].Explanation)
		case c.says != "" && i < 0:
			t.Errorf("%s: it is not told of", name)
		case i >= 0 && (!strings.Contains(d.Findings[i].Explanation, c.says) || d.Findings[i].Severity != measure.Info):
			t.Errorf("%s: %s: %s; want %q in it", name, d.Findings[i].Severity, d.Findings[i].Explanation, c.says)
		}
		if d.Verdict != "unexplained" {
			t.Errorf("%s: verdict %s", name, d.Verdict)
		}
	}
}

// Of several tests the one whose answer came soonest tells most of how far clocks are apart.
func TestClocksOfSeveralTests(t *testing.T) {
	results := hundred().results()
	for i, wide := range []float64{0.2, 0.05, 0.3} {
		r := measure.NewResult("capacity", testStart.Add(time.Duration(i)*time.Second))
		r.TargetClock = &measure.Clock{AheadSeconds: &[2]float64{1 - wide, 1 + wide}}
		results = append(results, r)
	}
	if got := gather(results).clocks.Value(ClocksApart); got != 0.95 {
		t.Errorf("%v s apart at the least, want 0.95", got)
	}
}
