package probe

import (
	"net/netip"

	"github.com/pathwise-net/pathwise/measure"
)

// mtuHop is what came back of packets that may live for so many hops, of the largest size that comes through to the target, and of the next. The zero value
// of an address: nobody said so.
type mtuHop struct {
	small, large netip.Addr // who said that the time of the packet was over
	target       bool       // the target itself answered the smaller one
	refused      netip.Addr // who said that the larger one is too big
}

// mtuNarrowing is which hop takes no larger packets, by what came back from each TTL from 1 on.
//
//	of packets that come through:   hop 1 answers   hop 2 answers   hop 3 answers   the target answers
//	of one byte more:               hop 1 answers   hop 2 answers   -               -
//
// Here hop 2 does not pass the larger one on to hop 3, or hop 3 does not take it. What is returned are the hops that a larger packet passes, the last with the
// Reply mtuRefused where it says so, else mtuSilence. Hops without an address at their end answer nothing, so that it may be each of them, or the last with an
// address; without any address nothing is known. Where not even the first hop gets it there is one hop, of TTL 0, which is this host.
func mtuNarrowing(from netip.Addr, ttls []mtuHop) []measure.Hop {
	for i, h := range ttls {
		if h.refused.IsValid() {
			return refusedBy(ttls, h.refused, i)
		}
	}
	last := 0 // gets the larger one
	for i, h := range ttls {
		if h.large.IsValid() {
			last = i + 1
		}
	}
	next := last + 1 // the first of those after it that answers anything
	for next <= len(ttls) && !ttls[next-1].small.IsValid() && !ttls[next-1].target {
		next++
	}
	if next > len(ttls) { // none does
		next = last + 2
	}
	if next == 1 {
		return []measure.Hop{{Addresses: []string{from.String()}, RTTSeconds: []*float64{}, Reply: mtuSilence}}
	}
	hops := passedHops(ttls[:min(last, len(ttls))])
	for ttl := last + 1; ttl < next; ttl++ {
		hops = append(hops, measure.Hop{TTL: ttl, Addresses: []string{}, RTTSeconds: []*float64{}})
	}
	hops[len(hops)-1].Reply = mtuSilence
	return hops
}

// refusedBy are the hops up to the one who said that a packet is too big, which lived for first hops and one more.
func refusedBy(ttls []mtuHop, who netip.Addr, first int) []measure.Hop {
	at := max(1, first)
	for i, h := range ttls {
		if h.small == who || h.large == who {
			at = i + 1
		}
	}
	hops := passedHops(ttls[:min(at, len(ttls))])
	hops[len(hops)-1].Addresses, hops[len(hops)-1].Reply = []string{who.String()}, mtuRefused
	return hops
}

// passedHops are hops with the addresses by which they answer.
func passedHops(ttls []mtuHop) (hops []measure.Hop) {
	for i, h := range ttls {
		hop := measure.Hop{TTL: i + 1, Addresses: []string{}, RTTSeconds: []*float64{}}
		for _, from := range []netip.Addr{h.large, h.small} {
			if from.IsValid() && len(hop.Addresses) == 0 {
				hop.Addresses = append(hop.Addresses, from.String())
			}
		}
		hops = append(hops, hop)
	}
	return hops
}
