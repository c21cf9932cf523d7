package diagnose

import (
	"maps"

	"github.com/pathwise-net/pathwise/measure"
)

// OfExchange is of the transactions between two hosts: requests and their answers, on connections that stand and on new ones.
const OfExchange Kind = "transactions"

// Facts about transactions.
const (
	Exchanges       Name = "transactions" // that came to their end, on one connection
	ExchangesFailed Name = "failed_transactions"
	ExchangeLeast   Name = "least_transaction"
	ExchangeUsual   Name = "usual_transaction"
	ExchangeIdeal   Name = "ideal_transaction"
	FirstByte       Name = "least_first_byte"  // from the beginning of a transaction to that of its first answer
	MessageSize     Name = "message_size"      // of the larger of request and answer
	Gather          Name = "request_gathering" // at the far end
	Answering       Name = "answering"         // at the far end
	Writes          Name = "writes"
	Turns           Name = "turns"
	NoDelay         Name = "no_delay"

	ExchangeResent Name = "resent_of_transactions" // packets, of all transactions
	LateExchanges  Name = "late_transactions"      // of all that came to their end
	AllExchanges   Name = "all_transactions"
	LatestExchange Name = "latest_transaction"

	NewUsual     Name = "usual_new_transaction" // each on a connection of its own
	NewIdeal     Name = "ideal_new_transaction"
	NewGather    Name = "new_request_gathering"
	OpeningUsual Name = "usual_opening" // of new connections
	OpeningsLate Name = "late_openings"
	Openings     Name = "openings"
)

// exchangeDefinitions are of the facts about transactions that several rules use.
var exchangeDefinitions = []definition{
	{Name: Exchanges, Metric: "transactions_count", Unit: "transactions",
		Means: "transactions on one connection"},
	{Name: ExchangesFailed, Metric: "transactions_failed_count", Unit: "transactions",
		Means: "transactions that did not come to their end"},
	{Name: ExchangeLeast, Metric: "transaction_min_seconds", Unit: "s",
		Means: "the least transaction; the path alone takes {ideal_transaction}"},
	{Name: ExchangeUsual, Metric: "transaction_median_seconds", Unit: "s",
		Means: "the usual transaction; the path alone takes {ideal_transaction}"},
	{Name: ExchangeIdeal, Metric: "transaction_ideal_seconds", Unit: "s", Means: "what the round trips of a transaction take"},
	{Name: FirstByte, Metric: "first_byte_seconds", Unit: "s", Means: "until an answer began to come, at the least"},
	{Name: MessageSize, Metric: "message_bytes", Unit: "bytes", Means: "of the larger of request and answer"},
	{Name: Gather, Metric: "request_gather_seconds", Unit: "s", Means: "the far end had a part of a request and waited for the rest"},
	{Name: Answering, Metric: "answer_seconds", Unit: "s", Means: "what the far end itself took to answer"},
	{Name: Writes, Metric: "writes_count", Unit: "pieces",
		Means: "pieces that a request is written in"},
	{Name: Turns, Metric: "turns_count", Unit: "turns",
		Means: "requests of a transaction, each after the answer to the one before"},
	{Name: NoDelay, Metric: "nodelay_count", Means: "the program switches Nagle's algorithm off"},
	{Name: ExchangeResent, Metric: "retransmits_packets", Unit: "packets", Means: "sent again in {all_transactions} transactions"},
	{Name: LateExchanges, Metric: "late_transactions_count", Unit: "transactions",
		Means: "of {all_transactions} took as long as a timer of TCP"},
	{Name: AllExchanges, Metric: "transactions_count", Unit: "transactions",
		Means: "transactions, of all tests"},
	{Name: LatestExchange, Metric: "transaction_max_seconds", Unit: "s", Means: "the longest transaction"},
	{Name: NewUsual, Metric: "transaction_median_seconds", Unit: "s", Means: "the usual transaction with a connection of its own"},
	{Name: NewIdeal, Metric: "transaction_ideal_seconds", Unit: "s", Means: "what its round trips take"},
	{Name: NewGather, Metric: "request_gather_seconds", Unit: "s", Means: "the far end had a part of such a request and waited for the rest"},
	{Name: OpeningUsual, Metric: "connect_median_seconds", Unit: "s", Means: "until a new connection to the responder was open, as a rule"},
	{Name: Openings, Metric: "connections_count", Unit: "connections",
		Means: "new connections to the responder"},
	{Name: OpeningsLate, Metric: "late_connections_count", Unit: "connections",
		Means: "of {openings} new connections to the responder whose first packet had to be sent again"},
}

const (
	// timerTakes is what TCP's retransmission timer adds to a transaction at the least, in seconds: 200 ms on Linux, less what is due to
	// a usual transaction that was itself late.
	timerTakes = 0.19
	// synTakes is what a SYN that has to be sent again adds to the opening of a connection, in seconds: 1 s (RFC 6298 section 2.1).
	synTakes = 0.9
)

// Program is what is told of the program that matters. The zero value: nothing is.
type Program struct {
	Pattern map[string]any // parameters of transact: request, response, writes, turns, nodelay
	Service int            // the port that it connects to; 0: not told
	Port    int            // that its connections have at either end, while it runs; 0: not told
}

// ownPattern is what a diagnosis asks where nothing is told of a program. Its sizes are those of no program, so that one is told from it.
var ownPattern = map[string]any{"request": 64.0, "response": 65.0, "writes": 1.0, "turns": 1.0, "nodelay": false}

const (
	exchangeCount    = 10
	exchangeInterval = 0.02 // seconds, if the one before is over by then
	// exchangePatience is how long a transaction may take, in seconds: a SYN that is lost twice takes 3.
	exchangePatience = 4.0
	exchangesTake    = 1.5 // seconds, over 100 ms or so
)

// WithTransactions returns a plan with the steps that find what transactions suffer, before those that move much.
func WithTransactions(plan []Step, p Program) []Step {
	pattern := maps.Clone(ownPattern)
	maps.Copy(pattern, p.Pattern)
	steps := []Step{
		exchange("transactions", "what a request and its answer take", pattern, nil),
		exchange("connections", "what they take where each has a connection of its own", pattern, map[string]any{"new": true}),
	}
	if p.Service > 0 {
		steps = append(steps, Step{Name: "service", Kind: "transact", Why: "how soon the service takes connections", Seconds: exchangesTake, Round: aroundTransactions,
			Parameters: map[string]any{"connect": true, "port": float64(p.Service), "count": exchangeCount, "interval": exchangeInterval,
				"timeout": exchangePatience}})
	}
	first := 0
	for first < len(plan) && plan[first].Way == "" {
		first++
	}
	longer := append([]Step{}, plan[:first]...)
	longer = append(longer, steps...)
	return append(longer, plan[first:]...)
}

// exchange makes a step of transactions.
func exchange(name, why string, pattern, changed map[string]any) Step {
	parameters := map[string]any{"count": exchangeCount, "interval": exchangeInterval, "timeout": exchangePatience}
	maps.Copy(parameters, pattern)
	maps.Copy(parameters, changed)
	return Step{Name: name, Kind: "transact", Why: why, Parameters: parameters, Seconds: exchangesTake, Round: aroundTransactions}
}

// readExchange takes what a test of transactions says. The first on a connection that stands is of the program's own pattern; one like it
// that differs in one thing tells what that thing costs.
func readExchange(g *gathering, r *measure.Result) {
	if len(r.Metrics) == 0 || sortOf(r) == ofOtherFlow {
		return
	}
	if g.exchange == nil {
		g.exchange = &Subject{Kind: OfExchange, Sender: r.Source.NameOrAddress(), Receiver: r.Target.Name,
			Target: r.Target.Name, Address: r.Target.Address}
	}
	s := g.exchange
	g.lost = max(g.lost, lostAccount(r))
	is := func(name string) bool { is, _ := r.Parameters[name].(bool); return is }
	of := func(name string) float64 { v, _ := r.Number(name); return v }
	switch {
	case is("connect"):
		readService(s, r)
	case is("new") && of("writes") < s.Value(Writes):
		s.setPositive(WholeExchange, r.Metrics[measure.TransactionMedian], r)
	case is("new"):
		readNew(s, r)
		countLate(s, r)
	case of("interval") >= idleLeast:
		readIdle(s, r)
	case s.pattern == nil:
		s.pattern = map[string]any{}
		for name, own := range ownPattern {
			s.pattern[name] = r.Parameters[name]
			s.asked = s.asked || r.Parameters[name] != own
		}
		readPattern(s, r)
		countLate(s, r)
	case is("nodelay") && !s.Is(NoDelay):
		s.setPositive(UndelayedExchange, r.Metrics[measure.TransactionMedian], r)
	}
}

// readPattern takes what transactions of the program's own pattern took.
func readPattern(s *Subject, r *measure.Result) {
	for name, metric := range map[Name]measure.Metric{Exchanges: measure.TransactionsDone, ExchangesFailed: measure.TransactionsFailed,
		Gather: measure.RequestGather, Answering: measure.AnswerTime} {
		if v, told := r.Get(metric); told {
			s.set(name, exactly(v, r))
		}
	}
	s.setPositive(ExchangeLeast, r.Metrics[measure.TransactionMin], r)
	s.setPositive(ExchangeUsual, r.Metrics[measure.TransactionMedian], r)
	s.setPositive(ExchangeIdeal, r.Metrics[measure.TransactionIdeal], r)
	for name, parameter := range map[Name]string{Writes: "writes", Turns: "turns"} {
		if v, told := r.Number(parameter); told {
			s.set(name, exactly(v, r))
		}
	}
	off, _ := r.Parameters["nodelay"].(bool)
	s.set(NoDelay, yes(off, r))
	request, _ := r.Number("request")
	response, _ := r.Number("response")
	s.setPositive(MessageSize, max(request, response), r)
	for _, t := range r.Samples.Transactions {
		if t.FirstByteSeconds != nil {
			s.setLeast(FirstByte, *t.FirstByteSeconds, r)
		}
	}
}

// readNew takes how soon new connections were open, and what transactions on them took.
func readNew(s *Subject, r *measure.Result) {
	s.setPositive(OpeningUsual, r.Metrics[measure.ConnectMedian], r)
	s.setPositive(NewUsual, r.Metrics[measure.TransactionMedian], r)
	s.setPositive(NewIdeal, r.Metrics[measure.TransactionIdeal], r)
	s.setPositive(NewGather, r.Metrics[measure.RequestGather], r)
	late, all := 0., 0.
	for _, t := range r.Samples.Transactions {
		if t.ConnectSeconds != nil {
			all++
			if *t.ConnectSeconds-r.Metrics[measure.ConnectMin] >= synTakes {
				late++
			}
		}
	}
	s.set(Openings, exactly(all, r))
	s.set(OpeningsLate, exactly(late, r))
}

// countLate adds the transactions of a test that took as long as a timer of TCP, and what was sent again.
func countLate(s *Subject, r *measure.Result) {
	least, late, all := r.Metrics[measure.TransactionMin], 0., 0.
	for _, t := range r.Samples.Transactions {
		if t.Seconds != nil {
			all++
			if *t.Seconds-least >= timerTakes {
				late++
			}
		}
	}
	s.set(AllExchanges, exactly(s.Value(AllExchanges)+all, nil))
	s.set(LateExchanges, exactly(s.Value(LateExchanges)+late, r))
	s.set(ExchangeResent, exactly(s.Value(ExchangeResent)+r.Metrics[measure.Retransmits], r))
	if most := r.Metrics[measure.TransactionMax]; most > s.Value(LatestExchange) {
		s.setPositive(LatestExchange, most, r)
	}
}

// deriveExchange gives transactions what pings and transfers say of the path that they take.
func (g *gathering) deriveExchange() {
	if g.exchange == nil {
		return
	}
	for _, n := range []Name{EmptyRoundTrip, Pings, Answers} {
		if forward := g.ways[measure.Forward]; forward.Known(n) {
			g.exchange.set(n, forward.Fact(n))
		}
	}
	g.exchange.setPositive(ControlLost, g.lost, nil)
	if g.exchange.Known(OpeningUsual) {
		for _, direction := range directions {
			g.ways[direction].set(OpeningUsual, g.exchange.Fact(OpeningUsual))
		}
	}
}
