package diagnose

// noSACK: the ends did not agree on selective acknowledgements, so that the sender learns of one lost packet a round trip, and mends
// a burst of losses for seconds.
var noSACK = Rule{
	ID:    "no-sack",
	Of:    OfWay,
	Needs: []Name{SACK, Retransmits, Steady},
	Reads: []Name{ResentShare},
	Look: func(s *Subject) *Claim {
		if s.Is(SACK) || s.Value(Retransmits) < enoughLosses {
			return nil
		}
		return &Claim{
			Where: OnPath, Confidence: 0.7,
			Evidence: []Name{Retransmits, ResentShare, Steady, LoadedRoundTrip},
			Advice:   []string{"receiver", "sender", "between"},
			Allows:   s.Value(Steady), // there is no formula
		}
	},
}
