package diagnose

import (
	"math"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
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

// Round trips that wait far longer than what is under way would tell of the way back where nothing else does.
func TestWaitsForLittle(t *testing.T) {
	change := func(n Name, v float64) func(*Subject) { return func(s *Subject) { s.set(n, exactly(v, nil)) } }
	for _, c := range []struct {
		name   string
		change func(*Subject)
		want   bool
	}{
		{"nothing else tells", func(*Subject) {}, true},
		{"much is under way", change(InFlight, 400e3), false},
		{"new connections are as fast as pings", change(OpeningUsual, 0.167), false},
		{"some is lost", change(ResentShare, 0.01), false},
		{"a queue stood before", change(IdleRoundTrip, 0.3), false},
		{"acknowledgements take little of the way back", change(AcksShare, 0.01), false},
		{"packets do not wait on the way back", change(QueueBack, 0), false},
	} {
		s := &Subject{Kind: OfWay, Name: measure.Forward}
		for n, v := range map[Name]float64{Steady: 139e3, Goodput: 136e3, EmptyRoundTrip: .166, IdleRoundTrip: .166, OpeningUsual: .188, LoadedRoundTrip: 2.16, ResentShare: 0, InFlight: 2878,
			Capacity: 3.58e6, PayloadCapacity: 3.45e6, MSS: 1448, Duration: 12} {
			s.set(n, exactly(v, nil))
		}
		c.change(s)
		if got := ackPathCongested.Look(s); (got != nil) != c.want || got != nil && got.Confidence > 0.6 {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// What a transfer that was broken off got of a way of some kbit/s stood in queues as it began: trains tell what that way carries, and so what acknowledgements
// take of it.
func TestBrokenOffTransferExceedsNoCapacity(t *testing.T) {
	for _, status := range []measure.Status{measure.StatusOK, measure.StatusPartial} {
		slow := with(func(p *path) { p.capacity, p.goodput = 23_400, 46_300 })
		results := append(with(queued).results(), back(slow.results())...)
		for _, r := range results {
			if r.Parameters["reverse"] == true {
				r.Status = status
			}
		}
		want := status == measure.StatusPartial
		if got := gather(results).ways[measure.Reverse].Known(Capacity); got != want {
			t.Errorf("%s: the capacity of the way back is known %v", status, got)
		}
	}
}
