// Package hops tells what each link of a route can carry, how long it takes and how much waits before it, by how the shortest round trips to each
// hop grow with the size of packets.
//
//	round trip                       slope to hop 2 = 8 / rate of link 1 + 8 / rate of link 2
//	    |            .' hop 2        slope to hop 1 = 8 / rate of link 1
//	    |        .'      __.. hop 1  so that the rate of link 2 = 8 / (difference of the slopes)
//	    |    .'  __..--
//	    |__..--
//	    +------------------ size     packets that expire at a hop, whose answers are all of one size
//
// It is pure: it plans what to send next (Study), and reduces what was answered (Links). It sends nothing and reads no clock. What it cannot tell it
// says, with the reason (Doubt). Rates are those of the links themselves, with their own headers, since each byte of a packet takes 8 / rate there.
//
// The method is that of Jacobson's pathchar (1997), which Downey, "Using pathchar to estimate Internet link characteristics" (1999) and Mah's pchar
// examine: there each hop is asked for by itself, in order, with dozens of sizes, up to the full size. Here all hops are asked in random order, so that what changes on the
// way changes for all; sizes lie where answers are all of one size, so that the way back does not count; most packets have the two sizes that tell
// most of a slope; and how far the shortest round trips of a size lie apart says how well the slope is known, and so when to stop.
package hops

import "net/netip"

// Probe is a packet to send: one that expires at a hop.
type Probe struct {
	TTL  int
	Size int // bytes, at the IP layer
}

// Answer is what came back of a Probe.
type Answer struct {
	Probe
	RTT     float64 // s
	From    netip.Addr
	Quoted  int  // bytes of the packet that came back with the answer, from its IP header on; 0: answers to all sizes are alike
	Reached bool // the route ends here: the target answered, or nothing goes on
}

// Link is the link to a hop, from the hop before it. Its zero values are not known.
type Link struct {
	TTL  int
	From []netip.Addr // who answered at its far end

	Rate  Estimate
	Delay float64 // s, one way, if the way back is like the way there; below 0: not known
	Queue float64 // s, there and back: how much longer the median packet waits than the fastest; below 0: not known

	Sent, Answered int
}

// Estimate is a rate, in bit/s, and between which ones it is. The zero value is none.
type Estimate struct {
	BitsPerSecond float64 // 0: not known
	Low           float64
	High          float64 // 0: no bound is known
	Doubt         Doubt
}

// Known reports whether there is an estimate, doubtful or not.
func (e Estimate) Known() bool { return e.BitsPerSecond > 0 }

// Certain reports whether there is one that nothing speaks against.
func (e Estimate) Certain() bool { return e.Known() && e.Doubt == "" }

// Doubt is why an estimate is not certain, as a sentence's end; "": it is.
type Doubt string

// Why an estimate is not certain.
const (
	Silent   Doubt = "nothing answers at this hop"
	Together Doubt = "the hop before it is silent, so that this is of two or more links together"
	Limited  Doubt = "the hop answers few packets (a limit on ICMP)"
	Fast     Doubt = "the link is too fast for what clocks can tell beside the links before it"
	Negative Doubt = "round trips grow less with size than to the hop before it, as where answers come back another way or hops take their time to answer"
	Several  Doubt = "packets go more than one way here"
	Bent     Doubt = "round trips do not grow evenly with size, as over links that carry cells, or treat sizes differently"
	Noisy    Doubt = "round trips vary too much for the time that was measured"
	Late     Doubt = "the time was over before there were enough round trips"
)
