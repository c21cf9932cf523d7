package diagnose

// sendBufferLimited: the sender's buffer is full of what is not yet acknowledged, so the program must wait.
var sendBufferLimited = Rule{
	ID:    "send-buffer-limited",
	Of:    OfWay,
	Needs: []Name{SendBufferShare, InFlight},
	Reads: []Name{SendBuffer, SendBufferFixed, SendBufferMax, Capacity, EmptyRoundTrip, RoundTrip},
	Apart: map[string]Name{"send-buffer-fixed": SendBufferFixed},
	Look: func(s *Subject) *Claim {
		if s.Value(SendBufferShare) <= sendBinding || s.Is(SendBufferFixed) {
			return nil
		}
		buffer := tuned{s.Value(SendBuffer), wmem(s.From), s.Value(InFlight)}
		advice, words := buffer.advice(s)
		return &Claim{
			Where: AtSender, Confidence: confidence(0.5 + s.Value(SendBufferShare)/2),
			Evidence: []Name{SendBufferShare, Steady, InFlight, Allowed, SendBuffer},
			Advice:   advice, Words: words,
			Allows: windowRate(s, sendShare*s.Value(SendBuffer)),
			Gone:   []limit{bySendBuffer},
		}
	},
}
