package diagnose

import (
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// bufferbloat: a transfer fills a queue that holds far more than it needs, and everybody's packets wait in it. The transfer itself is
// none the slower, so the path is healthy for it.
var bufferbloat = Rule{
	ID:    "bufferbloat",
	Of:    OfWay,
	In:    []State{Full},
	Needs: []Name{LoadedRoundTrip, EmptyRoundTrip, Steady},
	Look: func(s *Subject) *Claim {
		queue := s.Value(LoadedRoundTrip) - s.Value(EmptyRoundTrip)
		if queue <= longQueue {
			return nil
		}
		return &Claim{
			Severity: measure.Info, Where: OnPath, Confidence: 0.8,
			Evidence: []Name{LoadedRoundTrip, EmptyRoundTrip, Steady},
			Words:    map[string]string{"queue": quantity.FormatSeconds(queue)},
			Advice:   []string{"queue", "bbr"},
			Allows:   s.Value(Steady), Unpredicted: true,
		}
	},
}

// longQueue is how much longer, in seconds, a round trip may take under load until people notice: a conversation bears 150 ms one way
// in all (ITU-T G.114), of which paths and programs take their share.
const longQueue = 0.1
