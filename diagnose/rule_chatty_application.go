package diagnose

// chattyApplication: the program takes turns, and these are what its transactions take: neither more capacity nor a better connection
// would make them shorter.
var chattyApplication = Rule{
	ID:    "chatty-application",
	Of:    OfExchange,
	Needs: []Name{Turns, ExchangeUsual, ExchangeIdeal, EmptyRoundTrip},
	Look: func(s *Subject) *Claim {
		turns, usual := s.Value(Turns), s.Value(ExchangeUsual)
		saved := (turns - 1) * s.Value(EmptyRoundTrip)
		if turns < 2 || usual < felt || saved < usual/2 {
			return nil
		}
		return &Claim{
			Where: AtSender, Confidence: 0.9,
			Evidence: []Name{Turns, EmptyRoundTrip, ExchangeUsual},
			Advice:   []string{"pipeline", "nearer"},
			Words:    map[string]string{"saved": inText(saved, "s")}, Unpredicted: true,
		}
	},
}

// felt is the time in seconds from which on a person no longer takes an answer for immediate (Miller, Response time in man-computer
// conversational transactions, 1968).
const felt = 0.1
