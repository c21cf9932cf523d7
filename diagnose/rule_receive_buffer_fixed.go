package diagnose

// receiveBufferFixed: the receiving program set the size of its buffer, which stops the kernel from tuning it, and the window that
// comes of it is used up before the path is.
var receiveBufferFixed = Rule{
	ID:    "receive-buffer-fixed",
	Of:    OfWay,
	Needs: []Name{ReceiveBufferFixed, ReceiveWindow, ReceiveWindowShare, RoundTrip},
	Reads: []Name{ReceiveBuffer, ReceiveBufferMax, SendBufferMax, Capacity, EmptyRoundTrip},
	Apart: map[string]Name{"receive-window-limited": ReceiveBufferFixed},
	Look: func(s *Subject) *Claim {
		gone, cured := unfixed(s)
		if !windowHolds(s) || !s.Is(ReceiveBufferFixed) {
			return nil
		}
		return &Claim{
			Where: AtReceiver, Confidence: windowConfidence(s),
			Evidence: []Name{ReceiveWindowShare, ReceiveWindow, ReceiveBuffer, Steady, Allowed},
			Advice:   []string{"program"},
			Words:    tuned{s.Value(ReceiveBuffer), nil, s.Value(ReceiveWindow)}.words(s),
			Allows:   windowRate(s, s.Value(ReceiveWindow)),
			Gone:     gone, Cured: cured,
		}
	},
}
