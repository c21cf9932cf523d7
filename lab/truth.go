package lab

import (
	"time"

	"github.com/pathwise-net/pathwise/stat"
)

// TruthSchema names the JSON layout of a Truth.
const TruthSchema = "pathwise.truth/1"

// Truth is what a lab did to packets since it came up, counted where it was done.
type Truth struct {
	Schema string      `json:"schema"`
	Links  []LinkTruth `json:"links"`
	Flows  []FlowTruth `json:"flows"`
	// EmulatorRefused counts packets that the kernel did not take at a host's interface: not a fault of the path that
	// was asked for, and any count above zero spoils a measurement.
	EmulatorRefused uint64 `json:"emulator_refused_packets"`
}

// FlowTruth is reserved for the account by flow; this floor keeps none.
type FlowTruth struct{}

// LinkTruth is one direction of one link. Packets is what came to it: delivered, dropped, or still under way.
type LinkTruth struct {
	Between             [2]string         `json:"between"`
	Direction           string            `json:"direction"` // "forward" or "reverse"
	Packets             uint64            `json:"packets"`
	Delivered           uint64            `json:"delivered"`
	Dropped             map[string]uint64 `json:"dropped"` // by cause: "loss", "queue"
	Duplicated          uint64            `json:"duplicated"`
	Reordered           uint64            `json:"reordered"`
	Corrupted           uint64            `json:"corrupted"`
	Marked              uint64            `json:"marked"`
	DelaySeconds        DelayTruth        `json:"delay_seconds"` // queue, wire and propagation, as due
	EmulatorLateSeconds float64           `json:"emulator_late_p99_seconds"`
	// EmulatorLateMedianSeconds is how much later than due a packet was handed to the host, at the median; both are 0
	// where the direction ends at a router, since virtual time is never late.
	EmulatorLateMedianSeconds float64 `json:"emulator_late_median_seconds"`
}

// DelayTruth summarises the delays of all packets that were not dropped.
type DelayTruth struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	P99    float64 `json:"p99"`
	Max    float64 `json:"max"`
}

// Truth returns what the network has done so far.
func (n *Network) Truth() *Truth {
	t := &Truth{Schema: TruthSchema, Links: []LinkTruth{}, Flows: []FlowTruth{}}
	for i, d := range n.directions {
		link := i / 2
		lt := LinkTruth{
			Between: [2]string{n.plan.nodeOf(2 * link), n.plan.nodeOf(2*link + 1)}, Direction: "forward",
			Packets: d.count.packets, Delivered: d.count.delivered,
			Dropped:                   map[string]uint64{"loss": d.count.lost, "queue": d.count.overflowed},
			DelaySeconds:              DelayTruth{Min: inSeconds(d.took.Min()), Median: quantileSeconds(&d.took, 0.5), P99: quantileSeconds(&d.took, 0.99), Max: inSeconds(d.took.Max())},
			EmulatorLateSeconds:       quantileSeconds(&d.late, 0.99),
			EmulatorLateMedianSeconds: quantileSeconds(&d.late, 0.5),
		}
		if i%2 == 1 {
			lt.Direction = "reverse"
		}
		t.Links = append(t.Links, lt)
	}
	return t
}

func (p *Plan) nodeOf(iface int) string { return p.Nodes[p.Interfaces[iface].Node].Name }

func inSeconds(ns int64) float64 { return time.Duration(ns).Seconds() }

func quantileSeconds(h *stat.Histogram, q float64) float64 {
	if h.Count() == 0 {
		return 0
	}
	return inSeconds(int64(h.Quantile(q)))
}
