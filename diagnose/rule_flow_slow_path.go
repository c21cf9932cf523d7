package diagnose

import "github.com/pathwise-net/pathwise/measure"

// OtherFlow is the goodput of large transactions, which are another flow than the transfer: between other ports of the same hosts.
const OtherFlow Name = "other_flow"

// flowSlowPath: the transfer crawls, nothing that TCP knows of holds it, and another flow between the same hosts flies. Something on the
// way treats flows apart: a table that is full, so that the processor forwards the rest; a class or a limit by ports; one of parallel links.
//
// Only another flow tells. What is lost for other reasons may miss a short one, so that a transfer that loses without a queue is left out.
var flowSlowPath = Rule{
	ID:    "flow-slow-path",
	Of:    OfWay,
	Needs: []Name{OtherFlow, PayloadCapacity, Steady, LoadedRoundTrip, EmptyRoundTrip, ResentShare},
	Reads: []Name{IdleRoundTrip, ReceiveWindowShare, SendBufferShare, RoomShare, TimerShare, AskedRate, Spurious,
		QueueThere, QueueBack},
	Brings: []definition{{Name: OtherFlow, Metric: "other_flow_bits_per_second", Unit: "bit/s",
		Means: "goodput of another flow between the same hosts", Step: otherFlow, From: ofOtherFlow,
		Read: func(s *Subject, r *measure.Result) (float64, bool) {
			size, there := flowSize(r)
			took := r.Metrics[measure.TransactionMedian] - s.Value(EmptyRoundTrip) // until the answer, a round trip later
			return size * 8 / took, took > 0 && there == (s.Name == measure.Forward)
		}}},
	Apart:    map[string]Name{"cross-traffic": OtherFlow, "application-limited": RoomShare, "random-loss": ResentShare},
	Suspect:  crawls,
	Replaces: []string{"cross-traffic"},
	Look: func(s *Subject) *Claim {
		if !crawls(s) || s.Value(OtherFlow) < fliesFaster*s.Value(Steady) {
			return nil
		}
		return &Claim{
			Where: OnPath, Confidence: 0.8,
			Evidence: []Name{Steady, OtherFlow, PayloadCapacity, LoadedRoundTrip, Retransmits},
			Advice:   []string{"table", "ports"},
			Allows:   s.Value(Steady), // that it is slow is all that is known of it
		}
	},
}

// crawls reports whether a transfer is far below the capacity for no reason that its ends know of: no window, no buffer, no program, no
// silence, no loss but in a queue that stands, no acknowledgements that wait, no slow start that it was over in, and no traffic of others before it began, among which a
// short flow is as fast as slow start.
func crawls(s *Subject) bool {
	queue := s.Value(LoadedRoundTrip) > queueStands*s.Value(EmptyRoundTrip)
	return s.Known(PayloadCapacity) && s.Value(Steady) > 0 && s.Value(Steady) < crawlsBelow*s.Value(PayloadCapacity) &&
		s.Value(ReceiveWindowShare) < binding && s.Value(SendBufferShare) < sendBinding && s.Value(RoomShare) < mostlyIdle && !waitsBack(s) &&
		!stillRamps(s) && !shared(s) && !s.Known(AskedRate) && s.Value(TimerShare) <= othersSilence && s.Value(Spurious) < enoughLosses &&
		s.Known(ResentShare) && (s.Value(ResentShare) < fewResent || queue && s.Value(ResentShare) < othersLose) && !slowedByLoss(s)
}

// slowedByLoss reports whether as many losses as the transfer had, or the probe on a nearly empty path, make TCP about as slow as it is.
func slowedByLoss(s *Subject) bool {
	p := lossRatio(s)
	return p > 0 && s.Value(EmptyRoundTrip) > 0 && lossAllows(s, p) <= slowedBelow*s.Value(Steady)
}

const (
	// slowedBelow is how many times what the transfer got the formula for losses may leave: it is right within a factor of 2.
	slowedBelow = 2
	// crawlsBelow is the share of a path below which others alone are not why a transfer is slow: with two of them it gets a third.
	crawlsBelow = 0.3
	// fliesFaster is how many times faster another flow must be. Two flows that are treated alike, one after the other among others'
	// traffic, differ by less than 2.
	fliesFaster = 3
)

// otherFlow moves large requests, or answers, to the responder for transactions, whose port is another one. Three: what a limit on rates
// lets pass as a burst is gone by the second.
func otherFlow(s *Subject) (Step, bool) {
	size := min(max(s.Value(PayloadCapacity)*otherFlowLasts/8, leastOtherFlow), mostOtherFlow)
	parameters := map[string]any{"count": otherFlowCount, "interval": exchangeInterval, "timeout": exchangePatience,
		"request": float64(int(size)), "response": float64(otherFlowAnswer)}
	if s.Name == measure.Reverse {
		parameters["request"], parameters["response"] = parameters["response"], parameters["request"]
	}
	why := "whether another flow between the same hosts is as slow"
	if s.Name == measure.Reverse {
		why += ", on the way back"
	}
	return Step{Name: called("other-flow", s.Name), Kind: "transact", Parameters: parameters, Why: why,
		Seconds: otherFlowCount*otherFlowLasts + exchangesTake, Way: measure.Way(s.Name)}, true
}

const (
	otherFlowCount = 3
	otherFlowLasts = 0.25 // seconds at the whole capacity: ten times what slow start takes where round trips are short
	// A flow is at least 200 full packets, and at most what a responder takes as one message.
	leastOtherFlow = 300e3
	mostOtherFlow  = 16e6
	// otherFlowAnswer is the size in bytes of what goes the other way. No program's messages are so small one way and so large the other, by
	// which these transactions are told from those of a program.
	otherFlowAnswer = 33
)

// flowSize is what each of the transactions of another flow moves, in bytes, and which way; 0 of other transactions.
func flowSize(r *measure.Result) (size float64, there bool) {
	request, _ := r.Number("request")
	response, _ := r.Number("response")
	switch {
	case r.Kind != "transact":
	case response == otherFlowAnswer && request >= leastOtherFlow:
		return request, true
	case request == otherFlowAnswer && response >= leastOtherFlow:
		return response, false
	}
	return 0, false
}
