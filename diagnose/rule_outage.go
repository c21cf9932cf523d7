package diagnose

// outage: for a while nothing came through, and the sender waited for its timer, which is doubled each time.
var outage = Rule{
	ID:       "outage",
	Of:       OfWay,
	In:       []State{Slow, Full},
	Needs:    []Name{TimerShare, LateSegments, LateRetransmits, Steady},
	Reads:    []Name{LossPeriod, PacedRate},
	Apart:    map[string]Name{"random-loss": LateRetransmits},
	Replaces: []string{"cross-traffic"},
	Look: func(s *Subject) *Claim {
		if s.Value(TimerShare) <= othersSilence || s.Value(LateRetransmits) > outageLoses*s.Value(LateSegments) && silence(s) < leastSilent {
			return nil
		}
		return &Claim{
			Where: OnPath, Confidence: 0.8,
			Evidence: []Name{TimerShare, LateRetransmits, Steady, Goodput},
			Advice:   []string{"flap"},
			Allows:   s.Value(Steady), // it depends on how long it lasts
			Gone:     []limit{byLoss}, // what a paced probe lost, it lost to the silence
		}
	},
}

// silence is how long a paced probe lost all that it sent, on average over its runs of losses, in seconds; 0: it lost nothing.
func silence(s *Subject) float64 {
	if s.Value(PacedRate) == 0 {
		return 0
	}
	return s.Value(LossPeriod) * pacedBytes * 8 / s.Value(PacedRate)
}

// leastSilent is the silence of a path, in seconds, that is none of single losses or short bursts: the least that Linux waits for its timer.
const leastSilent = 0.2

// outageLoses is the share of packets that a transfer loses beside one silence: those that were under way when it began. A link that
// loses all the time loses more.
const outageLoses = 0.02
