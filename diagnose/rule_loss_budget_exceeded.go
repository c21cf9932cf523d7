package diagnose

import (
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

// What a Target lets a way lose, and what packets at its rate lost there.
const (
	LossBudget   Name = "loss_budget"
	TargetLoss   Name = "target_loss"
	TargetSent   Name = "target_sent"
	TargetLost   Name = "target_lost"
	TargetEvents Name = "target_loss_events"
	LongestTrip  Name = "longest_round_trip"
)

// lossBudgetExceeded: the path loses packets more often than one connection bears that is to reach the target's rate over its round trip, by
// the sequential test of RFC 8337 section 7.2. This path alone may be full: its own round trip is shorter.
var lossBudgetExceeded = Rule{
	ID:    "loss-budget-exceeded",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{LossBudget, TargetSent, TargetEvents, Steady},
	Reads: []Name{TargetLoss, LongestTrip},
	Brings: []definition{
		{Name: LossBudget, Metric: "loss_budget_ratio", Unit: "ratio", Means: "of the packets may be lost for the target: one in three times the square of its window"},
		{Name: TargetLoss, Metric: "loss_ratio", Unit: "ratio", Means: "lost at the rate of the target: {target_lost} of {target_sent}"},
		{Name: TargetSent, Metric: "sent_packets", Unit: "packets", Means: "sent at the rate of the target"},
		{Name: TargetLost, Metric: "lost_packets", Unit: "packets", Means: "lost at the rate of the target"},
		{Name: TargetEvents, Metric: "loss_events_count", Unit: "events", Means: "times that packets were lost at the rate of the target, at the least"},
		{Name: LongestTrip, Metric: "longest_rtt_seconds", Unit: "s", Means: "the longest round trip over which these losses let the target's rate pass"},
	},
	Look: func(s *Subject) *Claim {
		test := model.NewRunLengthTest(1 / s.Value(LossBudget))
		if test.Judge(s.Value(TargetSent), s.Value(TargetEvents)) != model.Fails {
			return nil
		}
		return &Claim{
			Where: OnPath, Confidence: 0.95, // 1 less the test's chance to fail a path that keeps the budget
			Evidence: []Name{LossBudget, TargetLoss, LongestTrip, Steady},
			Words:    map[string]string{"rate": quantity.FormatRate(s.target.Rate), "rtt": quantity.FormatSeconds(s.target.RTT.Seconds())},
			Advice:   []string{"link", "part"},
			Allows:   s.Value(Steady), Unpredicted: true, Beyond: true,
		}
	},
}

// aim gives both ways what packets at the rate of a target lost there.
func (g *gathering) aim(t Target) {
	for _, s := range g.ways {
		sent, lost, events := lostOf(t, s)
		if sent == 0 {
			continue
		}
		s.target = &t
		s.set(LossBudget, exactly(1/max(runLength(t, s), leastRun), nil))
		s.set(TargetSent, exactly(sent, nil))
		s.set(TargetLost, exactly(lost, nil))
		s.set(TargetEvents, exactly(events, nil))
		s.set(TargetLoss, ratio(s.Fact(TargetLost), s.Fact(TargetSent)))
		if lost > 0 {
			s.set(LongestTrip, exactly(model.TargetRTT(t.Rate, sent/lost, segment(s)).Seconds(), nil))
		}
	}
}
