package diagnose

import "github.com/pathwise-net/pathwise/measure"

// chattyApplication: the program takes turns, and these are what its transactions take: neither more capacity nor a better connection
// would make them shorter.
var chattyApplication = Rule{
	ID:    "chatty-application",
	Of:    OfExchange,
	Needs: []Name{Turns, ExchangeUsual, ExchangeIdeal, EmptyRoundTrip},
	Look: func(s *Subject) *Claim {
		turns, usual := s.Value(Turns), s.Value(ExchangeUsual)
		saved := (turns - 1) * s.Value(EmptyRoundTrip)
		if turns < 2 || usual < felt || saved < usual/2 {
			return nil
		}
		return &Claim{
			Where: AtSender, Confidence: 0.9,
			Evidence: []Name{Turns, EmptyRoundTrip, ExchangeUsual},
			Advice:   []string{"pipeline", "nearer"},
			Words:    map[string]string{"saved": inText(saved, "s")}, Unpredicted: true,
		}
	},
}

// felt is the time in seconds from which on a person no longer takes an answer for immediate (Miller, Response time in man-computer
// conversational transactions, 1968).
const felt = 0.1

// TurnsEachTrip is how many answers of the other end a program's connection carries each round trip.
const TurnsEachTrip Name = "turns_each_trip"

// chattyConnection: what the program has sent is all on its way, and it sends more as answers come, a few each round trip: it takes turns.
var chattyConnection = Rule{
	ID:       "chatty-application",
	Of:       OfConnection,
	Needs:    []Name{TurnsEachTrip, RoundTrip, Steady},
	Reads:    []Name{OwnerBusiest, OwnerBlocked, OwnGoodput},
	Brings:   []definition{{Name: TurnsEachTrip, Metric: "turns_count", Unit: "turns", Means: "answers each round trip of {round_trip}, all of it waited for"}},
	Apart:    map[string]Name{"host-cpu-limited": OwnerBusiest, "disk-limited": OwnerBlocked},
	Replaces: []string{"application-limited"},
	Look: func(s *Subject) *Claim {
		turns := s.Value(TurnsEachTrip)
		if turns < leastTurns || turns > mostTurns || s.Value(OwnerBusiest) >= wholeThread || s.Value(OwnerBlocked) >= binding {
			return nil
		}
		return &Claim{
			Where: AtEnds, Confidence: 0.75,
			Evidence: []Name{TurnsEachTrip, RoundTrip, Steady, OwnGoodput},
			Says:     []string{"connection"}, Advice: []string{"pipeline", "nearer"},
			Words: s.programWord(), Allows: s.Value(Steady), Unpredicted: true,
		}
	},
}

const (
	leastTurns = 0.5 // of a round trip: the rest is what the ends take to answer
	// mostTurns are those of a program that has a few requests under way at a time; with more, data moves both ways without turns.
	mostTurns = 4
)

// readTurns takes how many answers came each round trip, where at nearly all readings the program could have given TCP more.
func (s *Subject) readTurns(c *measure.Connection, r *measure.Result) {
	in, took := measure.Growth(c.Readings, "data_segs_in")
	out, _ := measure.Growth(c.Readings, "data_segs_out")
	room := 0
	for _, one := range c.Readings {
		if waitsForProgram(c, one.Values) {
			room++
		}
	}
	if took > 0 && float64(room) >= mostlyIdle*float64(len(c.Readings)) {
		s.set(TurnsEachTrip, exactly(min(in, out)*s.Value(RoundTrip)/took, r))
	}
}
