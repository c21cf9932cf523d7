package diagnose

import (
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

const (
	ECN      Name = "ecn"        // both ends use explicit congestion notification
	NoECNHop Name = "no_ecn_hop" // the first hop that SYNs reach without the flags that ask for it
)

// ecnOption is asked for by two flags of TCP. This host opens the connections of both ways: it asks where it is set to 1, and the other end agrees unless that
// is set to 0.
var ecnOption = synOption{synFlags, ECN, NoECNHop, func(s *Subject) bool {
	here, far := ecnOf(s.From), ecnOf(s.To)
	if s.Name == measure.Reverse {
		here, far = far, here
	}
	return here != nil && far != nil && *here == 1 && *far != 0
}}

// noECN: the ends do not use explicit congestion notification, on a path that is full and drops packets before a queue stands. A
// router that keeps its queue short, as CoDel does, would mark them instead; one whose queue is short by itself would not, and looks alike.
var noECN = Rule{
	ID:    "no-ecn",
	Of:    OfWay,
	In:    []State{Full},
	Needs: []Name{ECN, Retransmits, LoadedRoundTrip, EmptyRoundTrip, Steady},
	Reads: []Name{Segments, NoECNHop},
	Brings: []definition{
		{Name: ECN, Metric: "ecn_count", Means: "both ends use explicit congestion notification", From: ofTransfer, Read: agreed(sock.OptECN)},
		ecnOption.definition("the flags that ask for ECN"),
	},
	Suspect: func(s *Subject) bool { return ecnOption.lost(s) && dropsEarly(s) },
	Look: func(s *Subject) *Claim {
		if s.Is(ECN) || !dropsEarly(s) {
			return nil
		}
		c := &Claim{
			Where: OnPath, Confidence: 0.6,
			Evidence: []Name{Retransmits, LoadedRoundTrip, Steady},
			Advice:   []string{"sender", "receiver"},
			Allows:   s.Value(Steady), Unpredicted: true,
		}
		ecnOption.tell(s, c)
		return c
	},
}

// dropsEarly reports whether packets are lost while hardly any queue stands, to a sender that slows down for it.
func dropsEarly(s *Subject) bool {
	queue := s.Value(LoadedRoundTrip) - s.Value(EmptyRoundTrip)
	return s.Value(Retransmits) >= enoughLosses && queue <= managedQueue && !lossBlind(s.congestion)
}

// ecnOf is what an end is set to; nil: not known.
func ecnOf(e *measure.TCPEnd) *int {
	if e == nil || e.Settings == nil {
		return nil
	}
	return e.Settings.ECN
}

// managedQueue is how long packets wait at most, in seconds, where a router keeps its queue short: twice CoDel's target (RFC 8289
// section 4.3), about which the wait of a full path goes up and down.
const managedQueue = 0.010
