package diagnose

// ackPathCongested: the way back carries little, and acknowledgements fill it, so that the sender hears late of what arrived.
var ackPathCongested = Rule{
	ID:    "ack-path-congested",
	Of:    OfWay,
	Needs: []Name{AcksShare, LoadedRoundTrip, EmptyRoundTrip, Steady, ResentShare},
	Suspect: func(s *Subject) bool {
		return !s.Known(AcksShare) && s.Value(Answers) > 0 && s.Known(PayloadCapacity) && s.Value(Steady) < narrowBackLeaves*s.Value(PayloadCapacity) &&
			s.Value(LoadedRoundTrip) >= queueStands*s.Value(EmptyRoundTrip) && s.Value(ResentShare) <= fewAreLost
	},
	Look: func(s *Subject) *Claim {
		lost := s.Value(ResentShare) > fewAreLost && s.Value(AcksShare) < acksExceed
		if s.Value(AcksShare) < acksFill || s.Value(LoadedRoundTrip) < queueStands*s.Value(EmptyRoundTrip) || lost {
			return nil
		}
		return &Claim{
			Where: "path from {receiver} to {sender}", Confidence: 0.7,
			Evidence: []Name{AcksShare, LoadedRoundTrip, Steady, ResentShare},
			Advice:   []string{"back", "priority"},
			Allows:   s.Value(Steady), // there is no formula
		}
	},
}

const (
	// acksFill is the share of the way back that acknowledgements take, from which on they wait for each other. What a narrow
	// way carries is known only roughly, and a DSL line of 20 Mbit/s with a tenth of it back shows 0.2.
	acksFill = 0.3
	// acksExceed is the share above which the way back cannot carry all acknowledgements, whatever else slows the sender: what gets lost
	// then are acknowledgements too, and what slow start, blind for them, sends too much.
	acksExceed = 1
	// fewAreLost: a sender whose packets get lost slows down for that.
	fewAreLost = 0.001
)

const (
	// largeEchoSize is the payload of an echo, in bytes, that passes wherever IPv6 does, and is 20 times as long as the usual one.
	largeEchoSize, usualEchoSize = 1200, 56
	largeEchoCount               = 10
	largeEchoInterval            = 0.1 // seconds
	// largeEchoLeast is what large echoes must take longer, in seconds: hosts' own delays vary by some milliseconds on busy machines. A way
	// back of 1 Mbit/s takes 9 ms for the difference.
	largeEchoLeast = 0.005
	// narrowBackLeaves is the share of its path below which a transfer is slow enough to ask what its way back carries before that is measured by
	// trains: on a way of some kbit/s these take longer than they are waited for.
	narrowBackLeaves = 0.5
)

// largeEchoes is a step that tells whether the way back is narrow, with a few packets.
func largeEchoes(*Subject) (Step, bool) {
	return Step{Name: "large-echoes", Kind: "ping", Why: "whether the way back takes long for what is large",
		Parameters: map[string]any{"count": largeEchoCount, "interval": largeEchoInterval, "size": largeEchoSize},
		Seconds:    largeEchoCount*largeEchoInterval + setUpTakes}, true
}

// backByEchoes is what the way back carries, in bit/s, by what large echoes take longer than small ones: the time that both ways take for the
// difference, less that of the way there. 0: echoes do not tell.
//
//	large - small = bits / there + bits / back
func backByEchoes(s *Subject) float64 {
	longer := s.Value(LargeEcho) - max(s.Value(EmptyRoundTrip), s.Value(IdleRoundTrip))
	if !s.Known(LargeEcho) || !s.Known(Capacity) || longer < largeEchoLeast {
		return 0
	}
	const bits = (largeEchoSize - usualEchoSize) * 8
	if back := longer - bits/s.Value(Capacity); back >= largeEchoLeast/2 {
		return bits / back
	}
	return 0
}
