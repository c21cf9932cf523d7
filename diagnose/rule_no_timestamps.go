package diagnose

import "github.com/pathwise-net/pathwise/sock"

import "github.com/pathwise-net/pathwise/measure"

// Timestamps says that both ends use them.
const Timestamps Name = "timestamps"

// noTimestamps: the ends did not agree on timestamps, so that TCP knows round trips less well, and sequence numbers can wrap on fast
// paths.
var noTimestamps = Rule{
	ID:    "no-timestamps",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{Timestamps, Steady},
	Brings: []definition{{Name: Timestamps, Metric: "timestamps_count", Means: "both ends use timestamps",
		From: ofTransfer, Read: agreed(sock.OptTimestamps)}},
	Look: func(s *Subject) *Claim {
		if s.Is(Timestamps) {
			return nil
		}
		return &Claim{
			Severity: measure.Info, Where: OnPath, Confidence: 0.9,
			Evidence: []Name{Steady, RoundTrip},
			Advice:   []string{"receiver", "sender"},
			Allows:   s.Value(Steady), Unpredicted: true,
		}
	},
}
