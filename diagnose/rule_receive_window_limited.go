package diagnose

// receiveWindowLimited: the receiver's window is used up before the path is.
var receiveWindowLimited = Rule{
	ID:    "receive-window-limited",
	Of:    OfWay,
	Needs: []Name{ReceiveWindow, ReceiveWindowShare, RoundTrip},
	Reads: []Name{ReceiveBuffer, ReceiveBufferFixed, ReceiveBufferMax, Capacity, EmptyRoundTrip},
	Apart: map[string]Name{"receive-buffer-fixed": ReceiveBufferFixed},
	Look: func(s *Subject) *Claim {
		if !windowHolds(s) || s.Is(ReceiveBufferFixed) {
			return nil
		}
		buffer := tuned{s.Value(ReceiveBuffer), rmem(s.To), s.Value(ReceiveWindow)}
		advice, words := buffer.advice(s)
		return &Claim{
			Where: AtReceiver, Confidence: windowConfidence(s), Evidence: ofWindow,
			Advice: advice, Words: words,
			Allows: windowRate(s, s.Value(ReceiveWindow)),
			Calc:   windowCall(s, s.Value(ReceiveWindow)),
			Gone:   []limit{byReceiveWindow},
		}
	},
}

// ofWindow is what shows that a window holds the sender.
var ofWindow = []Name{ReceiveWindowShare, ReceiveWindow, Steady, Allowed, ReceiveBufferMax}

// windowHolds reports whether the receiver's window holds the sender: the kernel says so of most of the time, or of some of it and a
// whole window goes each round trip. A sender that is paced, as by BBR, finds the window full only now and then.
func windowHolds(s *Subject) bool {
	share := s.Value(ReceiveWindowShare)
	return share > binding || share > pacedBinding && wholeWindows(s)
}

// wholeWindows reports whether a window, or nearly, goes each round trip.
func wholeWindows(s *Subject) bool {
	return s.Value(Steady) >= wholeWindow*windowRate(s, s.Value(ReceiveWindow))
}

const (
	// pacedBinding is the share of a test's time that the kernel books to the window at least where that holds a paced sender.
	pacedBinding = 0.2
	// wholeWindow is the share of a window that goes each round trip where nothing else is the limit: what the program has not read yet
	// and packets that are not full take the rest.
	wholeWindow = 0.85
)

// windowConfidence is how sure it is that the window is what holds the sender.
func windowConfidence(s *Subject) float64 {
	if share := s.Value(ReceiveWindowShare); share > binding && s.From != nil {
		return confidence(share)
	}
	return wholeWindow // as close as what goes comes to what the window allows
}
