package diagnose

import (
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// Where nothing tells what a way carries, delays that vary before anything is moved are others' only if the transfer gets less than would fill the other way.
func TestDelaysThatVaryByThemselves(t *testing.T) {
	for _, c := range []struct {
		name   string
		back   float64 // what the other way carries; 0: not known
		steady float64
		want   bool
	}{
		{"as fast as the way back", 24.5e6, 21.8e6, false},
		{"half as fast", 24.5e6, 12e6, true},
		{"nothing is known of the way back", 0, 21.8e6, true},
	} {
		s := &Subject{Kind: OfWay, Name: measure.Forward}
		for n, v := range map[Name]float64{Steady: c.steady, Goodput: c.steady, EmptyRoundTrip: .0158, IdleRoundTrip: .0182, LoadedRoundTrip: .0218, ResentShare: .005,
			MSS: 1448, Duration: 4} {
			s.set(n, exactly(v, nil))
		}
		s.setPositive(BackCapacity, c.back, nil)
		if got := crossTraffic.Look(s) != nil; got != c.want {
			t.Errorf("%s: found %v", c.name, got)
		}
	}
}

// A paced probe that loses some under a queue tells no bad link where new connections were late as well: others fill that queue, now and then.
func TestLossWhereOpeningsWait(t *testing.T) {
	for opening, want := range map[float64]bool{0: true, .0712: true, .092: false} {
		s := &Subject{Kind: OfWay, Name: measure.Forward}
		for n, v := range map[Name]float64{Steady: 4.5e6, Goodput: 4.6e6, EmptyRoundTrip: .0706, IdleRoundTrip: .076, LoadedRoundTrip: .1086, ResentShare: .029, MSS: 1448,
			Segments: 1635, Retransmits: 48, PacedLoss: 5. / 763, PacedLost: 5, PacedSent: 763} {
			s.set(n, exactly(v, nil))
		}
		s.setPositive(OpeningUsual, opening, nil)
		if got := randomLoss.Look(s) != nil; got != want {
			t.Errorf("opened in %v: found %v", opening, got)
		}
	}
}
