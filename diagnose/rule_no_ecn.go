package diagnose

import "github.com/pathwise-net/pathwise/sock"

// ECN says that both ends use explicit congestion notification.
const ECN Name = "ecn"

// noECN: the ends do not use explicit congestion notification, on a path that is full and drops packets before a queue stands. A
// router that keeps its queue short, as CoDel does, would mark them instead; one whose queue is short by itself would not, and looks alike.
var noECN = Rule{
	ID:    "no-ecn",
	Of:    OfWay,
	In:    []State{Full},
	Needs: []Name{ECN, Retransmits, LoadedRoundTrip, EmptyRoundTrip, Steady},
	Reads: []Name{Segments},
	Brings: []definition{{Name: ECN, Metric: "ecn_count", Means: "both ends use explicit congestion notification",
		From: ofTransfer, Read: agreed(sock.OptECN)}},
	Look: func(s *Subject) *Claim {
		queue := s.Value(LoadedRoundTrip) - s.Value(EmptyRoundTrip)
		if s.Is(ECN) || s.Value(Retransmits) < enoughLosses || queue > managedQueue || lossBlind(s.congestion) {
			return nil
		}
		return &Claim{
			Where: OnPath, Confidence: 0.6,
			Evidence: []Name{Retransmits, LoadedRoundTrip, Steady},
			Advice:   []string{"sender", "receiver"},
			Allows:   s.Value(Steady), Unpredicted: true,
		}
	},
}

// managedQueue is how long packets wait at most, in seconds, where a router keeps its queue short: twice CoDel's target (RFC 8289
// section 4.3), about which the wait of a full path goes up and down.
const managedQueue = 0.010
