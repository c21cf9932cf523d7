package diagnose

// WholeExchange is the usual transaction on a connection of its own, with each request in one write, and all else as it was.
const WholeExchange Name = "whole_transaction"

// smallWrites: the program writes a request in many pieces and has Nagle's algorithm off, so that each becomes a packet, of which TCP may
// send ten in the first round trip of a connection. That the same bytes in one write take less tells it from a slow path.
var smallWrites = Rule{
	ID:    "small-writes",
	Of:    OfExchange,
	Needs: []Name{Writes, NoDelay, NewUsual, NewIdeal, NewGather, WholeExchange},
	Brings: []definition{{Name: WholeExchange, Metric: "transaction_median_seconds", Unit: "s",
		Means: "the usual transaction with a connection of its own, and each request in one write", Step: whole}},
	Apart: map[string]Name{"transaction-loss": WholeExchange},
	Suspect: func(s *Subject) bool {
		return s.Value(Writes) > 1 && s.Is(NoDelay) && s.Value(NewUsual)-s.Value(NewIdeal) >= delayMatters
	},
	Look: func(s *Subject) *Claim {
		saved := s.Value(NewUsual) - s.Value(WholeExchange)
		if s.Value(Writes) < 2 || !s.Is(NoDelay) || saved < delayMatters || saved < delayShare*s.Value(NewUsual) || s.Value(NewGather) < saved/2 {
			return nil
		}
		return &Claim{
			Where: AtSender, Confidence: 0.9,
			Evidence: []Name{NewUsual, WholeExchange, NewGather, Writes},
			Advice:   []string{"gather"},
			Words:    map[string]string{"saved": inText(saved, "s")}, Unpredicted: true,
		}
	},
}

func whole(s *Subject) (Step, bool) {
	return exchange("whole", "what transactions take with each request in one write", s.pattern,
		map[string]any{"writes": 1.0, "new": true}), s.pattern != nil
}
