package diagnose

import "slices"

// receiveBufferFixed: the receiving program set the size of its buffer, which stops the kernel from tuning it, and the window that
// comes of it is used up before the path is.
var receiveBufferFixed = Rule{
	ID:    "receive-buffer-fixed",
	Of:    OfWay,
	Also:  []Kind{OfConnection},
	Needs: []Name{ReceiveBufferFixed, ReceiveWindow, ReceiveWindowShare, RoundTrip},
	Reads: []Name{ReceiveBuffer, ReceiveBufferMax, SendBufferMax, Capacity, EmptyRoundTrip, WindowMost, Steady, OwnGoodput, OwnWindow,
		WindowLeast},
	Apart: map[string]Name{"receive-window-limited": ReceiveBufferFixed, "receiver-application-slow": WindowLeast},
	Look: func(s *Subject) *Claim {
		gone, cured := unfixed(s)
		if !windowHolds(s) || !s.Is(ReceiveBufferFixed) {
			return nil
		}
		c := &Claim{
			Where: AtReceiver, Confidence: windowConfidence(s),
			Evidence: []Name{ReceiveWindowShare, ReceiveWindow, ReceiveBuffer, Steady, Allowed},
			Advice:   []string{"program"},
			Words:    tuned{s.Value(ReceiveBuffer), nil, s.Value(ReceiveWindow)}.words(s),
			Allows:   windowRate(s, s.Value(ReceiveWindow)),
			Calc:     windowCall(s, s.Value(ReceiveWindow)),
			Gone:     gone, Cured: cured,
		}
		if s.Kind == OfConnection { // the size of the buffer at the other end is not seen, but what it can offer is
			c.Says, c.Evidence = []string{"scale"}, []Name{ReceiveWindowShare, ReceiveWindow, WindowMost, Steady, OwnGoodput, OwnWindow, Allowed}
			if s.Value(WindowMost) > mostAllowed*s.Value(ReceiveWindow) {
				c.Says, c.Evidence = []string{"flat"}, slices.Insert(c.Evidence, 2, WindowLeast)
			}
		}
		return c
	},
}
