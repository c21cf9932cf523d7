package diagnose

// applicationLimited: the program could have given TCP more nearly all the time, and did not.
var applicationLimited = Rule{
	ID:    "application-limited",
	Of:    OfWay,
	Also:  []Kind{OfConnection},
	Needs: []Name{RoomShare, Steady},
	Reads: []Name{ReceiveWindowShare, SendBufferShare, Sourced, AskedRate},
	Apart: map[string]Name{"receive-window-limited": ReceiveWindowShare, "send-buffer-limited": SendBufferShare},
	Look: func(s *Subject) *Claim {
		if s.Value(Steady) == 0 || s.Value(RoomShare) < mostlyIdle || s.Value(ReceiveWindowShare) >= unlimited || s.Value(SendBufferShare) >= unlimited {
			return nil
		}
		c := &Claim{
			Where: AtSender, Confidence: confidence(s.Value(RoomShare)),
			Evidence: []Name{RoomShare, AppLimitedShare, ReceiveWindowShare, SendBufferShare},
			Advice:   []string{"program"},
			Allows:   s.Value(Steady), // what the program gave went out at once, so it gave that much
		}
		if s.Is(Sourced) {
			c.Advice = []string{"source", "program"}
		}
		if s.Known(AskedRate) {
			c.Allows = s.Value(AskedRate)
		}
		return c
	},
}
