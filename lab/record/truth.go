package record

import (
	"math"
	"slices"

	"github.com/pathwise-net/pathwise/lab/packet"
	"github.com/pathwise-net/pathwise/stat"
)

// FlowTruth is what became of the packets of one flow, one way, that were sent in a stretch of time. Packets are those on
// the wire: a super-packet is as many as it has segments. Times are seconds of virtual time.
type FlowTruth struct {
	Name       string `json:"name"`     // all of what follows in one: "udp 10.0.0.1:5 > 10.0.2.2:7"
	Protocol   string `json:"protocol"` // "tcp", "udp", "icmp", or a number
	Source     string `json:"source"`   // as sent, whatever a translator made of it
	Target     string `json:"target"`
	SourcePort uint16 `json:"source_port"` // 0 where the protocol has none; an ICMP echo's identifier
	TargetPort uint16 `json:"target_port"`

	Packets   uint64 `json:"packets"` // sent: delivered, lost or under way
	Bytes     uint64 `json:"bytes"`   // IP bytes sent
	Delivered uint64 `json:"delivered"`
	Lost      uint64 `json:"lost"`
	UnderWay  uint64 `json:"under_way"`

	LossRatio  float64           `json:"loss_ratio"` // lost / (delivered + lost); 0 if neither
	Dropped    map[string]uint64 `json:"dropped"`    // the lost by cause
	LossRuns   []LossRun         `json:"loss_runs"`  // the shortest first; what is under way neither ends nor lengthens a run
	LossRunMax int               `json:"loss_run_max_packets"`
	Reordered  uint64            `json:"reordered"` // RFC 4737 section 3.3, by the order of sending
	Duplicates uint64            `json:"duplicates"`
	Corrupted  uint64            `json:"corrupted"`
	Marked     uint64            `json:"marked"` // with ECN's congestion mark, on the way

	// Of the packets delivered: when due minus when sent, and when handed over minus when due. Zero if there are none.
	DelaySeconds DelayTruth `json:"delay_seconds"`
	LateSeconds  LateTruth  `json:"late_seconds"`
	// QuantilesExact says that they are taken from the values of all packets; otherwise they are within 1/64.
	QuantilesExact bool `json:"quantiles_exact"`
	// RateBitsPerSecond counts the IP bytes delivered after the first packet, over the time from the first delivery due
	// to the last. It is 0 for fewer than two.
	RateBitsPerSecond float64 `json:"rate_bits_per_second"`

	FirstSentSeconds      float64 `json:"first_sent_seconds"`
	LastSentSeconds       float64 `json:"last_sent_seconds"`
	FirstDeliveredSeconds float64 `json:"first_delivered_seconds"` // when due
	LastDeliveredSeconds  float64 `json:"last_delivered_seconds"`
}

// DelayTruth is a distribution of one-way delays. Quantiles are those of package stat.
type DelayTruth struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
	P99    float64 `json:"p99"`
	Max    float64 `json:"max"`
}

// LateTruth is a distribution of the emulator's own lateness.
type LateTruth struct {
	Median float64 `json:"median"`
	P99    float64 `json:"p99"`
}

// account is a tally with the delays and latenesses of the records in a reading.
type account struct {
	tally
	took, late []float64 // seconds
}

func (a *account) add(r *Record) {
	a.tally.add(r)
	if r.Flags&Arrived != 0 {
		a.took = append(a.took, seconds(r.Due-r.Sent))
		a.late = append(a.late, seconds(max(0, r.Left-r.Due)))
	}
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// truth sums up an account, which is of no more use afterwards.
func (a *account) truth(keys []packet.Key, flow int32) FlowTruth {
	a.endRun()
	t := FlowTruth{
		Packets: a.packets, Bytes: a.bytes, Delivered: a.delivered, Lost: a.lost,
		UnderWay: a.packets - a.delivered - a.lost,
		Dropped:  map[string]uint64{}, LossRuns: slices.Clone(a.runs),
		Reordered: a.reordered, Duplicates: a.duplicates, Corrupted: a.corrupted, Marked: a.marked,
		FirstSentSeconds: seconds(a.firstSent), LastSentSeconds: seconds(a.lastSent),
		FirstDeliveredSeconds: seconds(a.firstDue), LastDeliveredSeconds: seconds(a.lastDue),
	}
	t.name(keys, flow)
	for cause, n := range a.dropped {
		if n > 0 {
			t.Dropped[packet.Cause(cause).String()] = n
		}
	}
	if int(flow) >= len(keys) || t.LossRuns == nil { // a run of "others" would be one across flows
		t.LossRuns = []LossRun{}
	}
	if n := len(t.LossRuns); n > 0 {
		t.LossRunMax = t.LossRuns[n-1].Length
	}
	if settled := a.delivered + a.lost; settled > 0 {
		t.LossRatio = float64(a.lost) / float64(settled)
	}
	if a.lastDue > a.firstDue {
		t.RateBitsPerSecond = 8 * float64(a.deliveredBytes-uint64(a.firstBytes)) / seconds(a.lastDue-a.firstDue)
	}
	a.quantiles(&t)
	return t
}

func (a *account) quantiles(t *FlowTruth) {
	t.QuantilesExact = a.delays.counts == nil
	if a.delivered == 0 {
		return
	}
	t.DelaySeconds.Min, t.DelaySeconds.Max = seconds(a.minDelay), seconds(a.maxDelay)
	within := func(v float64) float64 { return min(max(v, t.DelaySeconds.Min), t.DelaySeconds.Max) }
	delay, late := quantiler(a.took, &a.delays), quantiler(a.late, &a.lateness)
	t.DelaySeconds.Median, t.DelaySeconds.P95, t.DelaySeconds.P99 = within(delay(0.5)), within(delay(0.95)), within(delay(0.99))
	t.LateSeconds = LateTruth{Median: late(0.5), P99: late(0.99)}
}

// quantiler returns the quantiles of values together with those that a sketch holds already.
func quantiler(values []float64, s *sketch) func(q float64) float64 {
	if s.counts != nil {
		for _, v := range values {
			s.add(int64(math.Round(v * 1e9)))
		}
		count := float64(s.count())
		return func(q float64) float64 { return seconds(s.quantile(uint64(max(1, math.Ceil(q*count))))) }
	}
	slices.Sort(values)
	return func(q float64) float64 {
		if q == 0.5 {
			return stat.Median(values)
		}
		return stat.Quantile(values, q)
	}
}

func (t *FlowTruth) name(keys []packet.Key, flow int32) {
	t.Name = FlowName(keys, flow)
	if int(flow) >= len(keys) {
		return
	}
	k := keys[flow]
	t.Protocol = packet.Protocol(k.Protocol).String()
	source, target := k.Addresses()
	t.Source, t.Target = source.String(), target.String()
	t.SourcePort, t.TargetPort = k.SourcePort, k.TargetPort
}
