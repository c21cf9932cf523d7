package diagnose

import (
	"math"

	"github.com/pathwise-net/pathwise/measure"
)

// Packets a second that the narrowest link passes on, by trains of full packets and of small ones.
const (
	FullPackets  Name = "full_packets"
	SmallPackets Name = "small_packets"
)

// slowFirewall: something on the way takes as long for a small packet as for a full one, so that it passes packets on at a rate of its own,
// however large they are. A link takes the time of a packet's bytes, which tells the two apart. Full packets may hide it.
var slowFirewall = Rule{
	ID:    "slow-firewall",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{FullPackets, SmallPackets, Capacity, Steady},
	Brings: []definition{
		{Name: FullPackets, Metric: "full_packets_per_second", Unit: "packets/s", Means: "full packets that the narrowest link passes on",
			From: ofTrains, Read: packetsOf(func(size float64) bool { return size > tinyPacket })},
		{Name: SmallPackets, Metric: "small_packets_per_second", Unit: "packets/s",
			Means: "small packets that it passes on; of full ones {full_packets}",
			From:  ofTrains, Read: packetsOf(func(size float64) bool { return size <= tinyPacket }), Step: tinyTrains},
	},
	Apart:   map[string]Name{"path-full": SmallPackets},
	Suspect: func(s *Subject) bool { return s.Name == measure.Forward && full(s) && oddCapacity(s.Value(Capacity)) },
	Look: func(s *Subject) *Claim {
		if s.Value(SmallPackets) > hardlyMore*s.Value(FullPackets) {
			return nil
		}
		return &Claim{
			Severity: measure.Info, Where: OnPath, Confidence: 0.8,
			Evidence: []Name{SmallPackets, FullPackets, Capacity},
			Advice:   []string{"log", "size"},
			Words:    map[string]string{"each": format(1/s.Value(SmallPackets), "s")},
			Allows:   s.Value(Steady), Unpredicted: true, // full packets get through it as fast as they do
		}
	},
}

const (
	tinyPayload = 100 // bytes of UDP
	// tinyPacket is the size in bytes of IP up to which a packet counts as small: with framing it takes a seventh of a full one's time.
	tinyPacket = 200
	// hardlyMore is the ratio of small to full packets a second below which the size of packets is not what takes time. A link passes on seven
	// times as many; radio links, which take turns for each packet, about twice as many.
	hardlyMore = 1.4
)

// packetsOf reads how many packets of a size the trains of a capacity test tell.
func packetsOf(is func(size float64) bool) func(*Subject, *measure.Result) (float64, bool) {
	return func(_ *Subject, r *measure.Result) (float64, bool) {
		size, sized := r.Number("size")
		capacity, told := r.Get(measure.Capacity)
		if !sized || !told || size <= 0 || !is(size) {
			return 0, false
		}
		return capacity / (8 * size), true
	}
}

// oddCapacity reports whether a capacity in bit/s is that of no Ethernet, and one at which a box may take longer for a packet than hosts
// do. Links that are shaped have one, too.
func oddCapacity(capacity float64) bool {
	if capacity < 5e6 || capacity > 200e6 { // a full packet takes 60 µs and more then, of which hosts take a few
		return false
	}
	const share = 1500.0 / 1538 // of IP in what an Ethernet carries
	off := math.Abs(capacity/(share*math.Pow10(int(math.Round(math.Log10(capacity/share))))) - 1)
	return off > ordinary
}

// ordinary is how far a capacity may be off that of an Ethernet, as measured, to be taken for it.
const ordinary = 0.05

// tinyTrains measures the capacity by trains of small packets.
func tinyTrains(s *Subject) (Step, bool) {
	return step("small-packets", "capacity", s.Name, "whether it is packets that take time, or their bytes", capacityTakes,
		map[string]any{"length": float64(tinyPayload)}), true
}
