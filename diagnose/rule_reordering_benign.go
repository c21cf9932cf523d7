package diagnose

import "github.com/pathwise-net/pathwise/measure"

// reorderingBenign: packets overtake each other, and TCP copes.
var reorderingBenign = Rule{
	ID:    "reordering-benign",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{ReorderedShare, Spurious, Steady},
	Apart: map[string]Name{"reordering-harmful": Spurious},
	Look: func(s *Subject) *Claim {
		if s.Value(ReorderedShare) < someReordered || s.Value(Spurious) >= enoughLosses {
			return nil
		}
		return &Claim{
			Severity: measure.Info, Where: OnPath, Confidence: 0.9,
			Evidence: []Name{ReorderedShare, Spurious, Steady},
			Advice:   []string{},
			Allows:   s.Value(Steady), Unpredicted: true,
		}
	},
}

// someReordered is the share of packets behind later ones that is worth a word: below, one change of a route does it.
const someReordered = 0.001
