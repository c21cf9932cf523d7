package diagnose

// applicationLimited: the program could have given TCP more nearly all the time, and did not. Or it writes in bursts, which go out as fast as
// the path lets them, and is silent between them.
var applicationLimited = Rule{
	ID:    "application-limited",
	Of:    OfWay,
	Also:  []Kind{OfConnection},
	Needs: []Name{RoomShare, Steady},
	Reads: []Name{ReceiveWindowShare, SendBufferShare, Sourced, AskedRate, OwnGoodput},
	Apart: map[string]Name{"receive-window-limited": ReceiveWindowShare, "send-buffer-limited": SendBufferShare},
	Look: func(s *Subject) *Claim {
		if s.Value(Steady) == 0 || s.Value(RoomShare) < mostlyIdle && !writesBursts(s) || s.Value(ReceiveWindowShare) >= unlimited || s.Value(SendBufferShare) >= unlimited {
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

// writesBursts reports whether a program could have given TCP more for most of the time, and whether all that it moved went in the rest of the
// time, about as fast as a transfer of this diagnosis.
func writesBursts(s *Subject) bool {
	idle, own := s.Value(RoomShare), s.Value(OwnGoodput)
	return idle >= oftenIdle && own > 0 && s.Value(Steady) >= fullShare*own*(1-idle)
}

// oftenIdle is the share of readings in which a program that writes in bursts could have given TCP more: more than half of them.
const oftenIdle = 0.5
