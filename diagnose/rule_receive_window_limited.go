package diagnose

// receiveWindowLimited: the receiver's window is used up before the path is.
var receiveWindowLimited = Rule{
	ID:    "receive-window-limited",
	Of:    OfWay,
	Needs: []Name{ReceiveWindow, ReceiveWindowShare, RoundTrip},
	Reads: []Name{ReceiveBuffer, ReceiveBufferMax, Capacity, EmptyRoundTrip},
	Look: func(s *Subject) *Claim {
		if s.Value(ReceiveWindowShare) <= binding {
			return nil
		}
		buffer := tuned{"receive", s.To, s.Value(ReceiveBuffer), rmem(s.To), s.Value(ReceiveWindow)}
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
