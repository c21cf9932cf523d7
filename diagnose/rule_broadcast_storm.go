package diagnose

import (
	"math"
	"strconv"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

// What a receiver's host took in while a transfer ran that was sent to everybody, or to many.
const (
	Broadcasts     Name = "broadcasts"
	BroadcastBytes Name = "broadcast_bytes" // mean, of an IP packet
)

// broadcastStorm: the receiver's host gets so many frames that are meant for everybody that they take a share of its link, or of its
// processor. Every host of the network gets them, whatever it does, so that nothing that is done about the transfer helps.
//
// It is told by the kernel of the receiver. What goes to others is not, and the counts are of the last link: where another one is narrower
// and full, no storm on the last one is the reason, and what the storm leaves is then more than the transfer gets.
var broadcastStorm = Rule{
	ID:    "broadcast-storm",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{Broadcasts, Duration, Steady, LoadedRoundTrip, EmptyRoundTrip, MSS},
	Reads: []Name{BroadcastBytes, Capacity, PayloadCapacity, ReceiveWindowShare, SendBufferShare, RoomShare},
	Brings: []definition{
		{Name: Broadcasts, Metric: "broadcast_packets", Unit: "packets", From: ofTransfer,
			Means: "frames to everybody, or to many, that {receiver} took in meanwhile, by its kernel's count", Read: readBroadcasts},
		{Name: BroadcastBytes, Metric: "broadcast_packet_bytes", Unit: "bytes", From: ofTransfer,
			Means: "mean size of these, of those that are IP", Read: readBroadcastBytes},
	},
	Apart:    map[string]Name{"cross-traffic": Broadcasts},
	Replaces: []string{"cross-traffic"},
	Look: func(s *Subject) *Claim {
		full := s.Value(MSS) + s.ipHeader() + model.TCPHeader + model.TCPTimestamps
		wire := onEthernet(full) / full // what a link carries of frames, for each bit of full packets of IP
		each := s.Value(Broadcasts) / s.Value(Duration)
		storm := each * onEthernet(s.Value(BroadcastBytes)) * bitsPerByte
		mine := s.Value(Steady) / s.payloadShare(s.Value(MSS)) * wire
		told := s.Value(Capacity) * wire
		link := math.Max(told, mine+storm) // trains come apart between broadcasts, and tell too little
		c := &Claim{
			Where: AtReceiver, Confidence: 0.8,
			Evidence: []Name{Broadcasts, BroadcastBytes, Steady, PayloadCapacity, LoadedRoundTrip},
			Advice:   []string{"find", "loop", "divide"},
			Words: map[string]string{"rate": quantity.FormatRate(storm), "share": inText(storm/link, "ratio"),
				"each": strconv.FormatFloat(each, 'f', 0, 64)},
			Allows: s.Value(Steady) / mine * (link - storm),
			Cured:  map[Name]float64{Capacity: link / wire, PayloadCapacity: link / wire * s.payloadShare(s.Value(MSS))},
		}
		switch {
		case queues(s) && heldBy(s) == "":
			if storm < stormShare*link || told > 0 && mine+storm > stormsExceed*told {
				return nil
			}
		case each < manyBroadcasts:
			return nil
		default: // there are too many, and they are not what slows this transfer
			c.Severity, c.Says, c.Unpredicted, c.Allows = measure.Info, []string{"many"}, true, s.Value(Steady)
		}
		return c
	},
}

const (
	// stormShare is the share of a link that broadcasts must take to be worth a problem: without them, others have a tenth more.
	stormShare = 0.1
	// stormsExceed is how many times the capacity that trains told both together may come to: between broadcasts a train comes apart, so
	// that it tells as little as the part that they leave of the link. Where more came, it is another link that is narrow.
	stormsExceed = 1.5
	// manyBroadcasts is a rate of packets to everybody that no sound network has: a thousand hosts that each ask once a second.
	// Every host's processor takes each of them in, and on small devices a few thousand a second take all of it.
	manyBroadcasts = 1000
	// shortestFrame is what the shortest frame takes of Ethernet, in bytes, with preamble and gap (IEEE 802.3, 4.4.2).
	shortestFrame = 84
	bitsPerByte   = 8
)

// onEthernet is how many bytes of a link's time a packet of IP takes.
func onEthernet(packet float64) float64 { return math.Max(shortestFrame, packet+model.EthernetFraming) }

// readBroadcasts reads the larger of two counts: an adapter's driver counts all frames, or does not count at all, and the kernel IP packets.
func readBroadcasts(s *Subject, r *measure.Result) (float64, bool) {
	end := r.Samples.Find(s.Name, measure.Receiver)
	if end == nil {
		return 0, false
	}
	packets := max(end.Counts["link.multicast"], manyPackets(end))
	return float64(packets), packets > 0
}

// manyPackets is how many IP packets to many came.
func manyPackets(end *measure.TCPEnd) uint64 {
	return end.Counts["IpExt.InBcastPkts"] + end.Counts["IpExt.InMcastPkts"] + end.Counts["Ip6InMcastPkts"]
}

func readBroadcastBytes(s *Subject, r *measure.Result) (float64, bool) {
	end := r.Samples.Find(s.Name, measure.Receiver)
	if end == nil || manyPackets(end) == 0 {
		return 0, false
	}
	bytes := end.Counts["IpExt.InBcastOctets"] + end.Counts["IpExt.InMcastOctets"] + end.Counts["Ip6InMcastOctets"]
	return float64(bytes) / float64(manyPackets(end)), true
}
