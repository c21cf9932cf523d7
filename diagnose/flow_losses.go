package diagnose

import (
	"fmt"
	"math"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// Facts about which packets are lost, by small flows that differ by their ports alone (flows).
const (
	FlowsTried  Name = "flows_tried"
	FlowsClean  Name = "flows_without_loss"
	FlowsLoss   Name = "loss_of_some_flows" // of those that lost anything
	FlowsChance Name = "flows_chance"       // that so many flows lose nothing by accident, where all are treated alike
	LargeSent   Name = "large_sent"
	LargeLost   Name = "large_lost"
	SmallSent   Name = "small_sent"
	SmallLost   Name = "small_lost"
)

// flowLossDefinitions are of these facts.
var flowLossDefinitions = []definition{
	{Name: FlowsTried, Metric: "flows_count", Unit: "flows", Means: "flows that differ by their ports alone"},
	{Name: FlowsClean, Metric: "clean_flows_count", Unit: "flows", Means: "of {flows_tried} flows lost nothing", Step: smallFlows},
	{Name: FlowsLoss, Metric: "loss_ratio", Unit: "ratio", Means: "lost of the packets of the other flows"},
	{Name: FlowsChance, Metric: "chance_ratio", Unit: "ratio", Means: "chance that so many flows lose nothing by accident, where all are treated alike"},
	{Name: LargeSent, Metric: "sent_packets", Unit: "packets", Means: "large ones of these flows"},
	{Name: LargeLost, Metric: "lost_packets", Unit: "packets", Means: "lost of {large_sent} large packets", Step: smallFlows},
	{Name: SmallSent, Metric: "sent_packets", Unit: "packets", Means: "small ones of these flows"},
	{Name: SmallLost, Metric: "lost_packets", Unit: "packets", Means: "lost of {small_sent} small packets, sent at the same times", Step: smallFlows},
}

const (
	// flowsTried is how many flows there are: over two links all take the same one once in 128 times.
	flowsTried = 8
	// largePayload and smallPayload are of UDP, in bytes; the larger is that of paced probes.
	largePayload, smallPayload = pacedBytes, 64
	// flowsLose is how many packets of all should be lost, where half of the flows lose any: then the chance that the others lose none by
	// accident is small enough (see rareChance).
	flowsLose = 60
	// enoughLarge is how many large packets must be lost to compare them with small ones: of 12, small packets lose 4 where size makes no
	// difference, but for one time in 100.
	enoughLarge = 12
	// flowsShortest and flowsLongest are in seconds; flowsGrain is what a half of the time is a multiple of, as results count by as much.
	flowsShortest, flowsLongest, flowsGrain = 1.0, 5.0, 0.1
	// flowsMost is in bit/s: some 33,000 packets a second, which one thread sends in time.
	flowsMost   = 2e8
	flowsLinger = 0.5 // seconds, for what a standing queue holds
)

// smallFlows sends eight flows at once, of which half begin with large packets and half with small ones, and all change to the other size in the
// middle, so that at any time about as many are sent of both:
//
//	flows 1, 3, 5, 7    ████████ ▂▂▂▂▂▂▂▂
//	flows 2, 4, 6, 8    ▂▂▂▂▂▂▂▂ ████████
//
// Packets leave at random times (Poisson, RFC 2330 section 11.1.1): what loses one packet in a hundred by its count would meet the same flows each time else.
// Together they take no more of the path than a paced probe may, so that no queue of ours overflows. Where even that would lose too few packets to tell
// anything, none are sent.
func smallFlows(s *Subject) (Step, bool) {
	p := s.Value(ResentShare)
	if known := lossRatio(s); known > 0 {
		p = known
	}
	const both = (largePayload + smallPayload + 2*pacedHeaders) * 8 / 2 // bits of a packet, on average
	each := math.Floor(min(pacedMost*max(s.Value(Capacity), s.Value(Steady)), flowsMost) / both / flowsTried)
	if p > 0 { // faster than what loses enough in the shortest time, nothing more is learnt
		each = min(each, math.Ceil(flowsLose/p/flowsShortest/flowsTried))
	}
	if p <= 0 || each < 1 || each*flowsTried*flowsLongest/2*p < enoughLarge {
		return Step{}, false
	}
	half := min(max(flowsLose/p/(each*flowsTried), flowsShortest), flowsLongest) / 2
	half = math.Ceil(half/flowsGrain-1e-9) * flowsGrain
	var script strings.Builder
	for i := range flowsTried {
		first, second := largePayload, smallPayload
		if i%2 == 1 {
			first, second = second, first
		}
		name := flowName(i)
		fmt.Fprintf(&script, "flow %s end %.0fms poisson rate %.0f/s size %d\nat %.0fms %s size %d\n", name, 2*half*1e3, each, first, half*1e3, name, second)
	}
	return step("flows", "flows", s.Name, "whether packets of all flows, and of all sizes, are lost alike", 2*half+flowsLinger+setUpTakes,
		map[string]any{"script": script.String(), "linger": flowsLinger}), s.Responder
}

// pacedHeaders are those of IPv4 and UDP, in bytes.
const pacedHeaders = 28

func flowName(i int) string { return fmt.Sprintf("flow-%d", i+1) }

// count is of packets.
type count struct{ sent, lost float64 }

func (c count) plus(o count) count { return count{c.sent + o.sent, c.lost + o.lost} }

// readFlows takes what such flows lost: each of them, and packets of both sizes.
func readFlows(g *gathering, r *measure.Result) {
	way := measure.Forward
	if r.Parameters["reverse"] == true {
		way = measure.Reverse
	}
	s := g.ways[way]
	var sizes [2]count // large, small
	var all []count
	for i := range r.Samples.Flows {
		f := &r.Samples.Flows[i]
		if f.Name != flowName(i) || f.Arrived == nil || f.Arrived.OverTime == nil {
			return // flows of somebody else's script
		}
		halves := inHalves(f)
		sizes[i%2], sizes[1-i%2] = sizes[i%2].plus(halves[0]), sizes[1-i%2].plus(halves[1])
		all = append(all, halves[0].plus(halves[1]))
	}
	if len(all) != flowsTried {
		return
	}
	clean, lossy, chance := cleanFlows(all)
	s.set(FlowsTried, exactly(float64(len(all)), r))
	s.set(FlowsClean, exactly(clean, r))
	s.set(FlowsLoss, exactly(lossy.lost/max(1, lossy.sent), r))
	s.set(FlowsChance, exactly(chance, r))
	for n, value := range map[Name]float64{LargeSent: sizes[0].sent, LargeLost: sizes[0].lost, SmallSent: sizes[1].sent, SmallLost: sizes[1].lost} {
		s.set(n, exactly(value, r))
	}
}

// inHalves are the packets of a flow in both halves of its time.
func inHalves(f *measure.FlowSample) (halves [2]count) {
	over := f.Arrived.OverTime
	for i := range min(len(over.Sent), len(over.Received)) {
		half := 0
		if (float64(i)+0.5)*over.IntervalSeconds > (f.StartSeconds+f.EndSeconds)/2 {
			half = 1
		}
		lost := max(0, over.Sent[i]-over.Received[i]) // a packet that came twice is received twice
		halves[half] = halves[half].plus(count{float64(over.Sent[i]), float64(lost)})
	}
	return halves
}

// cleanFlows says how many flows lost nothing, what the others lost, and how likely it is that so many lose nothing where each packet is lost as
// often as any other: that any set of so many flows does, by Poisson.
func cleanFlows(all []count) (clean float64, lossy count, chance float64) {
	var sent float64
	for _, f := range all {
		if f.lost == 0 {
			clean++
			sent += f.sent
		} else {
			lossy = lossy.plus(f)
		}
	}
	if clean == 0 || lossy.lost == 0 {
		return clean, lossy, 1
	}
	n, _ := math.Lgamma(float64(len(all)) + 1)
	k, _ := math.Lgamma(clean + 1)
	rest, _ := math.Lgamma(float64(len(all)) - clean + 1)
	return clean, lossy, min(1, math.Exp(n-k-rest-lossy.lost*sent/(sent+lossy.sent)))
}

// losesForNoQueue reports whether a transfer is slow for losses that no queue of its own explains: as many as a probe on the nearly empty path
// loses, or of which that probe, which is another flow, has none. Where packets collide, all flows lose, and large packets meet more.
func losesForNoQueue(s *Subject) bool {
	if state(s) != Slow || s.Value(Retransmits) < enoughLosses || !s.Known(PacedLoss) || lossBlind(s.congestion) || collide(s) || s.Is(BackCollides) {
		return false
	}
	return pacedLost(s) && randomLoss.Look(s) != nil || losesWithoutQueue(s)
}
