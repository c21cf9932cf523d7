package probe

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

func TestKnownText(t *testing.T) {
	for want, a := range map[string]measure.AddressInfo{
		"": {Address: "192.0.2.1"},
		"r1.example.net  [AS64500]  Example University, CH  at Geneva, CH": {Name: "r1.example.net", ASN: 64500, ASName: "EXAMPLE", Owner: "Example University",
			Country: "CH", Place: &measure.Place{City: "Geneva", Country: "CH"}},
		"[AS64500]  EXAMPLE, CH": {ASN: 64500, ASName: "EXAMPLE, CH", Country: "CH"},
		"[AS64500]  CH  at FR":   {ASN: 64500, Country: "CH", Place: &measure.Place{Country: "FR"}},
	} {
		if got := KnownText(a); got != want {
			t.Errorf("%+v: %q, want %q", a, got, want)
		}
	}
}

// What is known of addresses stands below all paths of a trace.
func TestKnownOfPaths(t *testing.T) {
	r := &measure.Result{Target: measure.Endpoint{Name: "carol", Address: "192.0.2.9"}, Samples: measure.Samples{
		Paths: &measure.PathsSample{Vertices: []measure.PathVertex{{TTL: 1, Address: "10.0.0.2"}, {TTL: 2, Address: "192.0.2.9", Final: true}},
			Links: []measure.PathLink{{From: 0, To: 1, Certain: true}}, Confidence: 0.95, Complete: true, SentPackets: 9, Flows: 6},
		Addresses: []measure.AddressInfo{{Address: "10.0.0.2", Name: "home"}, {Address: "192.0.2.9", ASN: 64500}},
	}}
	var b bytes.Buffer
	traceText(&b, r)
	want := `route to carol (192.0.2.9)
hop     interface  leads to
  1  a  10.0.0.2   b
  2  b  192.0.2.9  end
1 path; that there are no more is 95 % sure. 9 probes of 6 flows
10.0.0.2   home
192.0.2.9  [AS64500]
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff("[10.0.0.2 192.0.2.9]", fmt.Sprint(RouteAddresses(r))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
