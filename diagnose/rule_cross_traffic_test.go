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

// Where delays vary and trains of packets differ too much to tell the capacity, others take some of it only if the transfer gets less than the least that the
// trains leave.
func TestCapacityInDoubtIsNoTraffic(t *testing.T) {
	for _, c := range []struct {
		doubt  string
		steady float64
		want   bool
	}{{"", 20.9e6, true}, {"repeated trains differ too much", 20.9e6, false}, {"repeated trains differ too much", 12e6, true}} {
		s := &Subject{Kind: OfWay, Name: measure.Forward, doubt: c.doubt}
		for n, v := range map[Name]float64{Steady: c.steady, EmptyRoundTrip: .0159, IdleRoundTrip: .0181, LoadedRoundTrip: .0208, ResentShare: .015, MSS: 1448} {
			s.set(n, exactly(v, nil))
		}
		s.set(PayloadCapacity, Fact{Value: 26.9e6, Low: 22.1e6, High: 27e6})
		s.set(Capacity, Fact{Value: 27.9e6, Low: 22.9e6, High: 28e6})
		if got := crossTraffic.Look(s) != nil; got != c.want {
			t.Errorf("%v of 26.9e6, doubt %q: found %v, want %v", c.steady, c.doubt, got, c.want)
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
