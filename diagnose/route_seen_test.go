package diagnose

import (
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// unreached is what a diagnosis has of a target that nothing comes back from but what a trace found, and of so many answered pings.
func unreached(answers float64, hops []measure.Hop, route measure.RouteSample) []*measure.Result {
	ping, trace, transfer := measure.NewResult("ping", testStart), measure.NewResult("trace", testStart), measure.NewResult("throughput", testStart)
	ping.Metrics[measure.SentPackets], ping.Metrics[measure.ReceivedPackets] = 20, answers
	trace.Samples.Hops, trace.Samples.Route = hops, &route
	transfer.Target.Name, transfer.Parameters["proto"], transfer.Parameters["reverse"] = "carol", "tcp", false
	transfer.Error = new("connect to carol: no answer")
	return []*measure.Result{ping, trace, transfer}
}

// What a trace says of a path over which nothing could be moved is the verdict, with the hops named. A silent hop is blamed for nothing, and neither
// is one that refuses a trace's packets where pings pass.
func TestRouteOfUnreached(t *testing.T) {
	hops := []measure.Hop{{TTL: 1, Addresses: []string{"10.0.0.2"}}, {TTL: 2, Addresses: []string{"10.0.1.2"}}, {TTL: 3, Addresses: []string{"10.0.0.2"}}}
	circle := measure.RouteSample{Remarks: []measure.RouteRemark{{Kind: measure.RemarkLoop, TTLs: []int{1, 2}, Addresses: []string{"10.0.0.2", "10.0.1.2"}}}}
	refused := measure.RouteSample{NotForwarding: 2, Certain: true, Why: "communication prohibited by a filter"}
	for _, c := range []struct {
		name    string
		answers float64
		route   measure.RouteSample
		want    string
		says    string
	}{
		{"a loop", 0, circle, "routing-loop", "from hop 1 (10.0.0.2) to hop 2 (10.0.1.2) packets go round in a circle, 2 hops long"},
		{"a loop of a trace alone", 20, circle, Unknown, ""},
		{"a filter", 0, refused, "route-refused", "hop 2 (10.0.1.2) on the way says communication prohibited by a filter"},
		{"a filter of a trace alone", 20, refused, Unknown, ""},
		{"a silent hop", 0, measure.RouteSample{NotForwarding: 3}, Unknown, ""},
	} {
		d := Diagnose(unreached(c.answers, hops, c.route))
		checkFindings(t, d)
		if d.Verdict != c.want || c.says != "" && !strings.Contains(d.First().Explanation, c.says) {
			t.Errorf("%s: verdict %s, want %s, which says %q: %+v", c.name, d.Verdict, c.want, c.says, d.First())
		}
	}
}
