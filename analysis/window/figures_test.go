package window

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/measure"
)

// Figures are of all echoes of a window, those of the burst of its first packets, and missing is what this host did not send in time.
func TestFigures(t *testing.T) {
	answered := func(sent, rtt float64) measure.Echo {
		return measure.Echo{SentSeconds: sent, RTTSeconds: &rtt}
	}
	for name, c := range map[string]struct {
		inFlight int
		echoes   []measure.Echo
		want     measure.WindowSample
	}{
		"each answer lets one out": {2, []measure.Echo{answered(0, 0.010), answered(0.001, 0.010), answered(0.010, 0.010), answered(0.011, 0.014)},
			measure.WindowSample{InFlight: 2, Sent: 4, BitsPerSecond: 2 * 8000 / 0.0075, RTTMinSeconds: 0.010, RTTMedianSeconds: 0.010, RTTP95Seconds: 0.014,
				MissingRatio: 0.001 / 0.011 / 2, Burst: measure.WindowBurst{Passed: 2, LeftSeconds: 0.001, BitsPerSecond: 8000 / 0.001}}},
		"the second is lost, and what follows is late": {2, []measure.Echo{answered(0, 0.010), {SentSeconds: 0}, answered(0.020, 0.010)},
			measure.WindowSample{InFlight: 2, Sent: 3, Lost: 1, BitsPerSecond: 8000 / 0.010, RTTMinSeconds: 0.010, RTTMedianSeconds: 0.010, RTTP95Seconds: 0.010,
				MissingRatio: 0.25, Burst: measure.WindowBurst{Passed: 1, Lost: 1}}},
		"without answers": {1, []measure.Echo{{}}, measure.WindowSample{InFlight: 1, Sent: 1, Lost: 1, Burst: measure.WindowBurst{Lost: 1}}},
	} {
		if diff := cmp.Diff(c.want, Figures(c.inFlight, c.echoes, 1000), cmpopts.EquateApprox(1e-9, 1e-12)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
