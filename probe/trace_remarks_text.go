package probe

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// Straight are the hops of a route that are worth showing: of a loop one round, and the hop at which it begins again.
func Straight(hops []measure.Hop, route *measure.RouteSample) []measure.Hop {
	if route == nil {
		return hops
	}
	for _, r := range route.Remarks {
		if r.Kind == measure.RemarkLoop && len(r.TTLs) > 0 {
			last := min(max(0, r.TTLs[len(r.TTLs)-1]), len(hops)) // a Result that was made elsewhere may have any number
			return hops[:min(len(hops), last+1)]
		}
	}
	return hops
}

// remarkText is a remark as a sentence; "" of a kind that this build does not know, and of one without what it is about.
func remarkText(r measure.RouteRemark) string {
	if len(r.TTLs) == 0 {
		return ""
	}
	who, many := hopsText(r.TTLs), len(r.TTLs) > 1
	do := func(one, several string) string {
		if many {
			return several
		}
		return one
	}
	switch first := r.TTLs[0]; r.Kind {
	case measure.RemarkSilent:
		return who + do(" does not answer, but it forwards", " do not answer, but they forward")
	case measure.RemarkLoop:
		var round []string
		for _, address := range r.Addresses {
			round = append(round, cmp.Or(address, "one that does not answer"))
		}
		return fmt.Sprintf("packets go round in a loop: from hop %d on %s, and again", first, strings.Join(round, ", "))
	case measure.RemarkZeroTTL:
		return who + do(" forwards packets whose TTL ran out, so that the next hop answers in its place",
			" forward packets whose TTL ran out, so that the next hops answer in their place")
	case measure.RemarkSameAddress:
		return fmt.Sprintf("%s answer with one address, %s: one hop hides, or one counts twice", who, strings.Join(r.Addresses, ", "))
	case measure.RemarkExplicitTunnel:
		return who + do(" is", " are") + " in an MPLS tunnel that shows its hops"
	case measure.RemarkOpaqueTunnel:
		if r.Count > 0 {
			return fmt.Sprintf("an MPLS tunnel ends before %s, and hides %s, by the TTL of its label", who, quantity.FormatCount(r.Count, "hop"))
		}
		return fmt.Sprintf("an MPLS tunnel ends before %s, and hides hops", who)
	case measure.RemarkImplicitTunnel:
		return who + " say that packets came with more and more TTL left: they are in a tunnel that keeps it"
	case measure.RemarkLongReturn:
		return fmt.Sprintf("from %s on answers come back over more hops than packets go, there %d more: another way back, or a tunnel that hides hops on the way there", who, r.Count)
	case measure.RemarkTranslated:
		return translatedText(r)
	case measure.RemarkFewAnswers:
		return who + do(" does not answer all packets, but what goes beyond it is answered: no loss of the path shows there",
			" do not answer all packets, but what goes beyond them is answered: no loss of the path shows there")
	case measure.RemarkLoss:
		return lossText(r)
	case measure.RemarkSpread:
		return "packets of one flow meet several addresses at " + who + ": they are spread packet by packet, or the route changed"
	case measure.RemarkTargetAddress:
		return who + do(" answers", " answer") + " with the target's address, though the TTL ran out there: it is not the target, or a translator stands before it"
	}
	return ""
}

// translatedText tells of each translator.
func translatedText(r measure.RouteRemark) string {
	var all []string
	for i, ttl := range r.TTLs {
		as, than, which := "", "they left with", "an address translator (NAT)"
		if i < len(r.Addresses) && r.Addresses[i] != "" {
			if as = ", from " + r.Addresses[i]; strings.HasPrefix(r.Addresses[i], translatedTarget) {
				as = ", " + r.Addresses[i]
			}
		}
		if i > 0 {
			than, which = fmt.Sprintf("hop %d", r.TTLs[i-1]), "another"
		}
		all = append(all, fmt.Sprintf("hop %d is the first that packets reach with another address or port than %s%s: %s is before it", ttl, than, as, which))
	}
	return strings.Join(all, "; ")
}

func lossText(r measure.RouteRemark) string {
	were := "were"
	if r.Count == 1 {
		were = "was"
	}
	lost := fmt.Sprintf("%s to the target, or the answers, %s lost", quantity.FormatCount(r.Count, "packet"), were)
	if r.TTLs[0] == 0 {
		return lost + "; too few were sent to say where"
	}
	return fmt.Sprintf("%s, beyond hop %d", lost, r.TTLs[0])
}

// hopsText names hops: "hop 3", "hops 3 and 4", "hops 3, 5 and 6", and of more than two in a row "hops 3 to 6".
func hopsText(ttls []int) string {
	if len(ttls) == 1 {
		return fmt.Sprintf("hop %d", ttls[0])
	}
	last := len(ttls) - 1
	if last > 1 && ttls[last]-ttls[0] == last {
		return fmt.Sprintf("hops %d to %d", ttls[0], ttls[last])
	}
	var names []string
	for _, ttl := range ttls[:last] {
		names = append(names, fmt.Sprint(ttl))
	}
	return fmt.Sprintf("hops %s and %d", strings.Join(names, ", "), ttls[last])
}
