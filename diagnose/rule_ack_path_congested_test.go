package diagnose

import (
	"math"
	"testing"
)

// What the way back carries follows from how much longer large echoes take, less what the way there takes for them. Where both are fast, or others'
// queues stand in the way, echoes do not tell.
func TestBackByEchoes(t *testing.T) {
	const rtt, there = 0.12, 4e6
	took := func(back float64) float64 { return rtt + 1144*8/there + 1144*8/back }
	for _, c := range []struct {
		name         string
		large, usual float64 // seconds
		want         float64
	}{
		{"24 kbit/s", took(24e3), rtt, 24e3},
		{"1 Mbit/s", took(1e6), rtt, 1e6},
		{"as fast as the way there", took(there), rtt, 0},
		{"a queue stands", took(24e3), took(24e3), 0},
		{"no echo came", 0, rtt, 0},
	} {
		s := &Subject{Kind: OfWay}
		s.setPositive(EmptyRoundTrip, rtt, nil)
		s.setPositive(IdleRoundTrip, c.usual, nil)
		s.setPositive(Capacity, there, nil)
		s.setPositive(LargeEcho, c.large, nil)
		if got := backByEchoes(s); math.Abs(got-c.want) > 0.01*c.want {
			t.Errorf("%s: %v bit/s, want %v", c.name, got, c.want)
		}
	}
}
