package probe

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/analysis/passage"
	"github.com/pathwise-net/pathwise/measure"
)

// availabilityOf are the four figures, of both ways or of one.
func availabilityOf(connectivity, availability, longest, outages float64, names ...measure.Metric) map[measure.Metric]float64 {
	if names == nil {
		names = []measure.Metric{measure.Connectivity, measure.Availability, measure.OutageLongest, measure.Outages}
	}
	return map[measure.Metric]float64{names[0]: connectivity, names[1]: availability, names[2]: longest, names[3]: outages}
}

func TestEchoAvailability(t *testing.T) {
	for name, c := range map[string]struct {
		fates    string // x: lost, _: none was sent for so long
		interval time.Duration
		want     map[measure.Metric]float64
	}{
		"all came":              {"....", time.Second, availabilityOf(1, 1, 0, 0)},
		"two lost are loss":     {".xx.", time.Second, availabilityOf(1, 1, 0, 0)},
		"an outage":             {".xxx....xx", time.Second, availabilityOf(1, 0.7, 3, 1)},
		"two, one at the end":   {".xxx.xxxx.x.x.xxxxxx", time.Second, availabilityOf(1, 1-13./20, 6, 3)},
		"too short for one":     {".xxxxx..", 20 * time.Millisecond, availabilityOf(1, 1, 0, 0)},
		"nothing came":          {"xxxx", time.Second, availabilityOf(0, 0, 4, 1)},
		"a pause is not known":  {"..x_____________________________xx....", time.Second, availabilityOf(1, 1, 0, 0)},
		"of windows":            {".xxxx", 0, map[measure.Metric]float64{measure.Connectivity: 1}},
		"nothing was sent":      {"", time.Second, map[measure.Metric]float64{}},
		"one that came":         {".", time.Second, availabilityOf(1, 1, 0, 0)},
		"one that did not come": {"x", time.Second, map[measure.Metric]float64{measure.Connectivity: 0}},
	} {
		var echoes []measure.Echo
		for i, fate := range c.fates {
			e := measure.Echo{SentSeconds: float64(i)}
			if c.interval > 0 {
				e.SentSeconds *= c.interval.Seconds()
			}
			if fate == '.' {
				e.RTTSeconds = new(0.01)
			}
			if fate != '_' {
				echoes = append(echoes, e)
			}
		}
		got := map[measure.Metric]float64{}
		addAvailability(got, "", echoPassages(echoes), c.interval)
		if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// An outage of one way is none of the other. Of the last packets, which were not answered, only both ways together know.
func TestOWDAvailability(t *testing.T) {
	began := time.Now()
	ok, there, back := [2]float64{20, 10}, [2]float64{-1, 0}, [2]float64{20, -1}
	packets, arrivals := reflectedPackets(began, time.Hour, ok, there, there, there, ok, back, back, back, back, ok, there, there, there)
	f := reduceOWD(packets, arrivals, began.Round(0), math.NaN())
	both, forward, reverse := owdPassages(packets, began, f.ways)
	got := map[measure.Metric]float64{}
	addAvailability(got, "", both, 100*time.Millisecond)
	addAvailability(got, measure.Forward, forward, 100*time.Millisecond)
	addAvailability(got, measure.Reverse, reverse, 100*time.Millisecond)
	want := availabilityOf(1, 3./13, 0.4, 3)
	for way, figures := range map[string][2]float64{measure.Forward: {0.7, 0.3}, measure.Reverse: {0.6, 0.4}} {
		for m, v := range availabilityOf(1, figures[0], figures[1], 1, measure.ConnectivityOn(way), measure.AvailabilityOn(way),
			measure.OutageLongestOn(way), measure.OutagesOn(way)) {
			want[m] = v
		}
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	both, forward, reverse = owdPassages(packets, began, passage.Ways{})
	if len(both) != len(packets) || forward != nil || reverse != nil {
		t.Errorf("of ways that nobody knows: %v, %v", forward, reverse)
	}
}
