package lab

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/middlebox"
	"github.com/pathwise-net/pathwise/lab/packet"
)

// A router's limit is for the errors that it sends: what none may be sent about takes nothing of it.
func TestRouteLimitsWhatItSends(t *testing.T) {
	const nowhere = "10.9.9.9"
	v := newVirtual(t, line("{r: {icmp: {rate: 1/h, burst: 1}}, s: {}}", ""))
	stray := v.udp(nowhere, lineA, 64, 100, 0)
	v.Inject(0, 0, packet.Complaint(&v.Pool, packet.Target(stray.Data), stray, packet.PortClosed, 0)) // an error about an error
	for i := range 3 {
		v.Inject(0, 0, v.udp(lineA, nowhere, 64, 100, i))
	}
	v.Advance(forever)
	want := outcome{Back: []string{"3/1 from " + lineR}, Dropped: map[string]uint64{"no_route": 3}}
	if diff := cmp.Diff(want, v.outcome(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]RouterTruth{{"r", middlebox.Counts{ICMPLimited: 2}}}, v.Truth().Routers); diff != "" {
		t.Errorf("routers (-want +got):\n%s", diff)
	}
}
