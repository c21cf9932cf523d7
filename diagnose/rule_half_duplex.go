package diagnose

import "github.com/pathwise-net/pathwise/measure"

// BothWays is the goodput of a transfer both ways at once, both together.
const BothWays Name = "both_ways"

// halfDuplex: both ways share one medium, as behind a hub or by radio, so that both together carry no more than one of them alone.
// Acknowledgements alone take some of it: a queue stands, nothing is lost, and the link is not full.
var halfDuplex = Rule{
	ID:    "half-duplex",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{BothWays, PayloadCapacity, Steady, LoadedRoundTrip, EmptyRoundTrip, ResentShare},
	Apart: map[string]Name{"cross-traffic": BothWays},
	Brings: []definition{{Name: BothWays, Metric: "both_ways_bits_per_second", Unit: "bit/s",
		Means: "goodput of both ways at once, together", Step: bothWays, From: ofBothWays,
		Read: func(_ *Subject, r *measure.Result) (float64, bool) {
			there, told := r.Get(measure.Throughput)
			back, toldBack := r.Get(measure.ReverseThroughput)
			return there + back, told && toldBack
		}}},
	Suspect: queuesBelowCapacity,
	Look: func(s *Subject) *Claim {
		if !queuesBelowCapacity(s) || s.Value(BothWays) > sharedMost*s.Value(Steady) {
			return nil
		}
		return &Claim{
			Where: OnPath, Confidence: 0.8,
			Evidence: []Name{BothWays, Steady, PayloadCapacity, LoadedRoundTrip},
			Advice:   []string{"duplex", "radio"},
			Allows:   s.Value(Steady), // there is no formula
		}
	},
}

// queuesBelowCapacity reports whether TCP keeps a queue standing, loses next to nothing, and yet leaves some of the link unused.
func queuesBelowCapacity(s *Subject) bool {
	loaded, empty, carries := s.Value(LoadedRoundTrip), s.Value(EmptyRoundTrip), s.Value(PayloadCapacity)
	return loaded > standsLong*empty && loaded-empty > leastQueue && s.Known(ResentShare) && s.Value(ResentShare) < fewResent &&
		s.Value(Steady) > sharedLeast*carries && s.Value(Steady) < sharedFull*carries
}

const (
	// standsLong is the ratio of loaded to empty RTT from which on a queue never empties between losses: at 2 it holds a
	// bandwidth-delay product on the average, all that CUBIC and Reno give up for a loss.
	standsLong = 2
	fewResent  = 0.01
	// A link that both ways share carries, one way and with acknowledgements for every other packet, four fifths of its rate; a link
	// with a standing queue that is one way's alone carries all of it.
	sharedLeast = 0.5
	sharedFull  = 0.9
	// sharedMost is how much more than one way alone both together get on a medium that they share: each collides less with data
	// than with acknowledgements. On links of their own they get twice as much, and with others' traffic on one way still half more.
	sharedMost = 1.25
)

// bothWays moves data both ways at once.
func bothWays(s *Subject) (Step, bool) {
	return Step{Name: "both-ways", Kind: "throughput", Why: "whether both ways share what one has alone", Seconds: bothWaysLast + setUpTakes,
		Way: measure.Way(s.Name), Parameters: map[string]any{"bidir": true, "duration": bothWaysLast, "length": surveyWrite}}, true
}

// bothWaysLast is how long the transfer both ways lasts, in seconds: twice what slow start and the first losses take.
const bothWaysLast = 4.0
