package diagnose

// proxyHoldsAnswer: every transaction takes much longer than the path, the far end answers at once, and nothing is sent again: what lies
// between keeps requests or answers to itself for a while. Not one of them begins sooner, which tells it from a host that is busy at times
// and from answers that are long.
var proxyHoldsAnswer = Rule{
	ID:    "proxy-holds-answer",
	Of:    OfExchange,
	Needs: []Name{Exchanges, FirstByte, ExchangeIdeal, Turns, Gather, Answering, ExchangeResent},
	Look: func(s *Subject) *Claim {
		held := s.Value(FirstByte) - s.Value(ExchangeIdeal)/s.Value(Turns)
		if s.Value(Exchanges) < 2 || held < heldLeast || s.Value(Gather)+s.Value(Answering) > held/10 || s.Value(ExchangeResent) > 0 {
			return nil
		}
		return &Claim{
			Where: OnPath, Confidence: 0.85,
			Evidence: []Name{FirstByte, ExchangeIdeal, Answering, Gather, ExchangeResent},
			Advice:   []string{"between"},
			Words:    map[string]string{"held": inText(held, "s")}, Unpredicted: true,
		}
	},
}

// heldLeast is how long every answer has to be held, in seconds, to be told from acknowledgements that are late and from what is sent again:
// systems of today put off the one by 200 ms at the most (RFC 1122 section 4.2.3.2 allows 500), and wait as long with the other.
const heldLeast = 0.3
