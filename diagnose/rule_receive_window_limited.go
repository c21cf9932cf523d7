package diagnose

// receiveWindowLimited: the receiver's window is used up before the path is.
var receiveWindowLimited = Rule{
	ID:    "receive-window-limited",
	Of:    OfWay,
	Needs: []Name{ReceiveWindow, ReceiveWindowShare, RoundTrip},
	Reads: []Name{ReceiveBuffer, ReceiveBufferFixed, ReceiveBufferMax, Capacity, EmptyRoundTrip},
	Apart: map[string]Name{"receive-buffer-fixed": ReceiveBufferFixed},
	Look: func(s *Subject) *Claim {
		if s.Value(ReceiveWindowShare) <= binding || s.Is(ReceiveBufferFixed) {
			return nil
		}
		buffer := tuned{s.Value(ReceiveBuffer), rmem(s.To), s.Value(ReceiveWindow)}
		advice, words := buffer.advice(s)
		return &Claim{
			Where: AtReceiver, Confidence: confidence(s.Value(ReceiveWindowShare)), Evidence: ofWindow,
			Advice: advice, Words: words,
			Allows: windowRate(s, s.Value(ReceiveWindow)),
			Gone:   []limit{byReceiveWindow},
		}
	},
}

// ofWindow is what shows that a window holds the sender.
var ofWindow = []Name{ReceiveWindowShare, ReceiveWindow, Steady, Allowed, ReceiveBufferMax}
