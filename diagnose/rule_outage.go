package diagnose

// outage: for a while nothing came through, and the sender waited for its timer, which is doubled each time.
var outage = Rule{
	ID:       "outage",
	Of:       OfWay,
	In:       []State{Slow, Full},
	Needs:    []Name{TimerShare, LateSegments, LateRetransmits, Steady},
	Apart:    map[string]Name{"random-loss": LateRetransmits},
	Replaces: []string{"cross-traffic"},
	Look: func(s *Subject) *Claim {
		if s.Value(TimerShare) <= othersSilence || s.Value(LateRetransmits) > outageLoses*s.Value(LateSegments) {
			return nil
		}
		return &Claim{
			Where: OnPath, Confidence: 0.8,
			Evidence: []Name{TimerShare, LateRetransmits, Steady, Goodput},
			Advice:   []string{"flap"},
			Allows:   s.Value(Steady), // it depends on how long it lasts
		}
	},
}

// outageLoses is the share of packets that a transfer loses beside one silence: those that were under way when it began. A link that
// loses all the time loses more.
const outageLoses = 0.02
