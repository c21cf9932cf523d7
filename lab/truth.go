package lab

import (
	"time"

	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/middlebox"
	"github.com/pathwise-net/pathwise/lab/packet"
	"github.com/pathwise-net/pathwise/lab/record"
	"github.com/pathwise-net/pathwise/stat"
)

// TruthSchema names the JSON layout of a Truth.
const TruthSchema = "pathwise.truth/1"

// Truth is what a lab did to packets, counted where it was done: links and routers since it came up, flows in the window
// that was asked for. Times in it are seconds since the lab came up.
type Truth struct {
	Schema      string             `json:"schema"`
	Started     time.Time          `json:"started"` // when the lab came up; its times count from here
	Seconds     float64            `json:"seconds"` // when this was taken
	Links       []LinkTruth        `json:"links"`
	Routers     []RouterTruth      `json:"routers"` // those that do more than route
	Flows       []record.FlowTruth `json:"flows"`
	FlowsFrom   float64            `json:"flows_from_seconds"` // the window, by when packets were sent
	FlowsTo     float64            `json:"flows_to_seconds"`
	RecordsFrom float64            `json:"records_from_seconds"` // windows are exact from here on
	Emulator    EmulatorTruth      `json:"emulator"`
	// EmulatorRefused is Emulator.Refused, where earlier versions had it.
	EmulatorRefused uint64 `json:"emulator_refused_packets"`
}

// LinkTruth is one direction of one link. Packets is what came to it: delivered, dropped, or still under way.
type LinkTruth struct {
	Between    [2]string         `json:"between"`
	Direction  string            `json:"direction"` // "forward" or "reverse"
	Packets    uint64            `json:"packets"`
	Delivered  uint64            `json:"delivered"`
	Bytes      uint64            `json:"delivered_bytes"` // of IP
	Dropped    map[string]uint64 `json:"dropped"`         // by cause; "loss" and "queue" always, others if any
	Duplicated uint64            `json:"duplicated"`
	Reordered  uint64            `json:"reordered"`
	Corrupted  uint64            `json:"corrupted"`
	Marked     uint64            `json:"marked"`
	Remarked   uint64            `json:"remarked,omitempty"` // got another DSCP, by a policer

	Queue   QueueTruth    `json:"queue"`
	Adapter *link.Adapter `json:"adapter,omitempty"` // of the node that sends here; where the link is not full duplex, or pauses

	DelaySeconds        DelayTruth `json:"delay_seconds"` // queue, wire and propagation, as due
	EmulatorLateSeconds float64    `json:"emulator_late_p99_seconds"`
	// EmulatorLateMedianSeconds is how much later than due a packet was handed to the host, at the median; both are 0
	// where the direction ends at a router, since virtual time is never late.
	EmulatorLateMedianSeconds float64 `json:"emulator_late_median_seconds"`
}

// Ends are the nodes that the direction leads from and to.
func (l *LinkTruth) Ends() (from, to string) {
	if l.Direction == wayNames[1] {
		return l.Between[1], l.Between[0]
	}
	return l.Between[0], l.Between[1]
}

// DroppedInAll counts the packets that the direction dropped, for whatever cause.
func (l *LinkTruth) DroppedInAll() (packets uint64) {
	for _, n := range l.Dropped {
		packets += n
	}
	return packets
}

// QueueTruth is what waits for the wire, now and at most.
type QueueTruth struct {
	Packets    int64 `json:"packets"`
	Bytes      int64 `json:"bytes"`
	MaxPackets int64 `json:"max_packets"`
	MaxBytes   int64 `json:"max_bytes"`
}

// DelayTruth summarises the delays of all packets that were not dropped.
type DelayTruth struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	P99    float64 `json:"p99"`
	Max    float64 `json:"max"`
}

// RouterTruth is what a router did besides routing.
type RouterTruth struct {
	Name string `json:"name"`
	middlebox.Counts
}

// EmulatorTruth says how far the emulation itself can be trusted. Bottleneck is true once it could not keep up: what was
// measured then is this machine, not the path that was asked for.
type EmulatorTruth struct {
	Bottleneck bool    `json:"bottleneck"`
	Why        string  `json:"why,omitempty"`
	Refused    uint64  `json:"refused_packets"`    // that the kernel did not take at a host's interface
	Overflowed uint64  `json:"overflowed_packets"` // that the kernel dropped because the emulator did not read them in time
	LateShare  float64 `json:"late_ratio"`         // of packets, handed over more than LateBound after they were due
	LateP99    float64 `json:"late_p99_seconds"`
	Behind     float64 `json:"behind_seconds"` // how far, at most, it was behind with its links
	Stolen     float64 `json:"stolen_ratio"`   // of this machine's processor time, what the hypervisor gave to others meanwhile
}

// Truth returns what the network has done so far, but for flows and what only the pump knows.
func (n *Network) Truth() *Truth {
	t := &Truth{Schema: TruthSchema, Seconds: inSeconds(n.now), Links: []LinkTruth{}, Routers: []RouterTruth{},
		Flows: []record.FlowTruth{}}
	for i := range n.directions {
		t.Links = append(t.Links, n.linkTruth(i))
	}
	for id, box := range n.boxes {
		if box != nil {
			t.Routers = append(t.Routers, RouterTruth{n.plan.Nodes[id].Name, box.Counts()})
		}
	}
	return t
}

func (n *Network) linkTruth(i int) LinkTruth {
	l := i / 2
	t := TruthOf(n.now, n.directions[i], n.directions[i^1], &n.lateness[i], n.tooBigs[i])
	t.Between, t.Direction = [2]string{n.plan.nodeOf(2 * l), n.plan.nodeOf(2*l + 1)}, wayNames[i%2]
	t.Packets += n.tooBigs[i]
	return t
}

// TruthOf is what one direction of a link did by a time, by its counters and by how late its packets were handed over, without its name. Its
// sending end dropped tooBig packets for its MTU, and receives on the opposite direction.
func TruthOf(now int64, d, opposite *link.Direction, late *stat.Histogram, tooBig uint64) LinkTruth {
	c := d.Counts()
	dropped := map[string]uint64{packet.Loss.String(): 0, packet.QueueFull.String(): 0} // always there
	for cause, n := range c.Dropped {
		if n > 0 {
			dropped[packet.Cause(cause).String()] = n
		}
	}
	if tooBig > 0 {
		dropped[packet.TooBig.String()] += tooBig
	}
	t := LinkTruth{
		Packets: c.Packets, Delivered: c.Delivered, Bytes: c.Bytes, Dropped: dropped,
		Duplicated: c.Duplicated, Reordered: c.Reordered, Corrupted: c.Corrupted, Marked: c.Marked, Remarked: c.Remarked,
		Queue: QueueTruth{Packets: c.Waiting, Bytes: c.WaitingBytes, MaxPackets: c.WaitingMax, MaxBytes: c.WaitingBytesMax},
		DelaySeconds: DelayTruth{Min: inSeconds(c.Took.Min()), Median: QuantileSeconds(&c.Took, 0.5),
			P99: QuantileSeconds(&c.Took, 0.99), Max: inSeconds(c.Took.Max())},
		EmulatorLateSeconds:       QuantileSeconds(late, 0.99),
		EmulatorLateMedianSeconds: QuantileSeconds(late, 0.5),
	}
	if adapter, counted := d.Adapter(now, opposite); counted {
		t.Adapter = &adapter
	}
	return t
}

// wayNames are the two directions of a link.
var wayNames = [2]string{"forward", "reverse"}

// LateBound is when a packet's lateness begins to spoil a measurement: a tenth of the least delay that tells two wide-area
// paths apart, and far above what an idle machine does.
const LateBound = time.Millisecond

// latenessOf adds up all directions.
func (n *Network) latenessOf() (all stat.Histogram) {
	for i := range n.lateness {
		all.Merge(&n.lateness[i])
	}
	return all
}

func inSeconds(ns int64) float64 { return time.Duration(ns).Seconds() }

// QuantileSeconds is a quantile of a histogram of nanoseconds; 0 of an empty one.
func QuantileSeconds(h *stat.Histogram, q float64) float64 {
	if h.Count() == 0 {
		return 0
	}
	return inSeconds(h.Quantile(q))
}
