package diagnose

import "github.com/pathwise-net/pathwise/measure"

// smallMSS: packets are much smaller than those of Ethernet, so that headers and each loss cost more.
var smallMSS = Rule{
	ID:    "small-mss",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{MSS, Steady},
	Look: func(s *Subject) *Claim {
		if s.Value(MSS) >= leastMSS {
			return nil
		}
		return &Claim{
			Severity: measure.Warning, Where: OnPath, Confidence: 0.9,
			Evidence: []Name{MSS, Steady, ResentShare},
			Advice:   []string{"mtu"},
			Allows:   s.Value(Steady), Unpredicted: true,
		}
	},
}

// leastMSS is what a packet of IPv6's least MTU (RFC 8200 section 5) carries: 1,280 bytes less 40 of IPv6, 20 of TCP and 12 of time
// stamps. Tunnels leave more.
const leastMSS = 1208
