package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// otherWayBack are the ways of a path there and back, of three hops each: in the middle each passes a link of its own, where verdict says that they differ.
func otherWayBack(verdict string, otherLinks int) *measure.Result {
	r := measure.NewResult("trace", testStart.Add(time.Minute))
	r.Parameters["both"] = true
	r.Metrics[measure.HopCount] = 3
	r.Samples.Hops = []measure.Hop{{TTL: 1, Addresses: []string{"10.0.0.2"}}, {TTL: 2, Addresses: []string{"10.0.1.2"}}, {TTL: 3, Addresses: []string{"10.0.2.2"}}}
	r.Samples.Route = &measure.RouteSample{Reached: true}
	r.Samples.Return = &measure.ReturnRoute{
		Hops: []measure.Hop{{TTL: 1, Addresses: []string{"10.0.2.1"}}, {TTL: 2, Addresses: []string{"10.0.3.1"}}, {TTL: 3, Addresses: []string{"10.0.0.1"}}},
		Comparison: measure.RouteComparison{Verdict: verdict, OtherLinks: otherLinks, Links: []measure.LinkPair{
			{Forward: 1, Return: 3, Mark: measure.LinkShared}, {Forward: 2, Return: 2, Mark: measure.LinkUnknown}, {Forward: 3, Return: 1, Mark: measure.LinkShared}}},
	}
	if otherLinks > 0 {
		r.Samples.Return.Comparison.Links[1].Mark = measure.LinkOther
	}
	if verdict != measure.RoutesUnknown {
		r.Metrics[measure.OneWayLinks] = float64(otherLinks)
	}
	return r
}

// returned is a path there of three hops, of which answers pass some on their way back.
func returned(hops float64) []*measure.Result {
	results := with(fullPath).results()
	for _, r := range results {
		r.Parameters["peer"] = "pathwise"
		if r.Kind == "ping" {
			r.Metrics[measure.ReverseHopCount] = hops
		}
	}
	there := otherWayBack(measure.RoutesUnknown, 0)
	there.Samples.Return, there.Started = nil, testStart
	return append(results, there)
}

// What the far end traces is believed before what the time to live of answers tells.
func TestAsymmetricRoute(t *testing.T) {
	lying := otherWayBack(measure.RoutesDiffer, 2)
	lying.Samples.Return = nil
	const links = "packets to carol go by 10.0.1.2, and what comes from there by 10.0.3.1."
	for name, c := range map[string]struct {
		hops  float64 // back
		trace *measure.Result
		want  string // of the explanation; "": no finding
	}{
		"as many hops":                          {3, nil, ""},
		"more hops back":                        {4, nil, "pass 3 hops, and its answers 4"},
		"more hops, and it traced other ones":   {4, otherWayBack(measure.RoutesDiffer, 2), links},
		"as many, and it traced other ones":     {3, otherWayBack(measure.RoutesDiffer, 2), links},
		"a host with a time to live of its own": {4, otherWayBack(measure.RoutesSame, 0), ""},
		"links of a way back that is not there": {4, lying, "pass 3 hops, and its answers 4"},
		"it cannot tell":                        {4, otherWayBack(measure.RoutesUnknown, 0), "pass 3 hops, and its answers 4"},
	} {
		results := returned(c.hops)
		if c.trace != nil {
			results = append(results, c.trace)
		}
		d := Diagnose(results)
		checkFindings(t, d)
		at := slices.IndexFunc(d.Findings, func(f measure.Finding) bool { return f.ID == "asymmetric-route" })
		if c.want == "" != (at < 0) || at >= 0 && !strings.Contains(d.Findings[at].Explanation, c.want) || d.Verdict != Healthy {
			t.Errorf("%s: %s, %+v", name, d.Verdict, d.Findings)
		}
	}
}

// The far end is asked to trace the way back once, and only where answers pass another number of hops or one way takes longer.
func TestWayBackIsAsked(t *testing.T) {
	longer := measure.NewResult("owd", testStart)
	longer.Metrics[measure.OneWay(measure.Forward, "min")], longer.Metrics[measure.OneWay(measure.Reverse, "min")] = 0.04, 0.01
	longer.Metrics[measure.OneWayError] = 0.001
	plan := Plan(8*time.Second, measure.Forward)
	for name, c := range map[string]struct {
		results []*measure.Result
		want    bool
	}{
		"as many hops":      {returned(3), false},
		"more hops back":    {returned(4), true},
		"one way is longer": {append(returned(3), longer), true},
		"an iperf3 server":  {unpeered(returned(4)), false},
	} {
		longer := Extend(plan, len(plan), c.results)
		if got := find(longer, "both-ways") >= 0; got != c.want {
			t.Errorf("%s: asked %v: %v", name, got, names(longer))
		}
		if again := Extend(longer, len(longer), c.results); slices.Contains(names(again[len(longer):]), "both-ways") {
			t.Errorf("%s: asked twice: %v", name, names(again))
		}
	}
}

// unpeered are Results of a target that runs no Pathwise.
func unpeered(results []*measure.Result) []*measure.Result {
	for _, r := range results {
		delete(r.Parameters, "peer")
	}
	return results
}

// On a real path with a detour back its routers are named.
func TestDetourRecorded(t *testing.T) {
	d := Diagnose(readRecording(t, "testdata/faults/asymmetric-route.json.gz").Results)
	at := slices.IndexFunc(d.Findings, func(f measure.Finding) bool { return f.ID == "asymmetric-route" })
	if at < 0 || !strings.Contains(d.Findings[at].Explanation, "go by 10.0.1.2, and what comes from there by 10.0.4.1, 10.0.3.1.") {
		t.Errorf("%+v", d.Findings)
	}
}
