package diagnose

// shallowBuffer: the queue before the narrowest link is so short that bursts of TCP overflow it, although half of the rate passes evenly.
var shallowBuffer = Rule{
	ID:    "shallow-buffer",
	Of:    OfWay,
	Needs: []Name{HalfLoss, PacedLoss, Retransmits, Steady, InFlight, PayloadCapacity, EmptyRoundTrip},
	Reads: []Name{LoadedRoundTrip, MSS, Capacity, Spurious, SpuriousShare, SACK, ResentShare, LateRetransmits, LateSegments, PacedLost, PacedSent,
		HalfSent, HalfPeriod, LossPeriod, FullLosses, CollidingLoss, CollidingBack, BackCapacity, Stuck},
	Apart:   map[string]Name{"policer": HalfLoss, "random-loss": PacedLoss, "reordering-harmful": SpuriousShare, "no-sack": SACK, "duplex-mismatch": CollidingLoss},
	Suspect: losesWithoutQueue,
	Look: func(s *Subject) *Claim {
		if s.Known(SACK) && !s.Is(SACK) { // one overflow is then mended for seconds, however long the queue is
			return nil
		}
		if lossBlind(s.congestion) { // what a short queue drops does not slow it
			return nil
		}
		product := s.Value(PayloadCapacity) * s.Value(EmptyRoundTrip) / 8
		least := burstsFrom
		if s.Value(ResentShare) < collides { // less than where packets collide
			least = burstsLeast
		}
		switch {
		case !losesWithoutQueue(s) || s.Value(HalfLoss) > halfPasses || s.Value(InFlight) < least*product || s.Value(Spurious) >= enoughLosses:
			return nil
		case collide(s): // what a queue of any length lets pass
			return nil
		case mostlyFull(s) || !losesOnlyBursts(s): // a queue that holds much is not short; and what is rare, a probe need not meet
			return nil
		}
		return &Claim{
			Where: OnPath, Confidence: 0.7,
			Evidence: []Name{Retransmits, ResentShare, FullLosses, HalfLoss, PacedLoss, LoadedRoundTrip, Steady, InFlight},
			Advice:   []string{"queue", "pace"},
			Allows:   s.Value(Steady), // it depends on how bursts come
		}
	},
}

const (
	// halfPasses is the most that may be lost of half of the rate sent evenly: a probe's own scheduling makes small bursts.
	halfPasses = 0.01
	// burstsFrom is the share of the bandwidth-delay product that is under way when bursts overflow a queue of ten packets. Links that
	// lose whenever both ends send keep it below. So do the shortest queues, which lose less: one of six packets, of 250 that the path holds,
	// keeps 4 to 6 % under way.
	burstsFrom  = 0.1
	burstsLeast = 0.03
)
