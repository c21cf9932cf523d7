package diagnose

import "github.com/pathwise-net/pathwise/measure"

// Via is another host of a mesh, and the round trips between it and both ends of a path, in seconds. The zero value: none is known of.
type Via struct {
	Host            string  `json:"host"`
	SourceRoundTrip float64 `json:"source_round_trip_seconds" doc:"Between the source and that host, the least of a run: of nine of ten runs at the most so much"`
	TargetRoundTrip float64 `json:"target_round_trip_seconds" doc:"The same between that host and the target"`
	StraightSeconds float64 `json:"straight_round_trip_seconds,omitempty" doc:"Of a history: between source and target, the least of a run: of nine of ten runs at least so much"`
}

// ViaRoundTrip is the round trip by way of another host of the mesh.
const ViaRoundTrip Name = "via_round_trip"

// detour: a round trip takes longer than by way of another host. Delays of a network that takes the shortest ways keep the triangle inequality: from a to b
// takes no longer than from a to c and from c to b. Where they do not, the network does not take the shortest way, or not all of its parts may be used by all.
// The other host's own access link is passed twice on the way round, so that what is found is less than what the detour costs.
//
// One end by itself cannot know: what far away lies between two hops is not told by how long the way between takes.
var detour = Rule{
	ID:    "detour",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{EmptyRoundTrip, ViaRoundTrip},
	Reads: []Name{IdleRoundTrip, Steady},
	Brings: []definition{{Name: ViaRoundTrip, Metric: string(measure.RTTMin), Unit: "s",
		Means: "round trip by way of another host of the mesh, as the round trips to it and from it were measured of late"}},
	Look: func(s *Subject) *Claim {
		straight, round := s.Value(EmptyRoundTrip), s.Value(ViaRoundTrip)
		if usual := s.via.StraightSeconds; usual > 0 { // a queue that stands all the time now is no detour
			straight = min(straight, usual)
		}
		queue := s.Value(IdleRoundTrip) - straight                                                                   // 0 or less where the usual round trip is not known
		if s.Name != measure.Forward || straight-round <= detourMargin(straight) || queue > detourMargin(straight) { // it is one thing of both ways, and told once
			return nil
		}
		c := &Claim{
			Severity: measure.Info, Where: OnPath, Confidence: 0.9,
			Evidence: []Name{EmptyRoundTrip, ViaRoundTrip},
			Words:    map[string]string{"via": s.via.Host, "longer": format(straight-round, "s")},
			Advice:   []string{"trace", "ask"},
			Allows:   s.Value(Steady), Unpredicted: true,
		}
		if straight > detourCosts*round {
			c.Severity = measure.Warning
		}
		return c
	},
}

// detourMargin is by how much a round trip must be longer than that by way of another host, in seconds: a tenth, and 1 ms, by which least round trips of busy
// hosts differ, and which is 100 km of fibre.
func detourMargin(roundTrip float64) float64 { return max(roundTrip/10, 0.001) }

// detourCosts is how many times the other round trip a detour must take to be a warning: transfers that a window or losses hold are a fifth slower then.
const detourCosts = 1.25

// tellVia says by which other host a path could go, and how long that takes.
func (s *Subject) tellVia(v Via) {
	if v.SourceRoundTrip > 0 && v.TargetRoundTrip > 0 {
		s.via = v
		s.set(ViaRoundTrip, exactly(v.SourceRoundTrip+v.TargetRoundTrip, nil))
	}
}

// detourOf finds that what was measured between two hosts of late goes a detour, without a diagnosis of its own.
func (h *History) detourOf() *judgement {
	if h.Via == nil {
		return nil
	}
	s := &Subject{Kind: OfWay, Name: measure.Forward, Sender: h.Source, Receiver: h.Target, Target: h.Target}
	s.setPositive(EmptyRoundTrip, h.Via.StraightSeconds, nil)
	s.tellVia(*h.Via)
	return judge([]Rule{detour}, s)
}
