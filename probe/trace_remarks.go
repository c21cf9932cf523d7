package probe

import (
	"math"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// remarksOf finds what hops say together that no hop says alone. It is pure. Nothing in it blames a hop for what another may have done: where
// answers are missing, a hop is said to lose packets only if the target misses them, too. oneFlow says that all packets could go one way; target
// is the address that was asked for. A hop whose Reply is not empty ended the route; forwards is the last hop that is known to forward.
func remarksOf(hops []measure.Hop, target string, forwards int, oneFlow bool) (remarks []measure.RouteRemark) {
	loop := loopOf(hops)
	straight := hops
	if loop != nil {
		remarks, straight = append(remarks, *loop), hops[:loop.TTLs[0]-1]
	}
	silent := remark(measure.RemarkSilent, straight, func(h measure.Hop) bool { return len(h.Addresses) == 0 && h.TTL <= forwards })
	if silent != nil {
		remarks = append(remarks, *silent)
	}
	for _, find := range []func([]measure.Hop) *measure.RouteRemark{
		zeroTTLs, sameAddress, shownTunnel, endedTunnel, keptTTL, longWayBack, translatedAt, ownSilence, lossToEnd,
	} {
		if r := find(straight); r != nil {
			remarks = append(remarks, *r)
		}
	}
	var spread, posing []int
	for _, h := range straight {
		if len(h.Addresses) > 1 && oneFlow {
			spread = append(spread, h.TTL)
		}
		if h.Reply == "" && slices.Contains(h.Addresses, target) {
			posing = append(posing, h.TTL)
		}
	}
	if spread != nil {
		remarks = append(remarks, measure.RouteRemark{Kind: measure.RemarkSpread, TTLs: spread})
	}
	if posing != nil {
		remarks = append(remarks, measure.RouteRemark{Kind: measure.RemarkTargetAddress, TTLs: posing, Addresses: []string{target}})
	}
	return remarks
}

// sole is the address of a hop that answered with one; "": it has none, or several.
func sole(h measure.Hop) string {
	if len(h.Addresses) == 1 {
		return h.Addresses[0]
	}
	return ""
}

// loopOf finds a row of hops that repeats to the end of a route without one, two hops or more long. Each address of it was seen at least
// three times, which neither a change of the route nor balancing shows. A hop that did not answer may be any; a place of the row at which none did has no address.
//
//	hop      1   2   3   4   5   6   7   8   9
//	address  a   b   c   b   c   -   c   b   c      first 2, period 2
func loopOf(hops []measure.Hop) *measure.RouteRemark {
	if len(hops) == 0 || hops[len(hops)-1].Reply != "" {
		return nil
	}
	const rounds = 3
	for period := 2; period*rounds <= len(hops); period++ {
		first := len(hops)
		cycle, seen := make([]string, period), make([]int, period)
		for i := len(hops) - 1; i >= 0; i-- {
			address := sole(hops[i])
			if address == "" && len(hops[i].Addresses) == 0 {
				continue // it may be any
			}
			if place := i % period; address == "" || cycle[place] != "" && cycle[place] != address {
				break
			} else {
				cycle[place] = address
				seen[place]++
			}
			first = i
		}
		few := slices.ContainsFunc(seen, func(n int) bool { return n > 0 && n < rounds })
		if few || slices.Max(seen) < rounds || len(slices.Compact(slices.Sorted(slices.Values(cycle)))) < period {
			continue
		}
		r := &measure.RouteRemark{Kind: measure.RemarkLoop}
		for i := first; i < first+period; i++ {
			r.TTLs, r.Addresses = append(r.TTLs, i+1), append(r.Addresses, cycle[i%period])
		}
		return r
	}
	return nil
}

// zeroTTLs are hops whose packets were answered by the next one, which says that they came without any TTL left.
func zeroTTLs(hops []measure.Hop) *measure.RouteRemark {
	return remark(measure.RemarkZeroTTL, hops, func(h measure.Hop) bool { return h.QuotedTTL != nil && *h.QuotedTTL == 0 })
}

// remark is one of all hops for which something holds; nil: it holds for none.
func remark(kind measure.RemarkKind, hops []measure.Hop, holds func(measure.Hop) bool) *measure.RouteRemark {
	r := &measure.RouteRemark{Kind: kind}
	for _, h := range hops {
		if holds(h) {
			r.TTLs = append(r.TTLs, h.TTL)
		}
	}
	if r.TTLs == nil {
		return nil
	}
	return r
}

// sameAddress finds neighbours that answer with one address, where that is not a router that passes packets on without any TTL left, nor one that
// says that it forwards no further.
func sameAddress(hops []measure.Hop) *measure.RouteRemark {
	for i := 1; i < len(hops); i++ {
		before, h := hops[i-1], hops[i]
		if address := sole(h); address != "" && address == sole(before) && h.Reply == "" && (before.QuotedTTL == nil || *before.QuotedTTL > 0) {
			return &measure.RouteRemark{Kind: measure.RemarkSameAddress, TTLs: []int{before.TTL, h.TTL}, Addresses: []string{address}}
		}
	}
	return nil
}

// The kinds of tunnels are those of Donnet, Luckie, Mérindol, Pansiot, "Revealing MPLS tunnels obscured from traceroute" (ACM CCR, 2012):
//
//	             TTL copied into the label    labels are told (RFC 4950)
//	explicit     yes                          yes                         shownTunnel
//	implicit     yes                          no                          keptTTL: the packet's own TTL stays as it was before the tunnel
//	opaque       no                           yes, by the last router     endedTunnel: the label's TTL shows how many hops hide
//	invisible    no                           no                          longWayBack, if the way back hides fewer

// shownTunnel are hops that packets come to with labels whose TTL ran out.
func shownTunnel(hops []measure.Hop) *measure.RouteRemark {
	return remark(measure.RemarkExplicitTunnel, hops, func(h measure.Hop) bool { return len(h.MPLS) > 0 && h.MPLS[0].TTL <= 1 })
}

// longestTunnel is how many hops a tunnel hides at most; a label whose TTL lacks more did not begin with 255.
const longestTunnel = 30

// endedTunnel is the first hop that packets come to with a label whose TTL was left over.
func endedTunnel(hops []measure.Hop) *measure.RouteRemark {
	for _, h := range hops {
		if len(h.MPLS) == 0 || h.MPLS[0].TTL <= 1 {
			continue
		}
		r := &measure.RouteRemark{Kind: measure.RemarkOpaqueTunnel, TTLs: []int{h.TTL}}
		if hidden := math.MaxUint8 - h.MPLS[0].TTL; hidden <= longestTunnel {
			r.Count = hidden
		}
		return r
	}
	return nil
}

// keptTTL are hops in a row that packets come to with TTL 2, 3, …: each router counted another TTL than the packet's own. The one before them
// is the first of them, where a TTL of 1 is right.
func keptTTL(hops []measure.Hop) *measure.RouteRemark {
	for i, h := range hops {
		if h.QuotedTTL == nil || *h.QuotedTTL != 2 {
			continue
		}
		r := &measure.RouteRemark{Kind: measure.RemarkImplicitTunnel, TTLs: []int{}}
		if i > 0 {
			r.TTLs = append(r.TTLs, h.TTL-1)
		}
		for next := i; next < len(hops) && hops[next].QuotedTTL != nil && *hops[next].QuotedTTL == next-i+2; next++ {
			r.TTLs = append(r.TTLs, hops[next].TTL)
		}
		if len(r.TTLs) > 2 {
			return r
		}
	}
	return nil
}

// longWayBack is where answers begin to come back over more hops than packets go, up to the end of the route, of two hops at least.
func longWayBack(hops []measure.Hop) *measure.RouteRemark {
	var r *measure.RouteRemark
	count := 0
	for i := len(hops) - 1; i >= 0; i-- {
		h := hops[i]
		if h.ReturnHops == 0 {
			continue
		}
		if h.ReturnHops <= h.TTL {
			break
		}
		r = &measure.RouteRemark{Kind: measure.RemarkLongReturn, TTLs: []int{h.TTL}, Count: h.ReturnHops - h.TTL}
		count++
	}
	if count < 2 {
		return nil
	}
	return r
}

// translatedAt are the hops that packets come to with other addresses or ports than to the one before, as far as hops show it: each is behind another translator.
func translatedAt(hops []measure.Hop) *measure.RouteRemark {
	r, last := &measure.RouteRemark{Kind: measure.RemarkTranslated}, ""
	for _, h := range hops {
		if h.Translated == "" || h.Translated == last {
			continue
		}
		last = h.Translated
		r.TTLs, r.Addresses = append(r.TTLs, h.TTL), append(r.Addresses, "")
		if !strings.HasPrefix(last, translatedChecksum) {
			r.Addresses[len(r.Addresses)-1] = last
		}
	}
	if r.TTLs == nil {
		return nil
	}
	if !slices.ContainsFunc(r.Addresses, func(a string) bool { return a != "" }) {
		r.Addresses = nil
	}
	return r
}

// missed is how many packets of a hop were not answered.
func missed(h measure.Hop) (n int) {
	for _, v := range h.RTTSeconds {
		if v == nil {
			n++
		}
	}
	return n
}

// ownSilence are hops that answered some of their packets, where a hop beyond answered all: it is their answers that are missing, as far as can be seen.
func ownSilence(hops []measure.Hop) *measure.RouteRemark {
	whole := 0 // the last hop of which nothing is missing
	for _, h := range hops {
		if missed(h) == 0 && len(h.RTTSeconds) > 1 {
			whole = h.TTL
		}
	}
	return remark(measure.RemarkFewAnswers, hops, func(h measure.Hop) bool { return h.TTL < whole && len(h.Addresses) > 0 && missed(h) > 0 })
}

// lossToEnd says how many packets to the target were lost, where it does not answer by an ICMP error, whose number hosts limit; and beyond which
// hop, as far as it is sure. A link that loses a share of packets takes it from all hops beyond it. So it is not before hops that lost nothing, unless their
// packets were lucky, which is believed where the chance is above 5 %, reckoned with the least share that the target's loss allows.
func lossToEnd(hops []measure.Hop) *measure.RouteRemark {
	if len(hops) == 0 {
		return nil
	}
	end := hops[len(hops)-1]
	lost, sent := missed(end), len(end.RTTSeconds)
	if !slices.Contains([]string{"echo reply", "SYN ACK", "RST", "UDP reply"}, end.Reply) || lost == 0 {
		return nil
	}
	const luck = 0.05
	r := &measure.RouteRemark{Kind: measure.RemarkLoss, TTLs: []int{0, end.TTL}, Count: lost}
	share, clean := leastShareLost(lost, sent, luck), 0
	for _, h := range hops {
		if missed(h) > 0 {
			clean = 0
			continue
		}
		if clean += len(h.RTTSeconds); math.Pow(1-share, float64(clean)) < luck {
			r.TTLs[0] = h.TTL
		}
	}
	return r
}

// leastShareLost is the least share of packets that can be lost where so many of those sent were, unless that was chance: the lower end of the
// interval of Clopper and Pearson (Biometrika, 1934).
func leastShareLost(lost, sent int, chance float64) float64 {
	low, high := 0.0, 1.0
	for range 40 {
		p := (low + high) / 2
		atLeast, term := 0.0, math.Pow(1-p, float64(sent)) // the chance to lose so many or more; that to lose k
		for k := range sent + 1 {
			if k >= lost {
				atLeast += term
			}
			term *= p / (1 - p) * float64(sent-k) / float64(k+1)
		}
		if atLeast < chance {
			low = p
		} else {
			high = p
		}
	}
	return low
}
