package diagnose

import (
	"fmt"
	"math"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
)

// pmtuBlackhole: packets above a size vanish, and nobody tells the sender, who sends them again and again.
var pmtuBlackhole = Rule{
	ID:      "pmtu-blackhole",
	Of:      OfWay,
	In:      []State{Dead},
	Needs:   []Name{Answers, SilentSize, PassingSize},
	Reads:   []Name{Capacity, Goodput, MSS, Retransmits},
	Apart:   map[string]Name{"unexplained": PassingSize},
	Suspect: func(s *Subject) bool { return s.Value(Answers) > 0 },
	Look: func(s *Subject) *Claim {
		if s.Value(Answers) == 0 {
			return nil
		}
		passes := s.Value(PassingSize)
		c := &Claim{
			Where: OnPath, Confidence: 0.95,
			Evidence: []Name{PassingSize, SilentSize, Goodput, MSS, Answers},
			Words: map[string]string{"mtu": fmt.Sprintf("%.0f", passes),
				"clamp": fmt.Sprintf("%.0f", passes-s.ipHeader()-model.TCPHeader)},
			Advice:      []string{"probing", "clamp", "icmp"},
			Allows:      0, // of packets this large nothing comes through
			Unpredicted: true,
		}
		if s.Value(Retransmits) > 0 {
			c.Evidence = append(c.Evidence, Retransmits)
		}
		if s.Address != "" {
			c.Advice = append([]string{"route"}, c.Advice...)
		}
		// Without a capacity the next limit is anybody's guess.
		if mss := passes - s.ipHeader() - model.TCPHeader - model.TCPTimestamps; mss > 0 && s.Known(Capacity) {
			c.Unpredicted = false
			c.Cured = map[Name]float64{MSS: mss, PayloadCapacity: s.Value(Capacity) * s.payloadShare(mss)}
		}
		return c
	},
}

// readSize takes whether packets of a size come through that no router may cut. Once somebody says that they are too large, as
// is right, no silence of others means anything.
func readSize(s *Subject, r *measure.Result, sent, answered float64) {
	size, _ := r.Number("size")
	bytes := size + icmpHeader + ipHeader(r.Target.Address)
	said := sent == 0
	for _, one := range r.Samples.Echoes {
		said = said || one.Error != ""
	}
	s.sized = true
	switch {
	case answered > 0:
		s.passed = true
		if bytes >= s.Value(PassingSize) {
			s.set(PassingSize, exactly(bytes, r))
		}
	case said:
		s.tooLarge = true
	default:
		s.setLeast(SilentSize, bytes, r)
		if !s.Known(PassingSize) {
			s.set(PassingSize, Fact{Value: smallPacket, Low: smallPacket, High: bytes})
		}
	}
}

// icmpHeader is the size of the header of an echo in bytes (RFC 792).
const icmpHeader = 8

// sizeOfPackets tries packets of the next size where a connection opens and nothing moves: what it sends, then between what
// passes and what vanishes, until that is known well enough. It is false where nothing more is to be learnt.
func sizeOfPackets(s *Subject) (Step, bool) {
	if !s.Is(Stuck) || s.tooLarge {
		return Step{}, false
	}
	passes, silent := max(smallPacket, s.Value(PassingSize)), s.Value(SilentSize)
	switch {
	case !s.sized && s.Known(MSS):
		return sizeStep(s, s.Value(MSS)+s.ipHeader()+model.TCPHeader+model.TCPTimestamps), true
	case silent == 0 || silent-passes <= nearEnough:
		return Step{}, false
	}
	return sizeStep(s, math.Floor((passes+silent)/2)), true
}

const (
	// smallPacket is what every path carries (RFC 791), and less than what any ping of a diagnosis sends.
	smallPacket = 68
	// nearEnough is how well the size is told from which on packets vanish: the sizes of tunnels' headers differ by 4 to 8 bytes.
	nearEnough = 4
)

// sizeStep tries whether packets of a size come through.
func sizeStep(s *Subject, bytes float64) Step {
	waits := min(max(sizeLeastWait, sizeTrips*s.Value(EmptyRoundTrip)), sizeMostWait)
	return Step{Name: fmt.Sprintf("size-%.0f", bytes), Kind: "ping", Way: measure.Way(s.Name),
		Why: fmt.Sprintf("whether packets of %.0f bytes come through", bytes),
		Parameters: map[string]any{"count": sizePings, "interval": sizeInterval, "df": true, "timeout": waits,
			"size": int(bytes - s.ipHeader() - icmpHeader)},
		Seconds: sizePings*sizeInterval + waits}
}

// Pings of one size. That all get lost by accident takes a path that loses a quarter of its packets for 1 in 1000, and their
// answers get a few round trips to come.
const (
	sizePings     = 5
	sizeInterval  = 0.02 // seconds
	sizeTrips     = 4
	sizeLeastWait = 0.3 // seconds; hosts answer within milliseconds
	sizeMostWait  = 2.0 // seconds
)

// smallTrains measures the capacity by packets that pass, where large ones vanish.
func smallTrains(s *Subject) (Step, bool) {
	if !s.Is(Stuck) || !s.passed || s.Known(Capacity) || !s.Known(SilentSize) {
		return Step{}, false
	}
	return step("capacity-small", "capacity", s.Name, "what the narrowest link can carry, by packets that pass", capacityTakes,
		map[string]any{"length": min(mostTrainLength, int(s.Value(PassingSize)-s.ipHeader()-udpHeader))}), true
}

// mostTrainLength is what trains have as they are, and at most, in bytes of UDP payload: see probe.Capacity.
const mostTrainLength = 1452

// udpHeader is the size of a UDP header in bytes (RFC 768).
const udpHeader = 8
