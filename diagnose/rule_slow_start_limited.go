package diagnose

import "github.com/pathwise-net/pathwise/quantity"

// slowStartLimited: the transfer was over before TCP was up to speed.
var slowStartLimited = Rule{
	ID:    "slow-start-limited",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{PayloadCapacity, Duration, MSS, EmptyRoundTrip, Goodput, Steady},
	Look: func(s *Subject) *Claim {
		mean, ramp := meanOver(s, s.Value(PayloadCapacity))
		if !stillRamps(s) {
			return nil
		}
		return &Claim{
			Where: OnPath, Confidence: 0.8,
			Evidence: []Name{Duration, Goodput, PayloadCapacity, EmptyRoundTrip},
			Words:    map[string]string{"ramp": quantity.FormatSeconds(ramp), "mean": quantity.FormatRate(mean)},
			Advice:   []string{"reuse", "window"},
			Allows:   s.Value(Steady), // it is what slow start reached
		}
	},
}

// stillRamps reports whether a transfer was over before TCP was up to speed, and got what it can until then.
func stillRamps(s *Subject) bool {
	mean, ramp := meanOver(s, s.Value(PayloadCapacity))
	return ramp != 0 && mean <= mostRamped*s.Value(PayloadCapacity) && s.Value(Goodput) >= leastAllowed*mean
}

// mostRamped is the share of what a path carries below which the mean of a whole transfer is mostly slow start's doing.
const mostRamped = 0.75
