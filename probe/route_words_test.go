package probe

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// The words of a route are the terminal's: of each hop but what the one before it told, of both ways, of what middleboxes do, and of who passes on no larger packets.
func TestWordsOf(t *testing.T) {
	r := &measure.Result{Kind: "trace", Target: measure.Endpoint{Name: "far"}}
	r.Samples.Hops = []measure.Hop{
		{TTL: 1, Addresses: []string{"10.0.0.1"}, DSCP: new(0), MPLS: []measure.MPLSLabel{{Label: 16, Class: 1, TTL: 1}}},
		{TTL: 2, Addresses: []string{"10.0.1.1"}, DSCP: new(0), Interfaces: []measure.HopPort{{Role: "arrived by", Name: "eth0", Index: 3, MTU: 1500}}},
	}
	r.Samples.Route = &measure.RouteSample{DSCPChanged: 1}
	r.Samples.Return = &measure.ReturnRoute{Hops: []measure.Hop{{TTL: 1, MTU: 1400}}, Route: measure.RouteSample{NotForwarding: 2}}
	r.Samples.BackNarrows = &measure.Narrowing{TTL: 1, Before: 2, Address: "10.0.2.1", Bytes: 1300}
	r.Samples.Middleboxes = &measure.Middleboxes{Changes: []measure.PacketChange{{Field: "MSS", From: "1460", To: "1360", After: 1, By: 2}}, FarError: "it does not answer",
		Proxy: &measure.Proxy{TTL: 1, Distance: 3}}
	want := RouteWords{
		Route: WayWords{
			Hops:  [][]string{{"[DSCP 0]", "<MPLS:L=16,E=1,S=1,T=1>"}, {"<arrived by eth0 number 3 MTU 1500>"}},
			Lines: []string{"hop 1 is the first that packets reach with another DSCP than they left with"},
		},
		Return: WayWords{
			Hops: [][]string{{"[MTU 1400]"}},
			Lines: []string{"hop 2 is the first of which nothing shows that it forwards: nothing beyond it answers",
				"on the way back packets of more than 1300 bytes vanish behind hop 1 from there (10.0.2.1), and nobody says why: a black hole"},
		},
		Middleboxes: []string{"MSS 1460 becomes 1360 between hop 1 (10.0.0.1) and hop 2 (10.0.1.1)"},
		Proxy:       "a transparent proxy answers at hop 1 in the name of far, which is 3 hops away",
		Known:       "nothing is known of options: no router quotes them; beyond that nothing: it does not answer",
	}
	if diff := cmp.Diff(want, WordsOf(r)); diff != "" {
		t.Error(diff)
	}
	r = &measure.Result{Kind: "mtu", Samples: measure.Samples{Hops: []measure.Hop{{TTL: 1, Addresses: []string{"10.0.0.1"}}, {TTL: 2, Addresses: []string{"10.0.1.1"}, Reply: mtuRefused}}}}
	r.Samples.BackNarrows = &measure.Narrowing{TTL: 1, Before: 2, Address: "10.0.2.1", Bytes: 1300}
	want = RouteWords{
		Route:  WayWords{Hops: [][]string{nil, nil}, Lines: []string{"larger packets are refused by hop 2 (10.0.1.1)"}},
		Return: WayWords{Lines: []string{"on the way back larger packets vanish behind hop 1 from there (10.0.2.1), and nobody says why: a black hole"}},
	}
	if diff := cmp.Diff(want, WordsOf(r)); diff != "" {
		t.Error(diff)
	}
}
