package diagnose

import (
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
)

// transactionLoss: single packets are lost, and a transaction has nothing behind the lost one that would show it, so that it waits for a
// timer. It is what loss means to programs that talk in turns, whatever it does to transfers.
var transactionLoss = Rule{
	ID:    "transaction-loss",
	Of:    OfExchange,
	Needs: []Name{LateExchanges, ExchangeResent, AllExchanges, ExchangeUsual, ExchangeIdeal, LatestExchange, MessageSize},
	Reads: []Name{Answers},
	Look: func(s *Subject) *Claim {
		if s.Value(LateExchanges) < 1 || s.Value(ExchangeResent) < 1 || s.Value(MessageSize) > fewPackets ||
			s.Value(ExchangeUsual) >= timerTakes+s.Value(ExchangeIdeal) {
			return nil
		}
		c := &Claim{
			Where: OnPath, Confidence: confidence(0.6 + 0.1*s.Value(LateExchanges)),
			Evidence: []Name{LateExchanges, LatestExchange, ExchangeUsual, ExchangeResent, Answers},
			Advice:   []string{"link", "pace"}, Unpredicted: true,
		}
		if !s.asked { // nobody asked about transactions: what the loss does to transfers comes first
			c.Severity = measure.Warning
		}
		return c
	},
}

// fewPackets is the size in bytes up to which a message leaves at once, as TCP's first window holds it (RFC 6928), so that nothing but a
// timer finds the loss of its last packet.
const fewPackets = model.InitialWindow * 1448
