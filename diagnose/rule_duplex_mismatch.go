package diagnose

// duplexMismatch: one end of a cable takes turns and the other does not, so that packets are lost whenever both ends send. A transfer
// by TCP meets its own acknowledgements; a probe by UDP, which sends one way alone, meets nothing.
var duplexMismatch = Rule{
	ID:       "duplex-mismatch",
	Of:       OfWay,
	Needs:    []Name{PacedLoss, HalfLoss, ResentShare, InFlight, Capacity, EmptyRoundTrip, Steady},
	Reads:    []Name{Duration, Retransmits, PacedLost, SACK, SpuriousShare, BackResent, BackFull, FullLosses},
	Apart:    map[string]Name{"random-loss": PacedLoss, "policer": HalfLoss, "shallow-buffer": InFlight, "reordering-harmful": SpuriousShare},
	Suspect:  losesOwnAnswers,
	Replaces: []string{"shallow-buffer"}, // a short queue before a fast link makes few packets of a transfer get lost, and one way
	Look: func(s *Subject) *Claim {
		if !losesOwnAnswers(s) || s.Value(HalfLoss) > halfPasses {
			return nil
		}
		return &Claim{
			Where: OnPath, Confidence: 0.7,
			Evidence: []Name{Retransmits, ResentShare, BackResent, HalfLoss, PacedLoss, Steady, Capacity},
			Advice:   []string{"negotiate", "counters"},
			Allows:   s.Value(Steady), // there is no formula
		}
	},
}

// losesOwnAnswers reports whether TCP loses much with little under way, or both ways, on a path whose slow paced probe loses next to nothing.
// Where packets collide, neither way gets what it can: acknowledgements of either meet the other's data. One that loses while the other is full
// goes over a worse link than the probe, as where flows are spread over several.
func losesOwnAnswers(s *Subject) bool {
	product := s.Value(Capacity) * s.Value(EmptyRoundTrip) / 8
	bothWays := s.Value(BackResent) >= collidesBack && (s.Value(Duration) >= leastTransfer || !mostlyFull(s)) // slow start ends in losses, too
	little := s.Value(InFlight) < burstsFrom*product && !mostlyFull(s) || bothWays
	return state(s) == Slow && !s.Is(BackFull) && s.Is(SACK) && s.Value(Retransmits) >= enoughLosses && s.Value(ResentShare) >= collides &&
		little && s.Known(PacedLoss) && s.Value(PacedLost) <= 1 && s.Value(SpuriousShare) <= mostlySpurious
}

// collides is the share of packets that get lost where each that meets another is: two recorded cases lose 7 % and more.
const collides = 0.03

// collidesBack is the least that the other way loses then. Two recorded cases lose 1.5 % and more; a short queue both ways, up to 1.3 %, does
// not make either lose as much as collides.
const collidesBack = 0.01
