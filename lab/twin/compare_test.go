package twin

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

func TestArguments(t *testing.T) {
	p := ping(0.02)
	p.Parameters["interval"], p.Parameters["df"] = 0.005, true
	udp := result("throughput")
	udp.Parameters = map[string]any{"proto": "udp", "rate": 4.9e6, "duration": 4.0,
		"length": 1400.0, "parallel": 1.0}
	for _, c := range []struct {
		r    *measure.Result
		want string
	}{
		{p, "ping b --json --count 1 --interval 0.005 --size 56 --df --poisson"},
		{transfer(true, 1e6), "throughput b --json --proto tcp --time 5 --reverse --cc reno"},
		{udp, "throughput b --json --proto udp --time 4 --parallel 1 --rate 4900000 --len 1400"},
		{trace(), "trace b --json"},
	} {
		if got := strings.Join(arguments(c.r, "b"), " "); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.r.Kind, got, c.want)
		}
	}
}

// Rows are OK within what is allowed, and not beyond it.
func TestCompare(t *testing.T) {
	n := 1000
	rtts, later := make([]float64, n), make([]float64, n)
	for i := range rtts {
		rtts[i] = 0.040 + float64(i%100)*1e-6
		later[i] = rtts[i] + 0.003
		if i%100 == 0 {
			rtts[i], later[i] = math.NaN(), math.NaN()
		}
		if i%20 == 0 {
			later[i] = math.NaN()
		}
	}
	verdicts := func(a, b *measure.Result) map[string]bool {
		got := map[string]bool{}
		for _, row := range compare(a, b, 0) {
			got[row.Metric] = row.OK
		}
		return got
	}
	metrics := func(ok bool) map[string]bool {
		return map[string]bool{"rtt_min_seconds": ok, "rtt_median_seconds": ok, "rtt_p95_seconds": ok, "loss_ratio": ok}
	}
	if diff := cmp.Diff(metrics(true), verdicts(ping(rtts...), ping(rtts...))); diff != "" {
		t.Errorf("the same (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(metrics(false), verdicts(ping(rtts...), ping(later...))); diff != "" {
		t.Errorf("3 ms later, five times the loss (-want +got):\n%s", diff)
	}
	for rate, ok := range map[float64]bool{91e6: true, 109e6: true, 89e6: false, 111e6: false} {
		if got := verdicts(transfer(false, 100e6), transfer(false, rate)); got["throughput_bits_per_second"] != ok {
			t.Errorf("%v of 100 Mbit/s: ok is %v", rate, !ok)
		}
	}
	slow, full := course(1, everyTwentieth), course(1, alone)
	for _, c := range []struct {
		name string
		r    *measure.Result
		want float64 // of the rate
	}{{"held by 19 losses", slow, 0.418}, {"held by a link", full, 0.1}} {
		row := compare(c.r, c.r, 0)[0]
		if got := row.Allowed / row.Original; math.Abs(got-c.want) > 0.001 {
			t.Errorf("%s: %v of the rate is allowed, want %v", c.name, got, c.want)
		}
	}
}
