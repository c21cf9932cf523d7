package diagnose

import (
	"math"
	"strconv"

	"github.com/pathwise-net/pathwise/measure"
)

// unexplained admits that the path is slow and that no rule knows why.
var unexplained = Rule{
	ID:    "unexplained",
	Of:    OfWay,
	In:    []State{Slow, Dead},
	Last:  true,
	Needs: []Name{Steady},
	Reads: []Name{Stuck, PayloadCapacity, PassingSize, Retransmits, ResentShare, LateRetransmits, LateSegments, PacedLoss, PacedLost, PacedSent,
		HalfLoss, HalfSent, LoadedRoundTrip, EmptyRoundTrip, FullLosses},
	Look: func(s *Subject) *Claim {
		c := &Claim{
			Severity: measure.Warning, Where: OnPath, Confidence: 0.5,
			Evidence: []Name{Steady, Capacity, PayloadCapacity, ReceiveWindowShare, SendBufferShare, Retransmits},
			Advice:   []string{"again"},
			Allows:   s.Value(Steady), Unpredicted: true,
		}
		switch {
		case s.Is(Stuck):
			c.Says = []string{"stuck"}
			if s.passed {
				c.Says = append(c.Says, "answered")
			}
		case !s.Known(PayloadCapacity) || s.Value(Steady) >= unexplainedShare*s.Value(PayloadCapacity):
			return nil
		case losesWithoutQueue(s) && !mostlyFull(s) && !losesOnlyBursts(s):
			c.Says, c.Advice = []string{"losses"}, []string{"longer"}
			c.Evidence = append(c.Evidence, ResentShare, FullLosses, PacedLoss, HalfLoss)
			c.Words = map[string]string{"enough": strconv.FormatFloat(math.Ceil(leastExpected/lossRatio(s)), 'f', 0, 64)}
		}
		return c
	},
}

// unexplainedShare is the share of what the path can carry below which a cause must be there, even if none is found.
// It is below fullShare so that a measured capacity may be off by a tenth.
const unexplainedShare = 0.7
