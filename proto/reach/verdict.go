package reach

import (
	"fmt"
	"net/netip"

	"github.com/pathwise-net/pathwise/measure"
)

// What is found of a way to a fresh port, as measure.ReachWay.Finding has it.
const (
	Reachable  = "reachable"
	Refused    = "refused"     // by RST, or by ICMP from the host itself, although a program listens
	Rejected   = "rejected"    // by an ICMP error from the way
	Filtered   = "filtered"    // nothing arrives, and nobody says so
	AnswerLost = "answer-lost" // what was sent arrives, and its answer does not come back
	Between    = "in-between"  // something on the way answers in the host's name
	Translated = "translated"  // it arrives from another address than the connection to the responder comes from
	Untried    = "untried"
)

// Judge says what both ends saw of one way means. from is the address that the sender was seen to have on the connection to the responder; nat says
// that addresses of the caller are translated on the way.
func Judge(way measure.ReachWay, from netip.Addr, nat bool) (finding, says string) {
	v := verdict{way: way, from: from, nat: nat}
	v.decide()
	return v.finding, v.says
}

type verdict struct {
	way  measure.ReachWay
	from netip.Addr
	nat  bool

	finding, says string
}

func (v *verdict) found(finding, says string, args ...any) {
	v.finding, v.says = finding, fmt.Sprintf(says, args...)
}

func (v *verdict) decide() {
	sent, came := v.way.Sent, v.way.Came
	arrived, _ := netip.ParseAddrPort(came.From) // the zero value is nobody's
	what := "connections"
	if v.way.Protocol == "udp" {
		what = "datagrams"
	}
	switch {
	case sent.Outcome == "" || sent.Outcome == measure.PortForbidden:
		v.found(Untried, "not tried: %s", sent.Reason)
	case came.Right > 0 && arrived.Addr().Unmap().WithZone("") != v.from.Unmap().WithZone(""):
		v.found(Translated, "%s arrive from %s, and that to the responder from %s: addresses are translated on the way", what, arrived.Addr(), v.from)
	case sent.Answered && came.Right > 0:
		v.found(Reachable, "reachable")
	case came.Right > 0:
		v.found(AnswerLost, "%s arrive, and the answer does not come back", what)
	case sent.Outcome == measure.PortOpen && came.Wrong > 0:
		v.found(Between, "something on the way changes what is said: %s arrive without the cookie of this test", what)
	case sent.Outcome == measure.PortOpen:
		v.found(Between, "something on the way answers in the host's name: it does not know the cookie of this test, and nothing arrives")
	case sent.Outcome == measure.PortRefused:
		v.refused()
	case sent.Outcome == measure.PortUnreachable:
		v.found(Rejected, "rejected: %s%s", sent.Reason, by(sent.By))
	default:
		v.found(Filtered, "filtered: %s do not arrive, and nobody says so", what)
	}
	if v.nat && v.way.To == measure.ReachHere && v.finding != Reachable && v.finding != Translated && v.finding != Untried {
		v.says += "; this host is behind a translator of addresses (NAT), which has to be told where fresh ports lead"
	}
}

func (v *verdict) refused() {
	who := "its host"
	if v.way.To == measure.ReachHere {
		who = "this host"
	}
	v.found(Refused, "refused%s, although a program listens there: by a firewall of %s, or something on the way", by(v.way.Sent.By), who)
}

func by(address string) string {
	if address == "" {
		return ""
	}
	return ", said " + address
}

// IsOpen reports whether all ways are open.
func IsOpen(r measure.Reach) bool {
	for _, way := range r.Ways {
		if way.Finding != Reachable {
			return false
		}
	}
	return len(r.Ways) > 0
}

// translated reports whether addresses of the caller are translated on the way.
func translated(local, seen netip.AddrPort) bool {
	return local.Addr().Unmap().WithZone("") != seen.Addr().Unmap().WithZone("")
}

// waysOf puts together what both ends saw.
func waysOf(caller, responder report, here, there ports, local, seen netip.AddrPort, peer netip.Addr) measure.Reach {
	nat := translated(local, seen)
	r := measure.Reach{Local: local.String(), Seen: seen.String(), Ways: []measure.ReachWay{
		{To: measure.ReachHere, Protocol: "tcp", Port: here.tcp, Sent: responder.Sent.TCP, Came: caller.Came.TCP},
		{To: measure.ReachHere, Protocol: "udp", Port: here.udp, Sent: responder.Sent.UDP, Came: caller.Came.UDP},
		{To: measure.ReachThere, Protocol: "tcp", Port: there.tcp, Sent: caller.Sent.TCP, Came: responder.Came.TCP},
		{To: measure.ReachThere, Protocol: "udp", Port: there.udp, Sent: caller.Sent.UDP, Came: responder.Came.UDP},
	}}
	for i := range r.Ways {
		from := peer
		if r.Ways[i].To == measure.ReachThere {
			from = seen.Addr()
		}
		r.Ways[i].Finding, r.Ways[i].Says = Judge(r.Ways[i], from, nat)
	}
	return r
}

// ports are fresh ones of one end.
type ports struct{ tcp, udp int }
