package diagnose

import (
	"fmt"
	"math"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
)

// HoleHop is the last hop that packets come to which are too large for the path.
const HoleHop Name = "hole_hop"

// pmtuBlackhole: packets above a size vanish, and nobody tells the sender, who sends them again and again.
var pmtuBlackhole = Rule{
	ID:    "pmtu-blackhole",
	Of:    OfWay,
	In:    []State{Dead},
	Needs: []Name{Answers, SilentSize, PassingSize},
	Reads: []Name{Capacity, Goodput, MSS, Retransmits, HoleHop},
	Brings: []definition{
		{Name: HoleHop, Metric: "hop", Unit: "hop", Means: "the last that larger packets come to", From: ofMTU, Read: func(s *Subject, r *measure.Result) (float64, bool) {
			last := lastThatAnswers(s.hole)
			if s.Name != measure.Forward || last < 0 {
				return 0, false
			}
			return float64(s.hole[last].TTL), true
		}},
	},
	Apart:   map[string]Name{"unexplained": PassingSize},
	Suspect: func(s *Subject) bool { return s.Value(Answers) > 0 },
	Look: func(s *Subject) *Claim {
		if s.Value(Answers) == 0 || s.tooLarge || s.Value(PassingSize) >= s.Value(SilentSize) {
			return nil
		}
		passes := s.Value(PassingSize)
		c := &Claim{
			Where: OnPath, Confidence: 0.95,
			Evidence: []Name{PassingSize, SilentSize, HoleHop, Goodput, MSS, Answers},
			Words: map[string]string{"mtu": fmt.Sprintf("%.0f", passes),
				"clamp": fmt.Sprintf("%.0f", passes-s.ipHeader()-model.TCPHeader)},
			Says:        []string{"main"},
			Advice:      []string{"probing", "clamp", "icmp"},
			Allows:      0, // of packets this large nothing comes through
			Unpredicted: true,
		}
		if s.Value(Retransmits) > 0 {
			c.Evidence = append(c.Evidence, Retransmits)
		}
		if where := holeAt(s); where != "" {
			c.Says, c.Words["where"] = append(c.Says, "hop"), where
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

// sizeAtOnce measures the size to the byte, each way by itself, and the hop behind which larger packets vanish, where a full packet was silent. It
// takes a reflector of STAMP at the target; where none answers, sizeOfPackets goes on.
func sizeAtOnce(s *Subject) (Step, bool) {
	if !s.Is(Stuck) || s.tooLarge || !s.Known(SilentSize) {
		return Step{}, false
	}
	return Step{Name: "mtu", Kind: "mtu", Way: measure.Way(s.Name), Why: "which packets come through, and where larger ones vanish",
		Parameters: map[string]any{"proto": "stamp"}, Seconds: mtuTakes}, true
}

// mtuTakes is what the tool mtu takes where packets vanish, in seconds: some ten rounds, each with a wait for what does not come.
const mtuTakes = 3.0

// readMTU takes what the tool mtu found. It tries the way back with packets that come through there; where these come back, answers to larger ones
// are as silent as echoes of that size, which tell no way from the other.
func readMTU(g *gathering, r *measure.Result) {
	there, found := r.Get(measure.PathMTU)
	back, told := r.Get(measure.ReversePathMTU)
	if !found || !told {
		return
	}
	hops := r.Samples.Hops
	silent := len(hops) > 0 && hops[len(hops)-1].Reply == vanished
	g.each(r, func(s *Subject) {
		passes := there
		if s.Name == measure.Reverse {
			passes = back
		}
		s.sized, s.passed = true, true
		s.set(PassingSize, exactly(passes, r))
		if s.Value(SilentSize) <= passes { // echoes of that size alone are not let through
			delete(s.facts, SilentSize)
		}
		if s.Name == measure.Forward && silent {
			s.hole = hops
		}
		switch {
		case passes < there || silent:
			s.set(SilentSize, exactly(passes+1, r))
		case s.Name == measure.Forward && len(hops) > 0:
			s.tooLarge = true
		}
	})
}

// vanished is what the tool mtu says of the last hop that larger packets pass where nobody refuses them.
const vanished = "no answer"

// holeAt is where large packets vanish, for people; "": nobody looked, or from here it cannot be seen.
func holeAt(s *Subject) string {
	if s.hole == nil {
		return ""
	}
	switch last := lastThatAnswers(s.hole); {
	case last < 0:
		return "at an unknown hop, for none answers"
	case s.hole[last].TTL == 0:
		return "on the link that " + s.Sender + " is on"
	case last < len(s.hole)-1:
		return fmt.Sprintf("behind hop %d (%s), or beyond, where hops answer nothing", s.hole[last].TTL, s.hole[last].Addresses[0])
	default:
		return fmt.Sprintf("behind hop %d (%s)", s.hole[last].TTL, s.hole[last].Addresses[0])
	}
}

// lastThatAnswers is the index of the last hop with an address; -1: none has one.
func lastThatAnswers(hops []measure.Hop) int {
	last := len(hops) - 1
	for last >= 0 && len(hops[last].Addresses) == 0 {
		last--
	}
	return last
}

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
