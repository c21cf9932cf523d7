package diagnose

// reorderingHarmful: packets come so late behind others that TCP takes them for lost, sends them again and slows down.
var reorderingHarmful = Rule{
	ID:       "reordering-harmful",
	Of:       OfWay,
	Needs:    []Name{Spurious, SpuriousShare, Steady},
	Replaces: []string{"cross-traffic", "random-loss"},
	Look: func(s *Subject) *Claim {
		if s.Value(Spurious) < enoughLosses || s.Value(SpuriousShare) <= mostlySpurious {
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

// mostlySpurious is the share of retransmissions in vain from which on reordering, not loss, is what TCP reacts to.
const mostlySpurious = 0.5
