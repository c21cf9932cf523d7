// Package dispersion tells what a path can carry from how it spreads packets that were sent to it in pairs, trains and streams.
//
//	pairs and trains, back to back   -> capacity of the narrowest link, by the mode of the gaps behind it (Capacity)
//	long trains                      -> a token bucket: the rate of the first bytes, that of the rest, and its size (Bucket)
//	streams at rates around the free -> available bandwidth, by how much slower a stream arrives than it was sent (Available)
//
// It is pure: it plans what to send next (Study), and reduces what arrived. It sends nothing and reads no clock. What it cannot tell it says, with
// the reason (Doubt). Rates are of the IP layer, in bit/s.
//
// Sources: Dovrolis, Ramanathan, Moore, "Packet-Dispersion Techniques and a Capacity-Estimation Methodology" (2004) for pairs, trains and the
// asymptotic dispersion rate; Melander, Bjorkman, Gunningberg, "A New End-to-End Probing and Analysis Method for Estimating Bandwidth Bottlenecks"
// (2000, TOPP) for what a stream loses to other traffic; Jain, Dovrolis, "Pathload" (2002) for streams that load the path.
package dispersion

import (
	"cmp"
	"slices"
)

// Packet is one packet that arrived.
type Packet struct {
	Index int   // in its train, from 0
	Sent  int64 // ns, by the sender's clock
	At    int64 // ns, by the receiver's clock
}

// delay is the time that a packet took, in ns, beside that of the fastest of its set: see Align.
func (p Packet) delay() int64 { return p.At - p.Sent }

// Train is a train or a stream, and what arrived of it.
type Train struct {
	Sent    int      // packets
	Size    int      // bytes of each, at the IP layer
	Paced   bool     // its packets were sent one by one at a rate: a stream
	Packets []Packet // that arrived, in order of arrival
}

// Align shifts the arrivals of trains that were sent in one set, so that the fastest packet took no time, whatever the clocks of the two ends show, and
// puts those of each in order.
func Align(set []Train) {
	least, any := int64(0), false
	for _, t := range set {
		for _, p := range t.Packets {
			if !any || p.delay() < least {
				least, any = p.delay(), true
			}
		}
	}
	for _, t := range set {
		for i := range t.Packets {
			t.Packets[i].At -= least
		}
		slices.SortFunc(t.Packets, func(a, b Packet) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Index, b.Index)) })
	}
}

// Estimate is a rate, in bit/s, and between which ones it is with 90 % confidence. The zero value is none.
type Estimate struct {
	BitsPerSecond float64
	Low, High     float64
	Doubt         Doubt
}

// Known reports whether there is an estimate, doubtful or not.
func (e Estimate) Known() bool { return e.BitsPerSecond > 0 }

// Certain reports whether there is one that nothing speaks against.
func (e Estimate) Certain() bool { return e.Known() && e.Doubt == "" }

// width is half of the interval, as a share of the estimate.
func (e Estimate) width() float64 { return (e.High - e.Low) / 2 / e.BitsPerSecond }

// Doubt is why an estimate is not certain, as a sentence's end; "": it is.
type Doubt string

// Why an estimate is not certain.
const (
	Few        Doubt = "too few packets arrived"
	Slow       Doubt = "the path passes packets on as fast as they are sent: the sender is too slow, or too busy"
	Scattered  Doubt = "packets arrive at many different gaps, as behind other traffic or at a busy host"
	Grouped    Doubt = "the receiving host takes packets in groups (interrupt coalescing, offload)"
	Slowing    Doubt = "the first packets of trains come faster than those behind them, as out of a token bucket that holds few"
	Clock      Doubt = "packets come closer together than the receiving host's clock can tell"
	Wide       Doubt = "repeated trains differ too much"
	Unsteady   Doubt = "other traffic varies too much for the time that was measured"
	Shared     Doubt = "what others get of the token bucket is not known"
	Full       Doubt = "hardly anything is free, and how little is hard to tell"
	Unfinished Doubt = "time was up"
	Lossy      Doubt = "the path loses packets before its queue is full"
)
