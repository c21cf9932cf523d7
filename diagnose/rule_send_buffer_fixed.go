package diagnose

// sendBufferFixed: the sending program set the size of its buffer, which stops the kernel from tuning it, and it is full of what is
// not yet acknowledged.
var sendBufferFixed = Rule{
	ID:    "send-buffer-fixed",
	Of:    OfWay,
	Needs: []Name{SendBufferFixed, SendBufferShare, InFlight},
	Reads: []Name{SendBuffer, Capacity, EmptyRoundTrip, RoundTrip},
	Apart: map[string]Name{"send-buffer-limited": SendBufferFixed},
	Look: func(s *Subject) *Claim {
		if s.Value(SendBufferShare) <= sendBinding || !s.Is(SendBufferFixed) {
			return nil
		}
		return &Claim{
			Where: AtSender, Confidence: confidence(0.5 + s.Value(SendBufferShare)/2),
			Evidence: []Name{SendBufferShare, SendBuffer, Steady, InFlight, Allowed},
			Advice:   []string{"program"},
			Words:    tuned{s.Value(SendBuffer), nil, s.Value(InFlight)}.words(s),
			Allows:   windowRate(s, sendShare*s.Value(SendBuffer)),
			Gone:     []limit{bySendBuffer},
		}
	},
}
