package diagnose

import "github.com/pathwise-net/pathwise/measure"

// NoSACKHop is the first hop that SYNs reach without the option.
const NoSACKHop Name = "no_sack_hop"

var sackOption = synOption{synSACK, SACK, NoSACKHop, bothSet(func(t *measure.TCPSettings) *int { return t.SACK })}

// noSACK: the ends did not agree on selective acknowledgements, so that the sender learns of one lost packet a round trip, and mends
// a burst of losses for seconds.
var noSACK = Rule{
	ID:      "no-sack",
	Of:      OfWay,
	Needs:   []Name{SACK, Retransmits, Steady},
	Reads:   []Name{ResentShare, NoSACKHop},
	Brings:  []definition{sackOption.definition("the option for selective acknowledgements")},
	Suspect: func(s *Subject) bool { return sackOption.lost(s) && s.Value(Retransmits) >= enoughLosses },
	Look: func(s *Subject) *Claim {
		if s.Is(SACK) || s.Value(Retransmits) < enoughLosses {
			return nil
		}
		c := &Claim{
			Where: OnPath, Confidence: 0.7,
			Evidence: []Name{Retransmits, ResentShare, Steady, LoadedRoundTrip},
			Advice:   []string{"receiver", "sender", "between"},
			Allows:   s.Value(Steady), // there is no formula
		}
		sackOption.tell(s, c)
		return c
	},
}
