package diagnose

import "github.com/pathwise-net/pathwise/measure"

// What a probe by UDP loses that sends both ways at once.
const (
	CollidingLoss Name = "colliding_loss" // on this way
	CollidingBack Name = "colliding_back" // on the other
	BackCollides  Name = "back_collides"  // that probe tells of the other way that packets collide
)

// duplexMismatch: one end of a cable takes turns and the other does not, so that packets are lost whenever both ends send. A transfer
// by TCP meets its own acknowledgements; a probe by UDP, which sends one way alone, meets no more than its own reports, and one that sends both
// ways meets much. It is one cause of both ways: what one way tells holds for the other, too, for which no probe is asked for any more.
var duplexMismatch = Rule{
	ID:    "duplex-mismatch",
	Of:    OfWay,
	Needs: []Name{ResentShare, InFlight, Capacity, EmptyRoundTrip, Steady},
	Reads: []Name{Duration, Retransmits, PacedLoss, PacedLost, HalfLoss, SACK, SpuriousShare, BackResent, BackFull, FullLosses, CollidingLoss,
		CollidingBack, BackCollides, BackCapacity, PayloadCapacity, Stuck},
	Apart:   map[string]Name{"random-loss": PacedLoss, "policer": HalfLoss, "shallow-buffer": CollidingLoss, "reordering-harmful": SpuriousShare},
	Suspect: mayCollide,
	// A short queue before a fast link makes few packets of a transfer get lost, and one way; and what is lost at random, a probe of one way loses, too.
	Replaces: []string{"shallow-buffer", "random-loss"},
	Brings: []definition{
		{Name: CollidingLoss, Metric: "loss_ratio", Unit: "ratio",
			Means: "lost by a probe that sends both ways at once", Step: collidingProbe, From: ofColliding, Read: readColliding(measure.Forward)},
		{Name: CollidingBack, Metric: "loss_ratio", Unit: "ratio",
			Means: "lost by that probe the other way", From: ofColliding, Read: readColliding(measure.Reverse)},
		{Name: BackCollides, Metric: "back_collides_count", Means: "a probe that sends both ways at once tells of the other way that packets collide"},
	},
	Look: func(s *Subject) *Claim {
		sure := s.Known(CollidingLoss)
		switch {
		case s.Is(BackCollides) && losesSome(s):
		case !s.Known(PacedLoss), !s.Known(HalfLoss), s.Value(HalfLoss) > halfPasses:
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
		if !s.Known(HalfLoss) {
			c.Says = []string{"back"}
		}
		if sure && s.Value(CollidingLoss) >= collidesLeast { // the other way may lose for a reason of its own
			c.Confidence = 0.9
		}
		return c
	},
}

// mayCollide reports whether TCP loses some packets on such a path, and not for a queue that it fills itself, or both ways, or a good part of them, as
// BBR does, which goes on while they collide. A probe both ways at once tells collisions from short queues, before the way back is measured.
func mayCollide(s *Subject) bool {
	apart := !mostlyFull(s) || s.Value(BackResent) >= collidesSome || s.Value(ResentShare) >= collidesMuch
	return losesAlone(s) && s.Value(ResentShare) >= collidesSome && apart && s.Value(FullLosses) < mostlyOfFull*s.Value(Retransmits)
}

// losesOwnAnswers reports whether TCP loses much with little under way, or both ways, on a path whose slow paced probe loses next to nothing.
// Where packets collide, neither way gets what it can: acknowledgements of either meet the other's data. One that loses while the other is full
// goes over a worse link than the probe, as where flows are spread over several.
func losesOwnAnswers(s *Subject) bool {
	product := s.Value(Capacity) * s.Value(EmptyRoundTrip) / 8
	bothWays := s.Value(BackResent) >= collidesBack && (s.Value(Duration) >= leastTransfer || !mostlyFull(s)) // slow start ends in losses, too
	little := s.Value(InFlight) < burstsFrom*product && !mostlyFull(s) || bothWays
	return losesAlone(s) && s.Value(ResentShare) >= collides && little
}

// collide reports whether a probe both ways at once lost, either way, what one that sent as much one way did not. Which way loses more
// depends on which packet of two that meet began first. Of the other way that counts only if it carries what was sent.
func collide(s *Subject) bool {
	lost := s.Value(CollidingLoss)
	if s.Value(BackCapacity) >= s.Value(Capacity)*(1-capacityError) {
		lost = max(lost, s.Value(CollidingBack))
	}
	return lost >= collidesLeast && lost > collidesMore*s.Value(HalfLoss)
}

// losesAlone reports whether a slow transfer loses what a slow paced probe does not, but for what meets that probe's own reports.
func losesAlone(s *Subject) bool {
	return losesSome(s) && !s.Is(BackFull) && s.Known(PacedLoss) &&
		(s.Value(PacedLost) <= 1 || s.Value(PacedLoss) <= s.Value(ResentShare)/reportsMeet)
}

// losesSome reports whether a slow transfer loses packets, that never arrived, for whatever reason.
func losesSome(s *Subject) bool {
	return state(s) == Slow && s.Is(SACK) && s.Value(Retransmits) >= enoughLosses && s.Value(SpuriousShare) <= mostlySpurious
}

// collidingProbe sends both ways at once what a queue of any length lets pass: a cable that takes turns at one end alone loses packets of it.
func collidingProbe(s *Subject) (Step, bool) {
	rate := float64(int64(collidesPart * s.Value(Capacity)))
	if !mayCollide(s) || !s.Known(HalfLoss) || s.Value(HalfLoss) > halfPasses || rate == 0 || rate > halfFastest || s.Known(CollidingLoss) {
		return Step{}, false
	}
	lasts := min(max(collidesPackets*pacedBytes*8/rate, collidesShortest), collidesLongest)
	parameters := map[string]any{"proto": "udp", "bidir": true, "rate": rate, "duration": lasts, "length": pacedBytes}
	if s.Responder {
		parameters["reverse-rate"] = float64(int64(collidesOther * rate))
	}
	return Step{Name: "colliding", Kind: "throughput", Why: "whether packets are lost when both ends send", Seconds: lasts + setUpTakes,
		Way: measure.Way(s.Name), Parameters: parameters}, true
}

// readColliding reads what was lost on a way, or the other one, seen from the way there; from the way back it is the other way round. Of what
// comes back only the bytes are counted. A probe that was cut short says nothing of that.
func readColliding(seen string) func(*Subject, *measure.Result) (float64, bool) {
	return func(s *Subject, r *measure.Result) (float64, bool) {
		there, told := r.Get(measure.LossRatio)
		sent, counted := r.Get(measure.ReverseSentBytes)
		received, arrived := r.Get(measure.ReverseReceivedBytes)
		if r.Error != nil || !told || !counted || !arrived || sent == 0 {
			return 0, false
		}
		if (s.Name == measure.Reverse) != (seen == measure.Reverse) {
			return max(0, 1-received/sent), true
		}
		return there, true
	}
}

const (
	// collides is the share of packets that get lost where each that meets another is: two recorded cases lose 7 % and more.
	collides = 0.03
	// collidesMuch is from which share on a probe both ways is worth its time, however much of it a full path lost.
	collidesMuch = 0.1
	// collidesBack is the least that the other way loses then. Two recorded cases lose 1.5 % and more; a short queue both ways, up to 1.3 %,
	// does not make either lose as much as collides.
	collidesBack = 0.01
	// collidesSome is the least that transfers lose where a cable is faster than what follows it: of 100 Mbit/s before 25, 1.3 and 2 %.
	collidesSome = 0.005
	// collidesLeast is the least that the probe both ways loses: of 100 Mbit/s before 25, 0.46 to 2 %, and with short queues nothing.
	collidesLeast = 0.004
	// collidesMore is how many times as much a probe both ways has to lose as one of a way alone. Less may be chance.
	collidesMore = 3
	// collidesPart is the share of the path that the probe takes each way: nearly as much as the probe of one way with which it is compared.
	// collidesOther is how much less the other end sends: at one rate, packets that once passed each other go on to do so, and none collide.
	collidesPart, collidesOther = 0.45, 0.9
	// The probe lasts, in seconds, until enough packets are sent to tell a share of collidesLeast, within bounds.
	collidesPackets, collidesShortest, collidesLongest = 1000, 2.0, 4.0
	// reportsMeet is how many times as much a transfer has to lose as a paced probe, of which a packet or two meets a report of the other end. On
	// 10 Mbit/s, a probe of a tenth of 5 Mbit/s lost up to 0.6 %, and transfers lost 6 to 15 %.
	reportsMeet = 8
)
