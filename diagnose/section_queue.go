package diagnose

import (
	"fmt"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/stat"
)

// stoodInQueue is how many bytes stood before the narrowest link while a transfer ran, by how much its round trip grew: at one moment in twenty, and
// at the most; 0: that is not known. In the lab the most is within 3 % of what a queue of 250 kB holds; a queue of 15 kB may look two or three
// times as long, since hosts take a few milliseconds at times.
func stoodInQueue(s *Subject, r *measure.Result) (often, most float64) {
	var trips []float64
	for _, one := range samples(s, r, measure.Sender) {
		trips = append(trips, one.Values["rtt_seconds"])
	}
	if s.Value(EmptyRoundTrip) == 0 || len(trips) == 0 {
		return 0, 0
	}
	slices.Sort(trips)
	bytes := func(trip float64) float64 {
		return max(0, trip-s.Value(EmptyRoundTrip)) * max(s.Value(Capacity), s.Value(Steady)) / 8
	}
	return bytes(stat.Quantile(trips, 0.95)), bytes(trips[len(trips)-1])
}

// burstShare is the part of a window that stands in the queue at once in slow start: each round trip twice as much comes as leaves (RFC 8337
// section 8.2.1).
const burstShare = 0.5

// checkQueue holds the queue before the narrowest link against the bursts of the target: those of slow start, which are the largest. What
// stood in it during a transfer it holds at the least. It is too short where it overflowed with less in it, by more than a capacity may be
// off: where the transfer lost packets, and packets that are sent evenly at the target's rate, which fill no queue, are not lost.
func checkQueue(t Target, s *Subject, results []*measure.Result, losses Outcome) Check {
	window := model.WindowNeeded(t.Rate, t.RTT)
	c := Check{Name: "queue", Unit: "bytes", Needed: burstShare * window, Outcome: Untold,
		Means: fmt.Sprintf("what stands before the narrowest link when slow start reaches the window: half of it; all of it, %s, keeps a link that is "+
			"no faster than the target busy after a loss", quantity.FormatSize(int64(window)))}
	often := 0.0
	for _, r := range results {
		if sortOf(r) == ofTransfer && measure.WayOf(r.Kind, r.Parameters) == measure.Way(s.Name) {
			one, most := stoodInQueue(s, r)
			often, c.Value = max(often, one), max(c.Value, most)
		}
	}
	lost := s.Value(Retransmits)-s.Value(Spurious) >= enoughLosses
	switch {
	case c.Value == 0 || s.Is(Stuck):
		c.Means += "; how much stood there is not known"
	case often >= c.Needed:
		c.Outcome = Passes
	case lost && losses == Passes && c.Value < (1-capacityError)*c.Needed:
		c.Outcome = Fails
		c.Means += fmt.Sprintf("; it overflowed with no more than %s in it", quantity.FormatSize(int64(c.Value)))
		c.Advice = []measure.Advice{{Host: "path", Why: "give the queue before the narrowest link of this section more room, or have the sender pace " +
			"its packets (sysctl -w net.core.default_qdisc=fq)"}}
	case lost && losses == Passes:
		c.Means += "; it overflowed with about as much in it, within what can be told"
	case lost:
		c.Means += "; packets were lost, and it is not known whether for a full queue"
	default:
		c.Means += fmt.Sprintf("; no more than %s stood there, and it did not overflow: a larger window would tell", quantity.FormatSize(int64(c.Value)))
	}
	return c
}
