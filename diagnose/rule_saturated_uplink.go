package diagnose

import (
	"math"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

// What fills the way from a host to the network.
const (
	OwnTraffic   Name = "own_traffic"      // of the sender's host beside the transfer
	BackCapacity Name = "capacity_back"    // of the other way
	BackFilled   Name = "filled_back"      // the other way is a narrow one that others' traffic fills
	BackOwn      Name = "own_traffic_back" // of the receiver's host, where that fills it
)

// saturatedUplink: the narrow way of an access link is full of its host's own traffic, or of its neighbours'. A transfer that way gets a part of
// it, and one the other way waits for its acknowledgements, which stand in the same queue.
//
// Whose traffic it is the counter of the sender's adapter tells: what it sent beside the transfer. Else a way that carries half of the other, or
// less, is the uplink of a line, and others' packets show in pings before anything is moved, one after the other: the queue may never be
// empty, so that no least round trip tells that it stands. From acknowledgements alone (ack-path-congested) that tells it: these wait under load.
var saturatedUplink = Rule{
	ID:    "saturated-uplink",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{Steady, IdleRoundTrip, EmptyRoundTrip, Capacity},
	Reads: []Name{OwnTraffic, BackCapacity, BackFilled, BackOwn, PayloadCapacity, LoadedRoundTrip, MSS, ResentShare, ReceiveWindowShare,
		SendBufferShare, RoomShare},
	Apart: map[string]Name{"ack-path-congested": BackFilled, "cross-traffic": OwnTraffic, "random-loss": IdleRoundTrip},
	Brings: []definition{
		{Name: OwnTraffic, Metric: "own_traffic_bits_per_second", Unit: "bit/s", From: ofTransfer,
			Means: "that {sender} sent meanwhile beside the transfer, as its adapter counts", Read: readOwnTraffic},
		{Name: BackCapacity, Metric: string(measure.Capacity), Unit: "bit/s", Means: "what the narrowest link can carry the other way"},
		{Name: BackFilled, Metric: "filled_back_count", Means: "the other way is narrow, and full of others' traffic"},
		{Name: BackOwn, Metric: "own_traffic_bits_per_second", Unit: "bit/s", Means: "that {receiver} sent beside a transfer the other way, as its adapter counts"},
	},
	Replaces: []string{"cross-traffic", "random-loss", "burst-loss", "shallow-buffer", "policer", "flow-slow-path", "slow-start-limited",
		"ack-path-congested", "bufferbloat", "half-duplex", "outage"},
	Look: func(s *Subject) *Claim {
		c := &Claim{
			Where: "access link of {sender}", Confidence: 0.9,
			Evidence: []Name{OwnTraffic, Steady, PayloadCapacity, BackCapacity, IdleRoundTrip, LoadedRoundTrip},
			Words:    map[string]string{"own": quantity.FormatRate(s.Value(OwnTraffic)), "own_back": quantity.FormatRate(s.Value(BackOwn))},
			Advice:   []string{"own", "queue"},
			Allows:   s.Value(Steady), // the others leave that
		}
		switch {
		case heldBy(s) != "":
			return nil
		case fillsItself(s):
			c.Says = []string{"own"}
		case filled(s):
			c.Confidence, c.Advice = 0.6, []string{"find", "queue"}
		case s.Is(BackFilled) && s.Value(ResentShare) <= othersLose:
			c.Where, c.Evidence = "access link of {receiver}", []Name{BackOwn, Steady, PayloadCapacity, BackCapacity, IdleRoundTrip, LoadedRoundTrip}
			c.Says, c.Confidence, c.Advice = []string{"back"}, 0.7, []string{"find-back", "queue-back"}
			if s.Known(BackOwn) {
				c.Says, c.Confidence, c.Advice = []string{"own-back"}, 0.9, []string{"own-back", "queue-back"}
			}
		default:
			return nil
		}
		return c
	},
}

const (
	// ownLeast is the share of a way that its own host must send beside a transfer for it to be told: chatter of a host is below that.
	ownLeast = 0.2
	// uplinkNarrower is how many times more the other way carries where a way is the uplink of a line: of the lines that are sold (DSL, cable,
	// mobile) the least is about 2, and capacities that are measured differ by a tenth.
	uplinkNarrower = 1.8
	// othersPackets is by how many packets of full size the usual round trip of an idle path differs from the least where others' queue.
	othersPackets = 2
)

// fillsItself reports whether the sender's host itself takes a part of the way beside a transfer that gets less than it carries.
func fillsItself(s *Subject) bool {
	return s.Known(Capacity) && s.Value(OwnTraffic) >= ownLeast*s.Value(Capacity) && s.Value(Steady) < fullShare*s.Value(PayloadCapacity)
}

// filled reports whether a way is the narrow one of a line, and others' packets queue there before anything is moved. How many that are waits are
// told by: those of one packet after the other.
func filled(s *Subject) bool {
	waits := s.Value(IdleRoundTrip) - s.Value(EmptyRoundTrip)
	packet := s.Value(MSS) * bitsPerByte / math.Max(1, s.Value(Capacity))
	return s.Known(Capacity) && s.Value(BackCapacity) >= uplinkNarrower*s.Value(Capacity) && waits > math.Max(othersQueue, othersPackets*packet) &&
		s.Value(Steady) < unexplainedShare*s.Value(PayloadCapacity)
}

// deriveUplink adds to a way what is known of the other one, as far as that is an uplink.
func deriveUplink(s, back *Subject) {
	if back.Known(Capacity) {
		s.set(BackCapacity, back.Fact(Capacity))
	}
	narrow := back.Value(Capacity)*uplinkNarrower <= s.Value(Capacity)
	if own := back.Known(Capacity) && fillsItself(back); own || narrow && back.Known(Capacity) && filledBy(back, s.Value(Capacity)) {
		s.set(BackFilled, yes(true, nil))
		if own {
			s.set(BackOwn, back.Fact(OwnTraffic))
		}
	}
}

// filledBy is filled of a way of which the other one carries so much.
func filledBy(s *Subject, back float64) bool {
	return filled(s.with(map[Name]float64{BackCapacity: back}))
}

// readOwnTraffic reads what a sender's adapter sent beside a transfer: all that it counted, less the packets of the transfer.
func readOwnTraffic(s *Subject, r *measure.Result) (float64, bool) {
	end := r.Samples.Find(s.Name, measure.Sender)
	if end == nil || end.Counts["link.tx_bytes"] == 0 || !s.Known(Segments) || s.Value(Duration) == 0 {
		return 0, false
	}
	each := s.Value(MSS) + s.ipHeader() + model.TCPHeader + model.TCPTimestamps + etherHeader
	return math.Max(0, float64(end.Counts["link.tx_bytes"])-s.Value(Segments)*each) * bitsPerByte / s.Value(Duration), true
}

// etherHeader is what an adapter counts of a frame beside its packet, in bytes (IEEE 802.3 clause 3); one without frames counts less, and what it
// sends beside the transfer seems less by 1 %.
const etherHeader = 14
