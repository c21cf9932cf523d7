package diagnose

import "github.com/pathwise-net/pathwise/quantity"

// crossTraffic: a queue stands while the transfer runs, and the transfer does not get what the narrowest link carries, so others do.
var crossTraffic = Rule{
	ID:    "cross-traffic",
	Of:    OfWay,
	Needs: []Name{Steady, LoadedRoundTrip, EmptyRoundTrip, ResentShare},
	Reads: []Name{PayloadCapacity, BackCapacity, IdleRoundTrip, ReceiveWindowShare, SendBufferShare, RoomShare, AppLimitedShare, AcksShare, ReorderedShare, TimerShare,
		PacedLoss, QueueThere, QueueBack},
	Apart: map[string]Name{"ack-path-congested": QueueBack, "application-limited": RoomShare, "receive-window-limited": ReceiveWindowShare},
	Look: func(s *Subject) *Claim {
		c := &Claim{
			Where: OnPath, Confidence: 0.6,
			Evidence: []Name{Steady, PayloadCapacity, LoadedRoundTrip, QueueThere, QueueBack, Retransmits, ResentShare},
			Words:    map[string]string{"others": quantity.FormatRate(s.Value(PayloadCapacity) - s.Value(Steady))},
			Advice:   []string{"hour", "class"},
			Allows:   s.Value(Steady), // the others leave that
		}
		loaded, empty := s.Value(LoadedRoundTrip), s.Value(EmptyRoundTrip)
		share := s.Value(Steady) / s.Value(PayloadCapacity)
		switch {
		case loaded < queueStands*empty, loaded-empty < othersQueue, s.Value(ResentShare) > othersLose && !overfills(s),
			s.Value(ReceiveWindowShare) >= binding, s.Value(SendBufferShare) >= sendBinding, s.Value(RoomShare) >= mostlyIdle,
			s.Value(AppLimitedShare) >= mostlyIdle, s.Value(AcksShare) >= acksFill && !waitsThere(s), s.Value(ReorderedShare) > othersReorder,
			s.Value(TimerShare) > othersSilence, waitsBack(s):
			return nil
		case !s.Known(PayloadCapacity): // packets of trains get lost in a queue that others keep full
			if !shared(s) || asFastAsBack(s) {
				return nil
			}
			c.Confidence, c.Says, c.Unpredicted = 0.5, []string{"before"}, true
			c.Evidence = []Name{Steady, IdleRoundTrip, EmptyRoundTrip, LoadedRoundTrip, Retransmits}
		case share > unexplainedShare && !shared(s), share > fullShare, share < othersLeave, fullOfLeast(s):
			return nil
		}
		return c
	},
}

// fullOfLeast reports whether a transfer gets what the path can carry at the least, where its capacity is in doubt: others need not take any of it.
func fullOfLeast(s *Subject) bool {
	least, doubt := promised(s)
	return doubt != "" && s.Value(Steady) >= fullShare*least
}

// asFastAsBack reports whether a transfer gets what would fill the other way: where nothing tells what this way carries, others need not take any of it,
// and delays that vary may vary by themselves.
func asFastAsBack(s *Subject) bool {
	return s.Known(BackCapacity) && s.Value(Steady) >= fullShare*s.payloadShare(s.Value(MSS))*s.Value(BackCapacity)
}

// overfills reports whether a queue that others fill already loses what this transfer itself pushes into it, as BBR does, which losses do not
// slow: a paced probe loses far less.
func overfills(s *Subject) bool {
	return shared(s) && s.Known(PacedLoss) && s.Value(ResentShare) > fewerPaced*s.Value(PacedLoss)
}

const (
	// fewerPaced is how many times as much as a paced probe a transfer loses that overfills a queue. Links that damage packets lose alike of both.
	fewerPaced = 4
	// othersQueue is what must stand in a queue, in seconds: hosts' own delays vary by less.
	othersQueue = 0.002
	// othersLeave is the least share of a path that a transfer gets beside others; below, it is not the queue that slows it. othersLose
	// is the most that it loses in a queue that it shares. Links that damage packets leave less and lose more.
	othersLeave = 0.05
	othersLose  = 0.05
	// othersReorder is the most that comes behind later packets out of one queue. Where more does, delays differ by themselves.
	othersReorder = 0.05
	// othersSilence is the most of the time in which nothing comes through for a retransmission timer: a queue that is shared goes on
	// to serve every transfer, and where this one hears nothing, the path is gone or loses in bursts.
	othersSilence = 0.1
)
