package diagnose

import (
	"cmp"
	"math"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/stat"
)

// stretch is what the Results of a part of a path, or of all of it, say on one way. 0 is not known, but of counts.
type stretch struct {
	trip, loaded float64 // seconds: the shortest round trip, and the usual one under load
	rate         float64 // of a transfer by TCP once it runs, in bit/s
	carries      float64 // what the narrowest link can carry of payload, in bit/s
	sent, lost   float64 // packets that were sent evenly
	segments     float64 // of TCP
	resent       float64
	queue        float64 // bytes that stood in the fullest queue, where TCP lost packets; 0: it lost none
	mss          float64
	held         string // which host held the transfer; "": none
	moved, stuck bool
	target       string // its address
}

// readStretch reads Results about one way. Of packets that were sent evenly those at about the given rate count, in bit/s: what drops all that
// is above a rate makes slower ones lose less.
func readStretch(way measure.Way, evenly float64, results []*measure.Result) stretch {
	s := gather(results).ways[string(way)]
	all := stretch{trip: s.Value(EmptyRoundTrip), loaded: s.Value(LoadedRoundTrip), rate: s.Value(Steady), carries: s.Value(PayloadCapacity),
		segments: s.Value(Segments), resent: s.Value(Retransmits), mss: segment(s), moved: s.Value(Goodput) > 0, stuck: s.Is(Stuck), held: heldBy(s)}
	for _, u := range s.udp {
		if asked, _ := u.result.Number("rate"); evenly > 0 && math.Abs(asked-evenly) <= sameRate*evenly {
			all.sent, all.lost = all.sent+u.sent, all.lost+u.lost
		}
	}
	for _, r := range results {
		all.target = cmp.Or(r.Target.Address, all.target)
		if sortOf(r) == ofTransfer && measure.WayOf(r.Kind, r.Parameters) == way {
			all.queue = max(all.queue, fullestQueue(s, r))
		}
	}
	return all
}

// sameRate is within what share of each other rates are about the same: a capacity that was measured twice differs by as much.
const sameRate = capacityError

// fullestQueue is how many bytes stood in the fullest queue: 0 where TCP lost too little for a queue to have been full.
func fullestQueue(s *Subject, r *measure.Result) float64 {
	if s.Value(Retransmits) < enoughLosses {
		return 0
	}
	_, most := stoodInQueue(s, r)
	return most
}

// heldBy says what of its hosts held a transfer, rather than the path: a window, a buffer or the program; "" if nothing did.
func heldBy(s *Subject) string {
	switch {
	case s.Value(ReceiveWindowShare) >= binding:
		return "the receive window of " + s.Receiver
	case s.Value(SendBufferShare) >= sendBinding:
		return "the send buffer of " + s.Sender
	case s.Value(RoomShare) >= mostlyIdle:
		return "the program that sends"
	}
	return ""
}

// full reports whether a transfer got what the narrowest link can carry.
func (s *stretch) full() bool { return s.carries > 0 && s.rate >= fullShare*s.carries }

// most is the highest rate that is known to pass, in bit/s.
func (s *stretch) most() float64 {
	if s.full() {
		return max(s.carries, s.rate)
	}
	return s.rate
}

// loss is the share of packets that were lost, with its interval. nil: none were sent.
func (s *stretch) loss() *Estimate {
	if s.sent == 0 {
		return nil
	}
	low, high := stat.Wilson(int(s.lost), int(s.sent))
	return &Estimate{s.lost / s.sent, low, high}
}

// added is what a longer prefix loses beyond a shorter one, with the 95 % interval of a difference of two shares (Newcombe, Interval
// Estimation for the Difference Between Independent Proportions, Statistics in Medicine 17, 1998, method 10), of which nothing is below 0.
func added(longer, shorter *Estimate) *Estimate {
	if longer == nil || shorter == nil {
		return longer
	}
	d := longer.Value - shorter.Value
	return &Estimate{max(0, d), max(0, d-math.Hypot(longer.Value-longer.Low, shorter.High-shorter.Value)),
		max(0, d+math.Hypot(longer.High-longer.Value, shorter.Value-shorter.Low))}
}

// byLossOf is what TCP reaches over a round trip with a loss, at most so much; most is also what it reaches without one.
func byLossOf(loss *Estimate, mss, trip, most float64) *Estimate {
	of := func(p float64) float64 {
		if p <= 0 {
			return most
		}
		return min(most, model.Mathis(mss, seconds(trip), p, model.CIndependent))
	}
	return &Estimate{of(loss.Value), of(loss.High), of(loss.Low)}
}

// longestHop is the round trip to the last of some routers that answered, in seconds; 0: none did.
func longestHop(hops []measure.Hop) float64 {
	for _, h := range slices.Backward(hops) {
		if least, answered := h.Least(); answered {
			return least
		}
	}
	return 0
}
