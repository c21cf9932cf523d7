package diagnose

import (
	"math"

	"github.com/pathwise-net/pathwise/measure"
)

// delayAsymmetry: one way takes longer than the other by more than the clocks of both ends may be off: a detour one way, or a queue that never
// empties. Each round trip pays for it, and shows nothing of which way it is. It is measured where both clocks are kept well enough, and the path is
// slow, its ways have other numbers of hops, or clocks that are right seem to be apart.
//
// It is a remark however long the way is: no transfer gains by the other way's being as long.
//
// Where a clock is ahead, one way seems longer and the other shorter by as much, so that their difference is off by twice the error.
var delayAsymmetry = Rule{
	ID:    "delay-asymmetry",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{WayLeast, BackLeast, WayError, EmptyRoundTrip, Steady},
	Reads: []Name{ClocksMost, ClockAhead, HopsThere, HopsBack},
	Apart: map[string]Name{"asymmetric-route": WayLeast},
	Suspect: func(s *Subject) bool {
		hops := s.Known(HopsThere) && s.Known(HopsBack) && s.Value(HopsThere) != s.Value(HopsBack)
		told := s.Known(ClocksMost) && s.Value(EmptyRoundTrip) > asymmetric(s)+2*s.Value(ClocksMost) // else no difference could be
		return s.Name == measure.Forward && told && (hops || state(s) == Slow || seemApart(s))
	},
	Look: func(s *Subject) *Claim {
		longer := s.Value(WayLeast) - s.Value(BackLeast)
		if s.Name != measure.Forward || !longerOneWay(s) { // it is one thing of both ways, and told once
			return nil
		}
		c := &Claim{
			Severity: measure.Info, Where: OnPath, Confidence: 0.9,
			Evidence: []Name{WayLeast, BackLeast, WayError, EmptyRoundTrip},
			Advice:   []string{"there"},
			Allows:   s.Value(Steady), Unpredicted: true,
		}
		if longer < 0 {
			c.Where, c.Says, c.Advice = "path from {receiver} to {sender}", []string{"back"}, []string{"back"}
		}
		return c
	},
}

// seemApart says that the clocks may be as right as their kernels say, and that one way takes longer then. How far the far clock may be ahead was
// told by a message each way: at the most as long as the one to it took, and behind at the most as long as the one from it.
func seemApart(s *Subject) bool {
	if !s.Known(ClockAhead) || !s.Known(ClocksMost) {
		return false
	}
	least, most, off := s.Fact(ClockAhead).Low, s.Fact(ClockAhead).High, s.Value(ClocksMost)
	return least <= off && most >= -off && math.Abs(most+least)-2*off > asymmetric(s)
}

// longerOneWay says that one way is known to take longer than the other. Where packets seem to come before they left, the clocks are off by more
// than their kernels say, and nothing is known.
func longerOneWay(s *Subject) bool {
	if !s.Known(WayLeast) || !s.Known(BackLeast) || !s.Known(WayError) || min(s.Value(WayLeast), s.Value(BackLeast)) < -s.Value(WayError) {
		return false
	}
	return math.Abs(s.Value(WayLeast)-s.Value(BackLeast))-2*s.Value(WayError) > asymmetric(s)
}

// asymmetric is by how much a way must take longer than the other one, in seconds: a quarter of the round trip, as lines that take longer one way
// for their own coding differ by less, and what 500 km of detour take.
func asymmetric(s *Subject) float64 {
	return max(s.Value(EmptyRoundTrip)/4, 0.005)
}
