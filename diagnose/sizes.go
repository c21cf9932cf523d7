package diagnose

import (
	"fmt"
	"math"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
)

// echoes are how many round trips were tried, and how many came back.
type echoes struct{ sent, answered float64 }

// sized are echoes of packets of one size, headers included, that no router may cut.
type sized struct {
	bytes float64
	echoes
	refused bool // somebody said that it is too large, as is right
}

// silent reports whether packets of the size vanish without a word.
func (s sized) silent() bool { return s.sent > 0 && s.answered == 0 && !s.refused }

// takePing adds what a ping saw: of small packets the round trip of the empty path, of others whether they come through.
func (v *view) takePing(r *measure.Result) {
	v.baseRTT = lesser(v.baseRTT, r.Metrics[measure.RTTMin])
	e := echoes{r.Metrics[measure.SentPackets], r.Metrics[measure.ReceivedPackets]}
	if whole, _ := r.Parameters["df"].(bool); !whole {
		v.echoes = e
		return
	}
	size, _ := number(r.Parameters["size"])
	s := sized{bytes: size + icmpHeader + ipHeader(r.Target.Address), echoes: e, refused: e.sent == 0}
	for _, one := range r.Samples.Echoes {
		s.refused = s.refused || one.Error != ""
	}
	v.sizes = append(v.sizes, s)
}

// icmpHeader is the size of the header of an echo in bytes (RFC 792).
const icmpHeader = 8

// number reads a parameter that was an int, or a float64 once it was JSON.
func number(parameter any) (float64, bool) {
	switch n := parameter.(type) {
	case int:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

// largestPassing and smallestSilent bound the size from which on packets vanish. 0: no packet was tried that is.
func (v *view) largestPassing() (bytes float64) {
	for _, s := range v.sizes {
		if s.answered > 0 {
			bytes = max(bytes, s.bytes)
		}
	}
	return bytes
}

func (v *view) smallestSilent() (bytes float64) {
	for _, s := range v.sizes {
		if s.silent() {
			bytes = lesser(bytes, s.bytes)
		}
	}
	return bytes
}

// nextSize is the size of packets to try next, where a connection opens and nothing moves: what it sends, then between what
// passes and what vanishes, until that is known well enough. It is false where nothing more is to be learnt.
func (v *view) nextSize() (bytes float64, ok bool) {
	if !v.stuck || v.echoes.answered == 0 || slices.ContainsFunc(v.sizes, func(s sized) bool { return s.refused }) {
		return 0, false
	}
	silent := v.smallestSilent()
	switch passes := max(smallPacket, v.largestPassing()); {
	case len(v.sizes) == 0:
		return v.mss + v.ipHeader + model.TCPHeader + model.TCPTimestamps, v.mss > 0
	case silent == 0 || silent-passes <= nearEnough:
		return 0, false
	default:
		return math.Floor((passes + silent) / 2), true
	}
}

const (
	// smallPacket is what every path carries (RFC 791), and less than what any ping of a diagnosis sends.
	smallPacket = 68
	// nearEnough is how well the size is told from which on packets vanish: the sizes of tunnels' headers differ by 4 to 8 bytes.
	nearEnough = 4
)

// pmtuBlackhole: packets above a size vanish, and nobody tells the sender, who sends them again and again.
func pmtuBlackhole(v *view) *claim {
	passes, silent := v.largestPassing(), v.smallestSilent()
	if silent == 0 || v.echoes.answered == 0 {
		return nil
	}
	passes = max(passes, smallPacket)
	f := &measure.Finding{ID: "pmtu-blackhole", Severity: measure.Problem, Where: v.where(), Confidence: 0.95,
		Evidence: []measure.Evidence{
			evidence("throughput_bits_per_second", v.goodput, "bit/s", "the connection opened, and nothing that was sent on it arrived"),
			evidence("path_mtu_bytes", passes, "bytes", fmt.Sprintf("packets of %.0f bytes are answered", passes)),
			evidence("silent_packet_bytes", silent, "bytes", fmt.Sprintf("packets of %.0f bytes vanish: no answer, and no router says why", silent)),
			evidence("snd_mss_bytes", v.mss, "bytes", "payload of the packets that the connection sends"),
			evidence("received_packets", v.echoes.answered, "packets", fmt.Sprintf("answers to %.0f small pings: the path works for these", v.echoes.sent)),
		},
		Explanation: fmt.Sprintf("Packets of more than %.0f bytes vanish on the way, and nobody tells the sender, who sends them again and "+
			"again. A link on the way takes only smaller packets, as in a tunnel, and the ICMP message that says so is filtered or never sent.",
			passes),
		Advice: v.smallerPackets(passes)}
	if v.resent > 0 {
		f.Evidence = append(f.Evidence, evidence("retransmits_packets", v.resent, "packets", "sent again, each time in vain"))
	}
	mended := *v
	mended.mss = passes - v.ipHeader - model.TCPHeader - model.TCPTimestamps
	if v.capacity > 0 && mended.mss > 0 { // without a capacity the next limit is anybody's guess
		mended.carries = v.capacity * mended.payloadShare(mended.mss)
		f.Predicted = mended.next()
	}
	return &claim{f, 0} // of packets this large nothing comes through
}

// smallerPackets is advice to send no packets of more than so many bytes.
func (v *view) smallerPackets(bytes float64) (all []measure.Advice) {
	if v.address != "" {
		all = append(all, measure.Advice{Host: v.sender, Command: fmt.Sprintf("ip route replace $(ip -o route get %s | "+
			"grep -oE '^[^ ]+|via [^ ]+|dev [^ ]+') mtu lock %.0f", v.address, bytes),
			Why: "what is sent to this address is small enough at once, until the next start; ip route del takes it back"})
	}
	return append(all,
		measure.Advice{Host: v.sender, Command: "sysctl -w net.ipv4.tcp_mtu_probing=2",
			Why: "TCP then finds for itself which packets pass, to any host (RFC 4821), IPv6 too; what it tries in vain can keep a transfer slow " +
				"for some seconds. 1 does so only after some seconds of silence"},
		measure.Advice{Host: "the router before the narrow link", Command: fmt.Sprintf("iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN "+
			"-j TCPMSS --set-mss %.0f", bytes-v.ipHeader-model.TCPHeader),
			Why: "connections through it agree on packets that fit; ip6tables for IPv6, with 20 bytes less"},
		measure.Advice{Host: v.where(), Why: "find the firewall that drops ICMP \"fragmentation needed\" (IPv6: \"packet too big\") and let it pass"})
}
