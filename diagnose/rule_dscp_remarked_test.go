package diagnose

import (
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// What datagrams arrive with decides; where too few did, answers to marked pings tell that the mark was changed there or back. A mark that
// arrives as it was sent is no finding, and without one nothing is asked.
func TestDSCPRemarked(t *testing.T) {
	const sent = 46
	probe := func(marks ...measure.Mark) *measure.Result {
		r := measure.NewResult("throughput", testStart.Add(time.Minute))
		r.Parameters = map[string]any{"proto": "udp", "reverse": false, "dscp": float64(sent)}
		r.Samples.Marks = marks
		return r
	}
	ping := func(dscp int) *measure.Result {
		r := measure.NewResult("ping", testStart)
		r.Parameters["dscp"] = float64(sent)
		r.Metrics[measure.RTTMin], r.Metrics[measure.RTTMedian] = 0.05, 0.05
		for range 20 {
			r.Samples.Echoes = append(r.Samples.Echoes, measure.Echo{DSCP: &dscp})
		}
		return r
	}
	arrived := func(dscp int, packets int64) measure.Mark {
		return measure.Mark{Direction: measure.Forward, DSCP: dscp, Packets: packets}
	}
	for name, c := range map[string]struct {
		more []*measure.Result
		want bool
	}{
		"arrives as 0":                      {[]*measure.Result{probe(arrived(0, 50))}, true},
		"arrives as it was sent":            {[]*measure.Result{probe(arrived(sent, 50)), ping(0)}, false},
		"a part goes another way":           {[]*measure.Result{probe(arrived(0, 5), arrived(sent, 45))}, false},
		"too few arrive, answers have 0":    {[]*measure.Result{probe(arrived(0, 3)), ping(0)}, true},
		"nothing arrives, answers have all": {[]*measure.Result{ping(sent)}, false},
	} {
		results := hundred().results()
		for _, r := range results {
			if r.Kind == "throughput" {
				r.Parameters["dscp"] = float64(sent)
			}
		}
		d := Diagnose(append(results, c.more...))
		checkFindings(t, d)
		if gives(d, "dscp-remarked") != c.want {
			t.Errorf("%s: %+v", name, d.Findings)
		}
		plan := Plan(time.Second, measure.Forward)
		if longer := extend(plan, len(plan), results); find(longer, "marked") < 0 {
			t.Errorf("asked for %v", names(longer))
		}
	}
	plan := Plan(time.Second, measure.Forward)
	if longer := extend(plan, len(plan), hundred().results()); find(longer, "marked") >= 0 {
		t.Errorf("no mark was asked for: %v", names(longer))
	}
}
