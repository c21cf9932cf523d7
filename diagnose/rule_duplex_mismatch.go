package diagnose

import "github.com/pathwise-net/pathwise/measure"

// What a probe by UDP loses that sends both ways at once.
const (
	CollidingLoss Name = "colliding_loss" // on this way
	CollidingBack Name = "colliding_back" // on the other
)

// duplexMismatch: one end of a cable takes turns and the other does not, so that packets are lost whenever both ends send. A transfer
// by TCP meets its own acknowledgements; a probe by UDP, which sends one way alone, meets nothing, and one that sends both ways does.
var duplexMismatch = Rule{
	ID:       "duplex-mismatch",
	Of:       OfWay,
	Needs:    []Name{PacedLoss, HalfLoss, ResentShare, InFlight, Capacity, EmptyRoundTrip, Steady},
	Reads:    []Name{Duration, Retransmits, PacedLost, SACK, SpuriousShare, BackResent, BackFull, FullLosses, CollidingLoss, CollidingBack},
	Apart:    map[string]Name{"random-loss": PacedLoss, "policer": HalfLoss, "shallow-buffer": CollidingLoss, "reordering-harmful": SpuriousShare},
	Suspect:  mayCollide,
	Replaces: []string{"shallow-buffer"}, // a short queue before a fast link makes few packets of a transfer get lost, and one way
	Brings: []definition{
		{Name: CollidingLoss, Metric: "loss_ratio", Unit: "ratio",
			Means: "lost by a probe that sends both ways at once", Step: collidingProbe, From: ofColliding, Read: readColliding},
		{Name: CollidingBack, Metric: "loss_ratio", Unit: "ratio",
			Means: "lost by that probe the other way", From: ofColliding, Read: readCollidingBack},
	},
	Look: func(s *Subject) *Claim {
		sure := s.Known(CollidingLoss)
		switch {
		case s.Value(HalfLoss) > halfPasses:
			return nil
		case sure && !(collide(s) && mayCollide(s)), !sure && !losesOwnAnswers(s):
			return nil
		}
		c := &Claim{
			Where: OnPath, Confidence: 0.7,
			Evidence: []Name{Retransmits, ResentShare, BackResent, CollidingLoss, CollidingBack, HalfLoss, PacedLoss, Steady, Capacity},
			Advice:   []string{"negotiate", "counters"},
			Allows:   s.Value(Steady), // there is no formula
			BothWays: sure,
		}
		if sure && s.Value(CollidingLoss) >= collidesSome { // the other way may lose for a reason of its own
			c.Confidence = 0.9
		}
		return c
	},
}

func mayCollide(s *Subject) bool { return losesOwnAnswers(s) || losesBothWays(s) || losesMuch(s) }

// losesMuch reports whether TCP loses a good part of its packets on such a path, as BBR does, which goes on while they collide, or overfills a short queue. A
// probe both ways at once tells which, before the way back is measured.
func losesMuch(s *Subject) bool { return losesAlone(s) && s.Value(ResentShare) >= collidesMuch }

// losesOwnAnswers reports whether TCP loses much with little under way, or both ways, on a path whose slow paced probe loses next to nothing.
// Where packets collide, neither way gets what it can: acknowledgements of either meet the other's data. One that loses while the other is full
// goes over a worse link than the probe, as where flows are spread over several.
func losesOwnAnswers(s *Subject) bool {
	product := s.Value(Capacity) * s.Value(EmptyRoundTrip) / 8
	bothWays := s.Value(BackResent) >= collidesBack && (s.Value(Duration) >= leastTransfer || !mostlyFull(s)) // slow start ends in losses, too
	little := s.Value(InFlight) < burstsFrom*product && !mostlyFull(s) || bothWays
	return losesAlone(s) && s.Value(ResentShare) >= collides && little
}

// losesBothWays reports whether TCP loses some both ways on such a path, as it does where few packets collide, since a fast cable leads to a
// slower link, and where short queues overflow. A probe both ways at once tells which.
func losesBothWays(s *Subject) bool {
	return losesAlone(s) && s.Value(ResentShare) >= collidesSome && s.Value(BackResent) >= collidesSome
}

// collide reports whether a probe both ways at once lost, either way, what one that sent as much one way did not. Which way loses more
// depends on which packet of two that meet began first.
func collide(s *Subject) bool {
	lost := max(s.Value(CollidingLoss), s.Value(CollidingBack))
	return lost >= collidesSome && lost > collidesMore*s.Value(HalfLoss)
}

// losesAlone reports whether a slow transfer loses what a slow paced probe does not.
func losesAlone(s *Subject) bool {
	return state(s) == Slow && !s.Is(BackFull) && s.Is(SACK) && s.Value(Retransmits) >= enoughLosses &&
		s.Known(PacedLoss) && s.Value(PacedLost) <= 1 && s.Value(SpuriousShare) <= mostlySpurious
}

// collidingProbe sends both ways at once what a queue of any length lets pass: a cable that takes turns at one end alone loses packets of it.
func collidingProbe(s *Subject) (Step, bool) {
	rate := float64(int64(collidesPart * s.Value(Capacity)))
	if !mayCollide(s) || !s.Known(HalfLoss) || s.Value(HalfLoss) > halfPasses || rate == 0 || rate > halfFastest || s.Known(CollidingLoss) {
		return Step{}, false
	}
	return Step{Name: "colliding", Kind: "throughput", Why: "whether packets are lost when both ends send", Seconds: collidesLasts + setUpTakes,
		Way:        measure.Way(s.Name),
		Parameters: map[string]any{"proto": "udp", "bidir": true, "rate": rate, "duration": collidesLasts, "length": pacedBytes}}, true
}

// readColliding takes what was lost on the way there.
func readColliding(_ *Subject, r *measure.Result) (float64, bool) {
	return r.Get(measure.LossRatio)
}

// readCollidingBack takes what was lost on the way back, of which only the bytes are counted.
func readCollidingBack(_ *Subject, r *measure.Result) (float64, bool) {
	sent, told := r.Get(measure.ReverseSentBytes)
	received, arrived := r.Get(measure.ReverseReceivedBytes)
	return max(0, 1-received/max(1, sent)), told && arrived && sent > 0
}

const (
	// collides is the share of packets that get lost where each that meets another is: two recorded cases lose 7 % and more.
	collides = 0.03
	// collidesMuch is from which share on a probe both ways is worth its time, however much is under way.
	collidesMuch = 0.1
	// collidesBack is the least that the other way loses then. Two recorded cases lose 1.5 % and more; a short queue both ways, up to 1.3 %,
	// does not make either lose as much as collides.
	collidesBack = 0.01
	// collidesSome is the least that each way loses where a cable is faster than what follows it: of 100 Mbit/s before 25, 1.3 and 2 %.
	collidesSome = 0.005
	// collidesMore is how many times as much a probe both ways has to lose as one of a way alone. Less may be chance.
	collidesMore = 3
	// collidesPart is the share of the path that the probe takes each way: nearly as much as the probe of one way with which it is compared.
	collidesPart  = 0.45
	collidesLasts = 4.0 // seconds, as a paced probe
)
