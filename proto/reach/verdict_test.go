package reach

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// What both ends saw of one way has one meaning, and says whose word it is.
func TestJudge(t *testing.T) {
	const own, other = "192.0.2.7:40000", "198.51.100.9:1024"
	right := measure.ReachCame{Right: 1, From: own}
	for _, c := range []struct {
		name     string
		protocol string
		to       string
		sent     measure.ReachSent
		came     measure.ReachCame
		nat      bool
		want     string
		says     string
	}{
		{"all is well", "tcp", "there", measure.ReachSent{Outcome: "open", Answered: true}, right, false, Reachable, "reachable"},
		{"behind a translator, and yet", "udp", "here", measure.ReachSent{Outcome: "open", Answered: true}, right, true, Reachable, "reachable"},
		{"RST", "tcp", "here", measure.ReachSent{Outcome: "refused"}, measure.ReachCame{}, false, Refused, "by a firewall of this host, or something on the way"},
		{"RST there", "tcp", "there", measure.ReachSent{Outcome: "refused"}, measure.ReachCame{}, false, Refused, "by a firewall of its host"},
		{"RST of a translator", "tcp", "here", measure.ReachSent{Outcome: "refused"}, measure.ReachCame{}, true, Refused, "behind a translator of addresses (NAT)"},
		{"ICMP of the host", "udp", "there", measure.ReachSent{Outcome: "refused", Reason: "port unreachable", By: "192.0.2.1"}, measure.ReachCame{}, false, Refused,
			"refused, said 192.0.2.1"},
		{"ICMP of a router", "udp", "there", measure.ReachSent{Outcome: "unreachable", Reason: "administratively prohibited", By: "10.0.0.2"}, measure.ReachCame{}, false,
			Rejected, "rejected: administratively prohibited, said 10.0.0.2"},
		{"ICMP without its sender", "tcp", "there", measure.ReachSent{Outcome: "unreachable", Reason: "host unreachable"}, measure.ReachCame{}, false, Rejected,
			"rejected: host unreachable"},
		{"nothing", "tcp", "there", measure.ReachSent{Outcome: "silent"}, measure.ReachCame{}, false, Filtered, "connections do not arrive, and nobody says so"},
		{"nothing through a translator", "udp", "here", measure.ReachSent{Outcome: "silent"}, measure.ReachCame{}, true, Filtered, "(NAT)"},
		{"a stranger's datagram", "udp", "here", measure.ReachSent{Outcome: "silent"}, measure.ReachCame{Wrong: 1}, false, Filtered, "datagrams do not arrive"},
		{"no answer", "udp", "there", measure.ReachSent{Outcome: "silent"}, right, false, AnswerLost, "datagrams arrive, and the answer does not come back"},
		{"a proxy", "tcp", "there", measure.ReachSent{Outcome: "open"}, measure.ReachCame{}, false, Between, "does not know the cookie of this test, and nothing arrives"},
		{"an echo", "udp", "there", measure.ReachSent{Outcome: "open"}, measure.ReachCame{}, false, Between, "answers in the host's name"},
		{"changed on the way", "tcp", "there", measure.ReachSent{Outcome: "open"}, measure.ReachCame{Wrong: 1}, false, Between, "changes what is said"},
		{"another address", "udp", "there", measure.ReachSent{Outcome: "silent"}, measure.ReachCame{Right: 3, From: other}, true, Translated,
			"datagrams arrive from 198.51.100.9, and that to the responder from 192.0.2.7"},
		{"another address, and answered", "tcp", "there", measure.ReachSent{Outcome: "open", Answered: true}, measure.ReachCame{Right: 1, From: other}, true, Translated, "translated"},
		{"not let out", "udp", "there", measure.ReachSent{Outcome: "forbidden", Reason: "operation not permitted"}, measure.ReachCame{}, true, Untried,
			"not tried: operation not permitted"},
		{"not told", "udp", "there", measure.ReachSent{}, measure.ReachCame{}, false, Untried, "not tried"},
	} {
		got, says := Judge(measure.ReachWay{To: c.to, Protocol: c.protocol, Sent: c.sent, Came: c.came}, netip.MustParseAddr("192.0.2.7"), c.nat)
		if got != c.want || !strings.Contains(says, c.says) {
			t.Errorf("%s: %s, %q; want %s, %q", c.name, got, says, c.want, c.says)
		}
		if nat := strings.Contains(says, "(NAT)"); nat && !c.nat {
			t.Errorf("%s: it blames a translator that is not there: %q", c.name, says)
		}
	}
}

func TestIsOpen(t *testing.T) {
	open, closed := measure.ReachWay{Finding: Reachable}, measure.ReachWay{Finding: Filtered}
	for want, all := range map[bool][][]measure.ReachWay{true: {{open}, {open, open}}, false: {nil, {closed}, {open, closed}}} {
		for _, ways := range all {
			if got := IsOpen(measure.Reach{Ways: ways}); got != want {
				t.Errorf("%v: %v", ways, got)
			}
		}
	}
}
