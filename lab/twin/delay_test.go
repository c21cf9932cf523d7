package twin

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

func delays(s *lab.Spec) (all []time.Duration) {
	for _, l := range s.Links {
		all = append(all, time.Duration(*l.Delay))
	}
	return all
}

// Each hop is as far as its least answer, but no farther than what lies behind it; one that does not answer lies in
// between.
func TestDelays(t *testing.T) {
	const target = "198.51.100.1"
	ms := func(values ...float64) (all []time.Duration) {
		for _, v := range values {
			all = append(all, time.Duration(v*1e6))
		}
		return all
	}
	for _, c := range []struct {
		name    string
		results []*measure.Result
		want    []time.Duration
		silent  string
	}{
		{"ping alone", []*measure.Result{ping(0.050, 0.040, 0.041)}, ms(20), ""},
		{"trace alone", []*measure.Result{trace(hop(1, "192.0.2.9", 0.003, 0.002), hop(2, target, 0.010))}, ms(1, 4), ""},
		{"the ping's total", []*measure.Result{ping(0.040), trace(hop(1, "192.0.2.9", 0.002), hop(2, target, 0.044))},
			ms(1, 19), ""},
		{"a late router", []*measure.Result{ping(0.040), trace(hop(1, "192.0.2.9", 0.002), hop(2, "192.0.2.10", 0.050),
			hop(3, "192.0.2.11", 0.030), hop(4, target, 0.041))}, ms(1, 14, 0, 5), ""},
		{"silent routers", []*measure.Result{ping(0.040), trace(hop(1, "192.0.2.9", 0.002), hop(2, ""), hop(3, ""),
			hop(4, "192.0.2.12", 0.032), hop(5, target, 0.041))}, ms(1, 5, 5, 5, 4), "hop2 hop3"},
		{"a trace that ends before the target", []*measure.Result{ping(0.040), trace(hop(1, "192.0.2.9", 0.002),
			hop(2, "192.0.2.10", 0.030))}, ms(1, 14, 5), ""},
		{"TCP alone", []*measure.Result{transfer(false, 1e6, map[string]float64{"min_rtt_seconds": 0.02,
			"rtt_seconds": 0.021})}, ms(10), ""},
	} {
		twin, spec := mustTwin(t, c.results...)
		if diff := cmp.Diff(c.want, delays(spec)); diff != "" {
			t.Errorf("%s: delays (-want +got):\n%s", c.name, diff)
		}
		var silent []string
		for _, r := range twin.Routers {
			if r.Silent {
				silent = append(silent, r.Name)
			}
		}
		if got := strings.Join(silent, " "); got != c.silent {
			t.Errorf("%s: silent routers %q, want %q", c.name, got, c.silent)
		}
	}
}

// What the rates add to the packets that were measured with is not in the delay, or it would be there twice: an echo of
// 84 bytes takes 122 on the wire, 1.952 ms at 1 Mbit/s there and back.
func TestDelayLeavesOutSerialization(t *testing.T) {
	trains := result("capacity")
	trains.Parameters = map[string]any{"reverse": false, "size": 1500}
	trains.Metrics[measure.Capacity] = 1e6 * 1500 / 1538
	_, spec := mustTwin(t, ping(0.040), trains)
	if got, want := delays(spec)[0], 19_024*time.Microsecond; got != want {
		t.Errorf("delay %v, want %v", got, want)
	}
	if got := float64(*spec.Links[0].Rate); got != 1e6 {
		t.Errorf("rate %v, want 1e6", got)
	}
}
