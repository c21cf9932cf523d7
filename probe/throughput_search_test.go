package probe

import (
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// Whatever a path carries, and wherever the search starts, it ends just below it, in few trials.
func TestRateSearch(t *testing.T) {
	for carries := int64(2 * searchLeast); carries < 100_000_000_000; carries = carries * 17 / 10 {
		for _, start := range []int64{1_000_000, searchStart, 1_000_000_000} {
			s := rateSearch{start: start}
			trials := 0
			for rate := s.next(); rate > 0 && trials < searchMost; rate = s.next() {
				trials++
				s.take(rate, rate <= carries)
			}
			if s.passed > carries || float64(s.passed)*searchClose < float64(carries)/1.001 || trials > 30 {
				t.Errorf("of %d from %d on: %d after %d trials", carries, start, s.passed, trials)
			}
		}
	}
	s := rateSearch{start: searchStart}
	for rate := s.next(); rate > 0; rate = s.next() {
		s.take(rate, false)
	}
	if s.passed != 0 || s.failed < searchLeast || s.failed >= 2*searchLeast {
		t.Errorf("where nothing passes the search ends at %d", s.failed)
	}
}

func TestJudgeTrial(t *testing.T) {
	base := map[measure.Metric]float64{measure.LossRatio: 0.002, measure.LostPackets: 2, measure.SentRate: 10e6, measure.Throughput: 9.98e6, measure.PDVP95(measure.Forward): 0.01}
	for name, c := range map[string]struct {
		change map[measure.Metric]float64
		want   string
	}{
		"passes":                    {nil, ""},
		"too much lost":             {map[measure.Metric]float64{measure.LossRatio: 0.011}, "1.10 % lost"},
		"lost by the receiver":      {map[measure.Metric]float64{measure.LossRatio: 0.02, measure.ReceiverDropped: 2}, "a host lost 2.00 %"},
		"waits in a queue":          {map[measure.Metric]float64{measure.Throughput: 9e6}, "9.00 Mbit/s came of 10.0 Mbit/s"},
		"delay grows":               {map[measure.Metric]float64{measure.PDVP95(measure.Forward): 0.2}, "delay varied by 200 ms"},
		"delay grows the other way": {map[measure.Metric]float64{measure.PDVP95(measure.Reverse): 0.2}, ""},
	} {
		r := &measure.Result{Metrics: map[measure.Metric]float64{}}
		for _, set := range []map[measure.Metric]float64{base, c.change} {
			for m, v := range set {
				r.Metrics[m] = v
			}
		}
		if got := judgeTrial(r, measure.Forward); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestSearchSummary(t *testing.T) {
	passed, failed := measure.Trial{BitsPerSecond: 40e6, ReceivedBitsPerSecond: 40e6}, measure.Trial{BitsPerSecond: 80e6, Failure: "28 % lost"}
	for want, trials := range map[string][]measure.Trial{
		"40.0 Mbit/s passed; at 80.0 Mbit/s 28 % lost": {passed, failed},
		"40.0 Mbit/s passed, and none failed":          {passed},
		"none passed":                                  {failed},
	} {
		if got := searchSummary(trials); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// How many packets a datagram takes (RFC 791, RFC 8200).
func TestFragments(t *testing.T) {
	for _, c := range []struct{ length, header, mtu, want int }{
		{1472, 20, 1500, 1}, {1473, 20, 1500, 2}, {8000, 20, 1500, 6}, {1452, 40, 1500, 1}, {1453, 40, 1500, 2}, {1400, 20, 0, 1}, {65507, 20, 1500, 45}, {100, 20, 68, 3},
	} {
		if got := fragments(c.length, c.header, c.mtu); got != c.want {
			t.Errorf("%d bytes behind %d at an MTU of %d: %d fragments, want %d", c.length, c.header, c.mtu, got, c.want)
		}
	}
}
