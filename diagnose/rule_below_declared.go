package diagnose

import "github.com/pathwise-net/pathwise/measure"

// DeclaredRate is what the mesh file says that the lines of both ends carry, the lesser.
const DeclaredRate Name = "declared_rate"

// belowDeclared: the narrowest link carries far less than the mesh file says of both ends. Where nothing else holds transfers back they get all
// of it, and are slow beside what is declared.
var belowDeclared = Rule{
	ID:    "below-declared",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{Capacity, DeclaredRate},
	Reads: []Name{Steady, PayloadCapacity, LoadedRoundTrip, EmptyRoundTrip, ReceiveWindowShare, SendBufferShare, RoomShare, IdleRoundTrip},
	Brings: []definition{{Name: DeclaredRate, Metric: "declared_bits_per_second", Unit: "bit/s",
		Means: "what the mesh file says that the lines of both ends carry"}},
	Look: func(s *Subject) *Claim {
		if s.Value(Capacity) >= leastDeclared*s.Value(DeclaredRate) {
			return nil
		}
		c := &Claim{Severity: measure.Warning, Where: OnPath, Confidence: 0.9, Beyond: true, Unpredicted: true, Allows: s.Value(Steady),
			Evidence: []Name{Capacity, DeclaredRate, Steady}, Says: []string{"main"}, Advice: []string{"line", "declaration"},
			Words: map[string]string{"declared_host": s.declared.Host}}
		if s.standard != "" {
			c.Says, c.Words["standard"] = append(c.Says, "standard"), s.standard
		}
		if full(s) {
			c.Says = append(c.Says, "full")
		}
		return c
	},
}

// leastDeclared is the share of a declared rate that a capacity has to be: what is measured may be off by a tenth, and the headers of the link
// itself take up to as much again.
const leastDeclared = 0.75
