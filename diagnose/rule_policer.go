package diagnose

import "github.com/pathwise-net/pathwise/quantity"

// policer: what is above a rate is dropped, without a queue. A few packets pass as fast as the link is, a probe at half of that loses.
var policer = Rule{
	ID:       "policer",
	Of:       OfWay,
	Needs:    []Name{HalfLoss, HalfRate, PacedLoss, Steady, Capacity},
	Reads:    []Name{Retransmits, LoadedRoundTrip, EmptyRoundTrip, MSS},
	Apart:    map[string]Name{"shallow-buffer": HalfLoss, "random-loss": PacedLoss},
	Suspect:  losesWithoutQueue,
	Replaces: []string{"random-loss"},
	Look: func(s *Subject) *Claim {
		if s.Value(HalfLoss) < policed || s.Value(PacedLoss) > s.Value(HalfLoss)/policedMore {
			return nil
		}
		rate := s.Value(HalfRate) * (1 - s.Value(HalfLoss))
		return &Claim{
			Where: OnPath, Confidence: 0.8,
			Evidence: []Name{HalfLoss, PacedLoss, Capacity, Steady, LoadedRoundTrip},
			Words:    map[string]string{"rate": quantity.FormatRate(rate)},
			Advice:   []string{"shape", "contract"},
			Allows:   rate, Unpredicted: true, // to shape gains what the losses cost, which is the lesser part
		}
	},
}

// losesWithoutQueue reports whether TCP loses packets although no queue stands, and a probe on the nearly empty path does not.
func losesWithoutQueue(s *Subject) bool {
	return state(s) == Slow && s.Value(Retransmits) >= enoughLosses && s.Known(PacedLoss) && !pacedKeeps(s, lossRatio(s)) &&
		s.Value(LoadedRoundTrip) <= emptyQueue*s.Value(EmptyRoundTrip)
}

// halfProbe measures what gets lost at half of the capacity: a policer below that drops the rest, a short queue need not hold any.
func halfProbe(s *Subject) (Step, bool) {
	rate := float64(int64(halfPart * s.Value(Capacity)))
	if rate == 0 || rate > halfFastest || s.Known(HalfLoss) {
		return Step{}, false
	}
	return step("half", "throughput", s.Name, "whether half of what the narrowest link carries passes evenly", halfLasts+setUpTakes,
		map[string]any{"proto": "udp", "rate": rate, "duration": halfLasts, "length": pacedBytes}), true
}

const (
	halfPart  = 0.5
	halfLasts = 2.0 // seconds: what a policer's bucket holds is spent in far less
	// halfFastest is the fastest such probe, in bit/s: above, what hosts drop would be taken for the path's doing.
	halfFastest = 500e6

	// policed is the loss of a probe at half of the capacity from which on something drops by rate. policedMore is how much more that must
	// be than what is lost on the nearly empty path.
	policed     = 0.05
	policedMore = 5
)
