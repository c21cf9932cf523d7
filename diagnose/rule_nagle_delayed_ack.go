package diagnose

// UndelayedExchange is the usual transaction with Nagle's algorithm switched off, and all else as it was.
const UndelayedExchange Name = "undelayed_transaction"

// nagleDelayedACK: the program writes a request in pieces, and TCP keeps each short one until the one before is acknowledged, which the
// receiver puts off as it has nothing to answer yet. That the same pieces go at once without the algorithm tells it from a slow path.
var nagleDelayedACK = Rule{
	ID:    "nagle-delayed-ack",
	Of:    OfExchange,
	Needs: []Name{Writes, Turns, NoDelay, ExchangeUsual, ExchangeIdeal, Gather, UndelayedExchange},
	Brings: []definition{{Name: UndelayedExchange, Metric: "transaction_median_seconds", Unit: "s",
		Means: "the usual transaction with Nagle's algorithm switched off", Step: undelayed}},
	Apart:   map[string]Name{"transaction-loss": UndelayedExchange},
	Suspect: func(s *Subject) bool { return s.Value(Writes) > 1 && !s.Is(NoDelay) && s.Value(Gather) >= delayMatters },
	Look: func(s *Subject) *Claim {
		usual, saved := s.Value(ExchangeUsual), s.Value(ExchangeUsual)-s.Value(UndelayedExchange)
		if s.Value(Writes) < 2 || s.Is(NoDelay) || saved < delayMatters || saved < delayShare*usual || s.Value(Gather)*s.Value(Turns) < saved/2 {
			return nil
		}
		return &Claim{
			Where: AtSender, Confidence: 0.95,
			Evidence: []Name{ExchangeUsual, UndelayedExchange, Gather, Writes},
			Advice:   []string{"write", "nodelay"},
			Words:    map[string]string{"saved": inText(saved, "s")}, Unpredicted: true,
		}
	},
}

const (
	// delayMatters is the least that is worth a change of a program, in seconds: acknowledgements that are put off cost 40 ms and more, one
	// that is not a round trip.
	delayMatters = 0.005
	delayShare   = 0.2 // of a transaction
)

func undelayed(s *Subject) (Step, bool) {
	return exchange("undelayed", "what transactions take without Nagle's algorithm", s.pattern,
		map[string]any{"nodelay": true}), s.pattern != nil
}
