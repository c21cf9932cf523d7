package diagnose

import (
	"math"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
)

// randomLoss: packets get lost although no queue is full. TCP takes each loss for congestion and slows down.
//
// A queue that overflows loses packets too, but first it stands, and the round trip shows it; and a probe that fills
// a small part of the path only loses what is lost at random, unless others fill the rest.
var randomLoss = Rule{
	ID:      "random-loss",
	Of:      OfWay,
	In:      []State{Slow, Full},
	Needs:   []Name{Segments, Retransmits, MSS, EmptyRoundTrip},
	Reads:   []Name{ResentShare, LateRetransmits, LateSegments, PacedLoss, PacedLost, PacedSent, LoadedRoundTrip, IdleRoundTrip, OpeningUsual, Capacity, Steady, TimerShare, SpuriousShare},
	Apart:   map[string]Name{"path-full": PacedLoss},
	Suspect: lossesMayHold,
	Look: func(s *Subject) *Claim {
		p := lossRatio(s)
		switch {
		case p == 0, s.Known(PacedLoss) && !pacedKeeps(s, p):
			return nil
		case !pacedLost(s) && s.Value(SpuriousShare) > mostlySpurious: // what was sent again had arrived
			return nil
		}
		queue := tripsGrow(s)
		if queue && (!pacedLost(s) || s.Value(LoadedRoundTrip) > othersFill*s.Value(EmptyRoundTrip) || openingsWait(s)) || shared(s) {
			return nil // what others fill makes even a paced probe lose
		}
		c := &Claim{
			Where: OnPath, Confidence: lossConfidence(s),
			Evidence: []Name{Retransmits, ResentShare, LoadedRoundTrip, Steady, Allowed, PacedLoss},
			Advice:   append([]string{"link"}, s.common.bbr()...),
			Words:    map[string]string{"loss": inText(p, "ratio"), "queue": "no queue stands"},
			Allows:   lossAllows(s, p),
			Calc:     lossCall(s, p),
			Gone:     []limit{byLoss},
		}
		if queue {
			c.Words["queue"] = "a queue stands as well"
		}
		if lossBlind(s.congestion) { // it is there, but does not slow this sender
			c.Severity, c.Unpredicted, c.Advice, c.Allows, c.Calc = measure.Info, true, c.Advice[:1], s.Value(Steady), ""
		}
		return c
	},
}

// bbr are the advice that helps until the link is mended: at the sender, or, where all paths of a host lose packets, at that host and at those
// that send to it.
func (c *Common) bbr() (keys []string) {
	if c.sends() {
		keys = append(keys, "bbr-own")
	}
	if c.receives() {
		keys = append(keys, "bbr-others")
	}
	if keys == nil {
		keys = []string{"bbr"}
	}
	return keys
}

// lossesMayHold reports whether lost packets may be what holds a transfer: not where the path is full, nor where so few were lost that no ratio follows
// from them, and a window or a buffer held it.
func lossesMayHold(s *Subject) bool {
	lost := s.Value(Retransmits)
	return lost > 0 && !full(s) && (lost >= enoughLosses || s.Value(ReceiveWindowShare)+s.Value(SendBufferShare) < binding)
}

// lossAllows is what the formulas leave of a loss ratio: Mathis, and Padhye where time-outs cost more, unless the sender is known to have had none:
// Linux mends nearly all losses without (RFC 8985).
func lossAllows(s *Subject, p float64) float64 {
	trip := seconds(s.Value(EmptyRoundTrip))
	halved := model.Mathis(s.Value(MSS), trip, p, model.CIndependent)
	if s.Known(TimerShare) && s.Value(TimerShare) == 0 {
		return halved
	}
	return min(halved, model.Padhye(s.Value(MSS), trip, p))
}

// lossRatio is the share of packets that get lost whatever the sender does: what the paced probe lost if it lost
// enough to tell, else what TCP sent again once it was past slow start, with what the probe lost. At the end of slow start TCP loses
// by its own doing; where nothing was lost after it, all that was sent again counts, and a paced probe has to confirm it.
func lossRatio(s *Subject) float64 {
	late, lost := s.Value(LateRetransmits), s.Value(PacedLost)
	switch {
	case pacedLost(s):
		return s.Value(PacedLoss)
	case late > 0 && late+lost >= enoughLosses:
		return (late + lost) / (s.Value(LateSegments) + s.Value(PacedSent))
	case s.Value(Retransmits) >= enoughLosses:
		return s.Value(ResentShare)
	}
	return 0
}

// othersFill is the ratio of loaded to empty RTT from which on losses are rather those of a queue that others fill: a transfer that
// loses at random does not get to fill one.
const othersFill = 2

// shared reports whether a queue comes and goes on the path before anything is moved: others fill it, and what is lost may be
// what did not fit. Loss alone does not vary the round trip.
func shared(s *Subject) bool {
	usual, least := s.Value(IdleRoundTrip), s.Value(EmptyRoundTrip)
	return usual > sharedQueue*least && usual-least > leastQueue
}

// openingsWait reports whether new connections are as a rule late, as where others fill a queue now and then that was empty while pings were sent: they
// are opened over another second or more.
func openingsWait(s *Subject) bool {
	usual, least := s.Value(OpeningUsual), s.Value(EmptyRoundTrip)
	return usual > sharedQueue*least && usual-least > othersQueue
}

// sharedQueue is the ratio of the usual to the least RTT of the idle path above which others' packets queue there: a path of the
// lab that is idle shows up to 1.02 on a busy machine, one that two transfers of others fill 1.17 and more.
const sharedQueue = 1.1

// pacedKeeps reports whether what the paced probe lost agrees with a loss ratio of p: at least one, and no fewer than
// the 1 in 100 chance of a Poisson count, by its normal approximation.
func pacedKeeps(s *Subject, p float64) bool {
	return s.Value(PacedLost) >= max(1, poissonLow(p*s.Value(PacedSent)))
}

// poissonLow is the 1 % point of a Poisson count, by its normal approximation.
func poissonLow(expected float64) float64 { return expected - 2.33*math.Sqrt(expected) }

// lossConfidence grows with how many losses were seen.
func lossConfidence(s *Subject) float64 {
	return confidence(1 - 1/math.Sqrt(1+s.Value(Retransmits)+s.Value(PacedLost)))
}

// pacedProbe measures what gets lost on a path that is nearly empty. It takes a tenth of the capacity, or of what TCP got
// where the capacity is not known; but at least 200 packets a second, since on slow paths it would count for too long, and at
// most a third of the path. It should lose pacedLosses packets at the ratio that TCP saw: where that takes long, it is faster, up to half
// of what TCP got beside others, and then it lasts, within bounds.
func pacedProbe(s *Subject) (Step, bool) {
	whole := max(s.Value(Capacity), s.Value(Steady))
	// Nothing came through and nothing is known of what could, or it is known what loses packets.
	if whole <= 0 || s.Value(ResentShare) <= 0 || s.Is(BackCollides) || silentTwice(s) {
		return Step{}, false
	}
	p := lossRatio(s)
	few := p == 0 // lost to tell a ratio
	if few {
		p = s.Value(ResentShare)
	}
	bits := pacedLosses / p * pacedBytes * 8
	rate := min(max(pacedPart*whole, pacedLeast*pacedBytes*8), pacedMost*whole)
	rate = min(max(rate, bits/pacedShortest), pacedMost*whole, max(rate, s.Value(Steady)/2))
	if few && bits/rate > 2*pacedLongest { // the probe would lose fewer than three packets, if any
		return Step{}, false
	}
	lasts := min(max(bits/rate, pacedShortest), pacedLongest)
	return step("paced", "throughput", s.Name, "whether packets are lost on a path that is nearly empty", lasts+setUpTakes,
		map[string]any{"proto": "udp", "rate": float64(int64(rate)), "duration": lasts, "length": pacedBytes}), true
}

const (
	pacedPart     = 0.1
	pacedMost     = 1.0 / 3
	pacedLeast    = 200 // packets a second
	pacedShortest = 4.0 // seconds
	// pacedLongest is in seconds. A transfer of 8 s that lost enough to tell sends no more than such a probe at half of its rate.
	pacedLongest = 20.0
	pacedLosses  = 6    // then the chance to see none by accident is 1 in 400
	pacedBytes   = 1400 // UDP payload; fits any path that carries 1500 bytes and most tunnels
)
