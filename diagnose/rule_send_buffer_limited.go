package diagnose

// sendBufferLimited: the sender's buffer is full of what is not yet acknowledged, so the program must wait.
var sendBufferLimited = Rule{
	ID:    "send-buffer-limited",
	Of:    OfWay,
	Needs: []Name{SendBufferShare, InFlight},
	Reads: []Name{AppLimitedShare, RoomShare, ReceiveWindowShare, SendBuffer, SendBufferFixed, SendBufferMax, Capacity, EmptyRoundTrip, RoundTrip},
	Apart: map[string]Name{"send-buffer-fixed": SendBufferFixed},
	Look: func(s *Subject) *Claim {
		if !sendBufferHolds(s) || s.Is(SendBufferFixed) {
			return nil
		}
		buffer := tuned{s.Value(SendBuffer), wmem(s.From), s.Value(InFlight)}
		advice, words := buffer.advice(s)
		return &Claim{
			Where: AtSender, Confidence: confidence(0.5 + s.Value(SendBufferShare)/2),
			Evidence: []Name{SendBufferShare, Steady, InFlight, Allowed, SendBuffer},
			Advice:   advice, Words: words,
			Allows: windowRate(s, sendShare*s.Value(SendBuffer)),
			Calc:   windowCall(s, sendShare*s.Value(SendBuffer)),
			Gone:   []limit{bySendBuffer},
		}
	},
}

// sendBufferHolds reports whether the send buffer holds the sender: the kernel says so, or TCP has nothing to send nearly all the time
// although the program finds no room. Large packets leave the kernel little time in which the buffer is full by its own account.
func sendBufferHolds(s *Subject) bool {
	return s.Value(SendBufferShare) > sendBinding ||
		s.Value(AppLimitedShare) >= mostlyIdle && s.Known(RoomShare) && s.Value(RoomShare) <= 1-mostlyIdle && s.Value(ReceiveWindowShare) < binding
}
