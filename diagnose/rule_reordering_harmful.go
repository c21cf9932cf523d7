package diagnose

// reorderingHarmful: packets come so late behind others that TCP takes them for lost, sends them again and slows down.
var reorderingHarmful = Rule{
	ID:       "reordering-harmful",
	Of:       OfWay,
	Needs:    []Name{Spurious, SpuriousShare, Steady},
	Reads:    []Name{LoadedRoundTrip, Duration},
	Replaces: []string{"cross-traffic", "random-loss"},
	Look: func(s *Subject) *Claim {
		if s.Value(Spurious) < enoughLosses || s.Value(SpuriousShare) <= mostlySpurious || tooRareToSlow(s) {
			return nil
		}
		return &Claim{
			Where: OnPath, Confidence: confidence(s.Value(SpuriousShare)),
			Evidence: []Name{Spurious, SpuriousShare, ReorderedShare, Steady},
			Advice:   []string{"path", "bbr"},
			Allows:   s.Value(Steady), // there is no formula
			Gone:     []limit{byLoss},
		}
	},
}

// tooRareToSlow reports whether TCP sends so few packets again in vain that it cannot be slow for long: Linux takes back that it slowed down
// once the receiver says so, a round trip later.
func tooRareToSlow(s *Subject) bool {
	slowed := s.Value(Spurious) * s.Value(LoadedRoundTrip)
	return s.Value(Duration) > 0 && slowed < leastSlowed*s.Value(Duration)
}

// leastSlowed is the share of a transfer's time that has to be within a round trip of a packet sent in vain. Recorded paths that reorder
// packets, and are slow for it, have 0.37 and more; those of hosts that let some packets overtake others, 0.14 at the most.
const leastSlowed = 0.25

// mostlySpurious is the share of retransmissions in vain from which on reordering, not loss, is what TCP reacts to.
const mostlySpurious = 0.5
