package diagnose

// ackPathCongested: the way back carries little, and acknowledgements fill it, so that the sender hears late of what arrived.
var ackPathCongested = Rule{
	ID:    "ack-path-congested",
	Of:    OfWay,
	Needs: []Name{AcksShare, LoadedRoundTrip, EmptyRoundTrip, Steady, ResentShare},
	Look: func(s *Subject) *Claim {
		lost := s.Value(ResentShare) > fewAreLost && s.Value(AcksShare) < acksExceed
		if s.Value(AcksShare) < acksFill || s.Value(LoadedRoundTrip) < queueStands*s.Value(EmptyRoundTrip) || lost {
			return nil
		}
		return &Claim{
			Where: "path from {receiver} to {sender}", Confidence: 0.7,
			Evidence: []Name{AcksShare, LoadedRoundTrip, Steady, ResentShare},
			Advice:   []string{"back", "priority"},
			Allows:   s.Value(Steady), // there is no formula
		}
	},
}

const (
	// acksFill is the share of the way back that acknowledgements take, from which on they wait for each other. What a narrow
	// way carries is known only roughly, and a DSL line of 20 Mbit/s with a tenth of it back shows 0.2.
	acksFill = 0.3
	// acksExceed is the share above which the way back cannot carry all acknowledgements, whatever else slows the sender: what gets lost
	// then are acknowledgements too, and what slow start, blind for them, sends too much.
	acksExceed = 1
	// fewAreLost: a sender whose packets get lost slows down for that.
	fewAreLost = 0.001
)
