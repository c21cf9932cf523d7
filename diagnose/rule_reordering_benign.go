package diagnose

import "github.com/pathwise-net/pathwise/measure"

// Packets of two sizes, one after the other, and routes of which a hop has several addresses.
const (
	SizesReordered Name = "sizes_reordered" // share of them that came behind later ones
	SeveralWays    Name = "several_ways"
)

// reorderingBenign: packets overtake each other, and TCP copes. On parallel links small packets overtake large ones, which takes packets
// of two sizes to see: those of a transfer have one.
var reorderingBenign = Rule{
	ID:    "reordering-benign",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{ReorderedShare, Spurious, Steady},
	Reads: []Name{SizesReordered, SeveralWays},
	Brings: []definition{
		{Name: SizesReordered, Metric: string(measure.ReorderingRatio), Unit: "ratio",
			Means: "share of small and large packets in turn that came behind later ones", From: ofTrains, Step: mixedTrains,
			Read: func(_ *Subject, r *measure.Result) (float64, bool) {
				small, _ := r.Number("small")
				share, told := r.Get(measure.ReorderingRatio)
				return share, told && small > 0
			}},
		{Name: SeveralWays, Metric: "several_ways_count", Means: "some hop of the route answers by several addresses",
			From: ofTrace, Read: func(_ *Subject, r *measure.Result) (float64, bool) {
				for _, h := range r.Samples.Hops {
					if len(h.Addresses) > 1 {
						return 1, true
					}
				}
				return 0, true
			}},
	},
	Apart:   map[string]Name{"reordering-harmful": Spurious},
	Suspect: func(s *Subject) bool { return s.Is(SeveralWays) || s.Value(ReorderedShare) > 0 },
	Look: func(s *Subject) *Claim {
		c := &Claim{
			Severity: measure.Info, Where: OnPath, Confidence: 0.9,
			Evidence: []Name{ReorderedShare, SizesReordered, Spurious, Steady},
			Advice:   []string{},
			Allows:   s.Value(Steady), Unpredicted: true,
		}
		switch {
		case s.Value(Spurious) >= enoughLosses:
			return nil
		case s.Value(SizesReordered) >= sizesOvertake && s.Value(SizesReordered) > 2*s.Value(ReorderedShare):
			c.Says, c.Advice = []string{"sizes"}, []string{"flows"}
			return c
		case s.Value(ReorderedShare) >= someReordered:
			return c
		}
		return nil
	},
}

const (
	// someReordered is the share of packets behind later ones that is worth a word: below, one change of a route does it.
	someReordered = 0.001
	// sizesOvertake is the share of packets of two sizes in turn that come behind later ones where sizes overtake: most of the large ones do,
	// half of all. One train of five that meets something else makes a tenth.
	sizesOvertake = 0.2
)

// mixedTrains sends large and small packets in turn, back to back.
func mixedTrains(s *Subject) (Step, bool) {
	return step("mixed-sizes", "capacity", s.Name, "whether small packets overtake large ones", capacityTakes,
		map[string]any{"small": float64(tinyPayload)}), true
}
