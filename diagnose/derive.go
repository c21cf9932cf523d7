package diagnose

import (
	"cmp"
	"fmt"
	"math"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

// derive adds to a way what several facts say together.
func derive(s *Subject) {
	if s.Known(LoadedRoundTrip) {
		s.set(RoundTrip, s.Fact(LoadedRoundTrip))
	} else if s.Known(EmptyRoundTrip) {
		s.set(RoundTrip, s.Fact(EmptyRoundTrip))
	}
	if sent := s.Value(Segments); sent > 0 {
		s.set(ResentShare, ratio(s.Fact(Retransmits), s.Fact(Segments)))
	}
	if s.Known(Steady) && s.Known(EmptyRoundTrip) {
		s.set(InFlight, exactly(s.Value(Steady)*s.Value(EmptyRoundTrip)/8, nil))
	}
	deriveCapacity(s)
	deriveShaped(s)
	derivePaced(s)
	deriveFullLosses(s)
}

// deriveCapacity adds what of the capacity TCP payload can have. A capacity that the transfer exceeded is dropped: trains of
// packets came slower than the transfer, as where a host cannot send or stamp single packets as fast as it moves bytes. A transfer that was broken off
// exceeds none: of a way of some kbit/s most of what it got stood in queues as it began.
func deriveCapacity(s *Subject) {
	capacity, mss := s.Fact(Capacity), s.Value(MSS)
	if capacity.Value == 0 || mss == 0 {
		return
	}
	share := s.payloadShare(mss)
	carries, achieved := capacity.Value*share, max(s.Value(Goodput), s.Value(Steady))
	if achieved > carries*(1+capacityError) && s.shaped != "" { // it was no shaper
		s.facts[Capacity], s.shaped = s.atOnce, ""
		deriveCapacity(s)
		return
	}
	if achieved > carries*(1+capacityError) && !s.brokenOff {
		s.facts[Capacity] = Fact{Result: capacity.Result, Unknown: fmt.Sprintf("%s were measured, of which TCP payload can have %s, and "+
			"the transfer reached %s", quantity.FormatRate(capacity.Value), quantity.FormatRate(carries), quantity.FormatRate(achieved))}
		s.exceeded = true
		return
	}
	s.set(PayloadCapacity, Fact{Value: carries, Low: capacity.Low * share, High: capacity.High * share, Result: capacity.Result})
}

// deriveShaped drops a capacity that trains of packets told as they passed a token bucket filter within what its bucket holds. A queue stands
// then while a transfer runs, and of a probe by UDP far above the transfer no more comes through than of the transfer: that is what the
// path carries.
func deriveShaped(s *Subject) {
	capacity, steady := s.Fact(Capacity), s.Value(Steady)
	if capacity.Value == 0 || !waitsLong(s) {
		return
	}
	for _, p := range s.udp {
		through := p.result.Metrics[measure.Throughput]
		if p.lost < shapedLoses*p.sent || through > mostPoliced*steady || through < steady/mostPoliced {
			continue
		}
		why := Fact{Result: capacity.Result, Unknown: fmt.Sprintf("trains of packets came at %s, and of a probe of %s, %s came through: what "+
			"passes for long is less than what passes at once", quantity.FormatRate(capacity.Value), quantity.FormatRate(p.rate), quantity.FormatRate(through))}
		s.facts[Capacity], s.exceeded = why, true
		delete(s.facts, PayloadCapacity)
		return
	}
}

// waitsLong reports whether round trips are longer while a transfer runs than acknowledgements that are put off could make them.
func waitsLong(s *Subject) bool {
	empty := s.Value(EmptyRoundTrip)
	return s.Value(LoadedRoundTrip) > max(queueStands*empty, empty+putOff)
}

// shapedLoses is the least share that a probe loses which is far above what the path carries for long. One on a path that others fill
// loses a tenth of that.
const shapedLoses = 0.3

// derivePaced adds what probes by UDP lost on a path that is nearly empty, and on one that is half full. A probe that took more may
// have filled a queue, so what it lost says nothing of that.
func derivePaced(s *Subject) {
	whole := max(s.Value(Capacity), s.Value(Steady))
	for _, p := range s.udp {
		sent, lost := exactly(p.sent, p.result), exactly(p.lost, p.result)
		asked, _ := p.result.Number("rate") // a busy host sends more slowly, but not evenly
		switch {
		case s.Known(PacedRate) && p.rate < slower*s.Value(PacedRate):
			s.set(SlowLoss, ratio(lost, sent))
			s.setPositive(SlowRate, p.rate, p.result)
		case paced(s, max(p.rate, asked)):
			s.set(PacedSent, sent)
			s.set(PacedLost, lost)
			s.setPositive(PacedRate, p.rate, p.result)
			s.set(PacedLoss, ratio(lost, sent))
		case p.rate <= halfMost*whole:
			s.set(HalfLoss, ratio(lost, sent))
			s.set(HalfSent, sent)
			s.setPositive(HalfPeriod, p.result.Metrics[measure.LossPeriodMean], p.result)
			s.setPositive(HalfRate, p.rate, p.result)
		case !s.Known(Capacity) && s.Known(PacedLoss):
			s.set(BeyondLoss, ratio(lost, sent))
			s.setPositive(BeyondRate, p.rate, p.result)
		default:
			s.set(PacedLoss, Fact{Result: sent.Result, Unknown: fmt.Sprintf("the probe by UDP took %s of a path of %s, so that its losses may be "+
				"those of a full queue", quantity.FormatRate(p.rate), quantity.FormatRate(whole))})
		}
	}
}

// paced reports whether a probe by UDP of a rate left the path nearly empty.
func paced(s *Subject, rate float64) bool {
	return rate <= pacedMost*max(s.Value(Capacity), s.Value(Steady))*(1+capacityError)
}

// slower is the share of a paced probe's rate below which another one is a slower probe, and not that probe again.
const slower = 0.75

// halfMost is the share of a path up to which a probe by UDP leaves room for others.
const halfMost = 0.6

// ratio is the share of one count in another, with its 95 % interval: that of a Poisson count of the events, by the normal
// approximation of its square root, which is within 2 % from four events on (Bartlett 1936).
func ratio(events, of Fact) Fact {
	root := math.Sqrt(events.Value)
	low, high := max(0, root-interval95/2), root+interval95/2
	return Fact{Value: events.Value / of.Value, Low: low * low / of.Value, High: min(1, high*high/of.Value), Result: of.Result}
}

// interval95 is how many standard deviations to each side hold 95 % of a normal law.
const interval95 = 1.96

// deriveBack adds to a way what the other one tells of it: what the acknowledgements of a way take of the way back, one for two packets
// (RFC 9293 section 3.8.6.3), and what the way back loses unless it is full, as its own transfer makes it lose then.
func deriveBack(s, back *Subject) {
	if back.Known(ResentShare) && !full(back) {
		s.set(BackResent, back.Fact(ResentShare))
	}
	if back.Known(Steady) && !back.Is(Stuck) {
		s.set(BackFull, yes(full(back), nil))
	}
	if back.Known(CollidingLoss) && back.Known(HalfLoss) && collide(back) {
		s.set(BackCollides, yes(true, nil))
	}
	carries, mss := cmp.Or(back.Value(Capacity), back.Value(Steady), backByEchoes(s)), s.Value(MSS)
	if carries == 0 || mss == 0 || !s.Known(Steady) {
		return
	}
	ack := s.ipHeader() + model.TCPHeader + model.TCPTimestamps
	s.set(AcksShare, exactly(s.Value(Steady)/(2*mss*8)*ack*8/carries, nil))
}
