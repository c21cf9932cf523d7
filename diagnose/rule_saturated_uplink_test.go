package diagnose

import "testing"

// An uplink is filled by others where it carries far less than the other way, pings waited before anything was moved, and a transfer gets
// little of it.
func TestFilledUplink(t *testing.T) {
	line := map[Name]float64{Capacity: 2e6, BackCapacity: 20e6, PayloadCapacity: 1.9e6, Steady: 0.4e6, MSS: 1448, EmptyRoundTrip: 0.02, IdleRoundTrip: 0.45}
	for _, c := range []struct {
		name    string
		differs map[Name]float64
		want    bool
	}{
		{"a line", nil, true},
		{"both ways carry as much", map[Name]float64{BackCapacity: 2e6}, false},
		{"pings do not wait", map[Name]float64{IdleRoundTrip: 0.02}, false},
		{"pings wait for one packet", map[Name]float64{IdleRoundTrip: 0.026}, false},
		{"the transfer gets it all", map[Name]float64{Steady: 1.85e6}, false},
	} {
		s := &Subject{Kind: OfWay}
		if got := filled(s.with(line).with(c.differs)); got != c.want {
			t.Errorf("%s: filled %v, want %v", c.name, got, c.want)
		}
	}
}
