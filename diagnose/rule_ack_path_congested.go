package diagnose

// ackPathCongested: the way back carries little, and acknowledgements fill it, so that the sender hears late of what arrived. One-way delays
// under a transfer show it best: packets wait on the way back, and not on the way of the data. Without them what acknowledgements take of the
// way back tells.
var ackPathCongested = Rule{
	ID:    "ack-path-congested",
	Of:    OfWay,
	Needs: []Name{LoadedRoundTrip, EmptyRoundTrip, Steady, ResentShare},
	Reads: []Name{AcksShare, QueueThere, QueueBack, LateSegments, LateRetransmits, InFlight, Capacity, IdleRoundTrip, OpeningUsual},
	Suspect: func(s *Subject) bool {
		return slowWithoutLoss(s) && heldBy(s) == "" && !stillRamps(s) && !(s.Value(AcksShare) >= acksFill)
	},
	Apart: map[string]Name{"cross-traffic": QueueThere},
	Look: func(s *Subject) *Claim {
		c := &Claim{
			Where: "path from {receiver} to {sender}", Confidence: 0.7,
			Evidence: []Name{AcksShare, QueueBack, QueueThere, LoadedRoundTrip, Steady, ResentShare},
			Advice:   []string{"back", "priority"},
			Allows:   s.Value(Steady), // there is no formula
		}
		lost := s.Value(ResentShare) > fewAreLost && s.Value(AcksShare) < acksExceed
		switch {
		case waitsBack(s) && losesOn(s) <= othersLose: // whatever the round trips of another transfer were
			c.Says, c.Confidence = []string{"one-way"}, 0.9
		case waitsForLittle(s):
			c.Says, c.Confidence = []string{"little"}, 0.6
			c.Evidence = []Name{InFlight, Capacity, LoadedRoundTrip, EmptyRoundTrip, OpeningUsual, Steady, ResentShare}
		case s.Value(LoadedRoundTrip) < queueStands*s.Value(EmptyRoundTrip), waitsThere(s), s.Value(AcksShare) < acksFill, lost:
			return nil
		}
		return c
	},
}

// waitsForLittle reports whether round trips are far longer under load than all that is under way would wait on the way of the data, where nothing else
// tells of the way back: its trains and packets beside a transfer come too late on a way of some kbit/s. There new connections are late, too, as small
// packets take their time. Others' queues show before, or lose some.
func waitsForLittle(s *Subject) bool {
	wait := s.Value(LoadedRoundTrip) - s.Value(EmptyRoundTrip)
	return !s.Known(AcksShare) && !s.Known(QueueBack) && s.Known(Capacity) && s.Known(ResentShare) && s.Value(ResentShare) <= fewAreLost && s.Value(InFlight) > 0 &&
		!shared(s) && openingsWait(s) && wait > othersQueue && wait > littleWaits*s.Value(InFlight)*8/s.Value(Capacity) && slowWithoutLoss(s) && heldBy(s) == ""
}

// littleWaits is how many times as long round trips wait as what is under way would. Recorded transfers beside others show up to 4, and ways back that are
// congested 33 to 350.
const littleWaits = 10

// slowWithoutLoss reports whether a transfer leaves much of its path, a queue stands meanwhile, and little is lost.
func slowWithoutLoss(s *Subject) bool {
	return s.Value(LoadedRoundTrip) >= queueStands*s.Value(EmptyRoundTrip) && s.Value(LoadedRoundTrip)-s.Value(EmptyRoundTrip) > othersQueue &&
		s.Known(ResentShare) && losesOn(s) <= othersLose && !full(s)
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
	narrowBackLeaves = 0.7
)

// largeEchoes is a step that tells whether the way back is narrow, with a few packets, where trains did not.
func largeEchoes(s *Subject) (Step, bool) {
	asked := !s.Known(AcksShare) && !s.Known(QueueBack) && s.Value(Answers) > 0 && s.Known(PayloadCapacity) && (s.Value(ResentShare) <= fewAreLost || losesOn(s) == 0) &&
		s.Value(Steady) < narrowBackLeaves*s.Value(PayloadCapacity)
	return Step{Name: "large-echoes", Kind: "ping", Why: "whether the way back takes long for what is large",
		Parameters: map[string]any{"count": largeEchoCount, "interval": largeEchoInterval, "size": largeEchoSize},
		Seconds:    largeEchoCount*largeEchoInterval + setUpTakes}, asked
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
