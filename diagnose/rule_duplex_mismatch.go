package diagnose

// duplexMismatch: one end of a cable takes turns and the other does not, so that packets are lost whenever both ends send. A transfer
// by TCP meets its own acknowledgements; a probe by UDP, which sends one way alone, meets nothing.
var duplexMismatch = Rule{
	ID:      "duplex-mismatch",
	Of:      OfWay,
	Needs:   []Name{PacedLoss, HalfLoss, ResentShare, InFlight, Capacity, EmptyRoundTrip, Steady},
	Reads:   []Name{Retransmits, PacedLost, SACK, SpuriousShare},
	Apart:   map[string]Name{"random-loss": PacedLoss, "policer": HalfLoss, "shallow-buffer": InFlight, "reordering-harmful": SpuriousShare},
	Suspect: losesOwnAnswers,
	Look: func(s *Subject) *Claim {
		if !losesOwnAnswers(s) || s.Value(HalfLoss) > halfPasses {
			return nil
		}
		return &Claim{
			Where: OnPath, Confidence: 0.7,
			Evidence: []Name{Retransmits, ResentShare, HalfLoss, PacedLoss, Steady, Capacity},
			Advice:   []string{"negotiate", "counters"},
			Allows:   s.Value(Steady), // there is no formula
		}
	},
}

// losesOwnAnswers reports whether TCP loses much with little under way, on a path whose slow paced probe loses next to nothing.
func losesOwnAnswers(s *Subject) bool {
	product := s.Value(Capacity) * s.Value(EmptyRoundTrip) / 8
	return state(s) == Slow && s.Is(SACK) && s.Value(Retransmits) >= enoughLosses && s.Value(ResentShare) >= collides &&
		s.Value(InFlight) < burstsFrom*product && s.Known(PacedLoss) && s.Value(PacedLost) <= 1 && s.Value(SpuriousShare) <= mostlySpurious
}

// collides is the share of packets that get lost where each that meets another is: two recorded cases lose 7 % and more.
const collides = 0.03
