package diagnose

import (
	"slices"
	"strings"
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

// A trace with the mark names the hop at which it is another one, and one without a mark, or of a mark that is kept, names none.
func TestRemarkedHop(t *testing.T) {
	trace := func(dscp float64, changed int) *measure.Result {
		r := measure.NewResult("trace", testStart)
		r.Parameters["dscp"] = dscp
		r.Samples.Hops = []measure.Hop{{TTL: 1, Addresses: []string{"10.0.0.2"}}, {TTL: 2, Addresses: []string{"10.0.1.2"}}}
		r.Samples.Route = &measure.RouteSample{Reached: true, DSCPChanged: changed}
		return r
	}
	probe := measure.NewResult("throughput", testStart.Add(time.Minute))
	probe.Parameters = map[string]any{"proto": "udp", "reverse": false, "dscp": 46.}
	probe.Samples.Marks = []measure.Mark{{Direction: measure.Forward, DSCP: 0, Packets: 50}}
	for name, c := range map[string]struct {
		trace *measure.Result
		names bool
	}{
		"changed at hop 2": {trace(46, 2), true},
		"nothing told":     {trace(46, 0), false},
		"without a mark":   {trace(0, 2), false},
	} {
		results := hundred().results()
		for _, r := range results {
			if r.Kind == "throughput" {
				r.Parameters["dscp"] = 46.
			}
		}
		d := Diagnose(append(results, c.trace, probe))
		checkFindings(t, d)
		at := slices.IndexFunc(d.Findings, func(f measure.Finding) bool { return f.ID == "dscp-remarked" })
		if at < 0 {
			t.Fatalf("%s: no finding in %+v", name, d.Findings)
		}
		if got := strings.Contains(d.Findings[at].Explanation, "hop 2 (10.0.1.2) is the first"); got != c.names {
			t.Errorf("%s: %s", name, d.Findings[at].Explanation)
		}
	}
}
