package diagnose

import (
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// DelaySpread is by how much the later of small pings exceed the usual one: their 95th percentile against their median.
const DelaySpread Name = "delay_spread"

// variableDelay: packets of the idle path come at times that differ so much that a program which plays voice or pictures must hold them back for longer
// than people like, or leave some out. Transfers do not mind, unless packets overtake each other.
var variableDelay = Rule{
	ID:    "variable-delay",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{DelaySpread, IdleRoundTrip, EmptyRoundTrip, Steady},
	Brings: []definition{{Name: DelaySpread, Metric: "rtt_spread_seconds", Unit: "s",
		Means: "that 5 of 100 small pings take longer than the usual one, {idle_round_trip}", From: ofPing,
		Read: func(s *Subject, r *measure.Result) (float64, bool) {
			_, sized := r.Number("size")
			late, told := r.Get(measure.RTTP95)
			return late - r.Metrics[measure.RTTMedian], told && !sized && r.Parameters["df"] != true && !marked(r) && s.Name == measure.Forward &&
				r.Metrics[measure.ReceivedPackets] >= surveyPings/2
		}}},
	Look: func(s *Subject) *Claim {
		spread := s.Value(DelaySpread)
		if spread <= heldBack {
			return nil
		}
		return &Claim{
			Severity: measure.Info, Where: OnPath, Confidence: 0.7,
			Evidence: []Name{DelaySpread, IdleRoundTrip, EmptyRoundTrip},
			Words:    map[string]string{"held": quantity.FormatSeconds(s.Value(IdleRoundTrip) - s.Value(EmptyRoundTrip) + spread)},
			Advice:   []string{"where", "buffer"},
			Allows:   s.Value(Steady), Unpredicted: true,
		}
	},
}

// heldBack is in seconds what programs that play voice as it comes hold back at the least: one packet of 20 ms (RFC 3551 section 4.2).
const heldBack = 0.02
