package diagnose

import (
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

const (
	Timestamps      Name = "timestamps"        // both ends use them
	NoTimestampsHop Name = "no_timestamps_hop" // the first hop that SYNs reach without the option
)

var timestampsOption = synOption{synTimes, Timestamps, NoTimestampsHop, bothSet(func(t *measure.TCPSettings) *int { return t.Timestamps })}

// noTimestamps: the ends did not agree on timestamps, so that TCP knows round trips less well, and sequence numbers can wrap on fast
// paths.
var noTimestamps = Rule{
	ID:    "no-timestamps",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{Timestamps, Steady},
	Reads: []Name{NoTimestampsHop},
	Brings: []definition{
		{Name: Timestamps, Metric: "timestamps_count", Means: "both ends use timestamps", From: ofTransfer, Read: agreed(sock.OptTimestamps)},
		timestampsOption.definition("the option for timestamps"),
	},
	Suspect: timestampsOption.lost,
	Look: func(s *Subject) *Claim {
		if s.Is(Timestamps) {
			return nil
		}
		c := &Claim{
			Severity: measure.Info, Where: OnPath, Confidence: 0.9,
			Evidence: []Name{Steady, RoundTrip},
			Advice:   []string{"receiver", "sender"},
			Allows:   s.Value(Steady), Unpredicted: true,
		}
		timestampsOption.tell(s, c)
		return c
	},
}
