package diagnose

import (
	"fmt"
	"math"

	"github.com/pathwise-net/pathwise/quantity"
)

// derive adds to a way what several facts say together.
func derive(s *Subject) {
	if s.Known(LoadedRoundTrip) {
		s.set(RoundTrip, s.Fact(LoadedRoundTrip))
	} else if s.Known(EmptyRoundTrip) {
		s.set(RoundTrip, s.Fact(EmptyRoundTrip))
	}
	if sent := s.Value(Segments); sent > 0 {
		s.set(ResentShare, ratio(s.Fact(Retransmits), s.Fact(Segments)))
	}
	if s.Known(Steady) && s.Known(EmptyRoundTrip) {
		s.set(InFlight, exactly(s.Value(Steady)*s.Value(EmptyRoundTrip)/8, nil))
	}
	deriveCapacity(s)
	derivePaced(s)
}

// deriveCapacity adds what of the capacity TCP payload can have. A capacity that the transfer exceeded is dropped: trains of
// packets came slower than the transfer, as where a host cannot send or stamp single packets as fast as it moves bytes.
func deriveCapacity(s *Subject) {
	capacity, mss := s.Fact(Capacity), s.Value(MSS)
	if capacity.Value == 0 || mss == 0 {
		return
	}
	share := s.payloadShare(mss)
	carries, achieved := capacity.Value*share, max(s.Value(Goodput), s.Value(Steady))
	if achieved > carries*(1+capacityError) {
		s.facts[Capacity] = Fact{Result: capacity.Result, Unknown: fmt.Sprintf("%s were measured, of which TCP payload can have %s, and "+
			"the transfer reached %s", quantity.FormatRate(capacity.Value), quantity.FormatRate(carries), quantity.FormatRate(achieved))}
		s.exceeded = true
		return
	}
	s.set(PayloadCapacity, Fact{Value: carries, Low: capacity.Low * share, High: capacity.High * share, Result: capacity.Result})
}

// derivePaced adds what gets lost on a path that is nearly empty. A probe that took more of the path than pacedMost may have
// filled a queue, so what it lost says nothing of that.
func derivePaced(s *Subject) {
	sent, lost := s.Fact(PacedSent), s.Fact(PacedLost)
	if sent.Value == 0 {
		return
	}
	whole := max(s.Value(Capacity), s.Value(Steady))
	if rate := s.Value(PacedRate); rate > pacedMost*whole*(1+capacityError) {
		for _, n := range []Name{PacedSent, PacedLost, PacedLoss} {
			s.facts[n] = Fact{Result: sent.Result, Unknown: fmt.Sprintf("the probe by UDP took %s of a path of %s, so that its losses may be "+
				"those of a full queue", quantity.FormatRate(rate), quantity.FormatRate(whole))}
		}
		return
	}
	s.set(PacedLoss, ratio(lost, sent))
}

// ratio is the share of one count in another, with its 95 % interval: that of a Poisson count of the events, by the normal
// approximation of its square root, which is within 2 % from four events on (Bartlett 1936).
func ratio(events, of Fact) Fact {
	root := math.Sqrt(events.Value)
	low, high := max(0, root-interval95/2), root+interval95/2
	return Fact{Value: events.Value / of.Value, Low: low * low / of.Value, High: min(1, high*high/of.Value), Result: of.Result}
}

// interval95 is how many standard deviations to each side hold 95 % of a normal law.
const interval95 = 1.96
