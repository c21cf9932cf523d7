package diagnose

import (
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// What packets beside a transfer took counts, and not what its own did: only those tell what others wait where flows have queues of their own.
func TestBesideTransfer(t *testing.T) {
	for _, c := range []struct {
		by        any
		own       float64
		beside    float64
		told      bool
		bufferful bool
	}{
		{nil, 0.3, 0, false, true},
		{"tcp_info", 0.3, 0.3, false, true},
		{"stamp", 0.3, 0.3, true, true},
		{"stamp", 0.3, 0.03, true, false},
		{"stamp", 0.05, 0.3, true, true},
	} {
		r := &measure.Result{Parameters: map[string]any{}, Metrics: map[measure.Metric]float64{}}
		if c.by != nil {
			r.Parameters["round_trips_by"], r.Metrics[measure.LoadedRTTMedian] = c.by, c.beside
		}
		value, told := besideTransfer(nil, r)
		if told != c.told {
			t.Errorf("by %v: told %v", c.by, told)
		}
		s := &Subject{}
		s.set(LoadedRoundTrip, exactly(c.own, r))
		s.set(EmptyRoundTrip, exactly(0.02, r))
		s.set(Steady, exactly(1e7, r))
		if told {
			s.set(BesideRoundTrip, exactly(value, r))
		}
		if got := bufferbloat.Look(s) != nil; got != c.bufferful {
			t.Errorf("%+v: claimed %v", c, got)
		}
	}
}
