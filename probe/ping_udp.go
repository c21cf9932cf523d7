package probe

import (
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/proto/stamp"
)

// udpPackets are datagrams to a port. Where an echo service listens (RFC 862) they come back; where nobody does, the target's kernel answers
// with an ICMP port unreachable, which quotes the datagram.
//
//	| token : 64 | index : 32 | 0 …
type udpPackets struct {
	token []byte
}

func (u *udpPackets) request(index, size int) []byte {
	payload := make([]byte, size)
	putIndex(payload, u.token, index)
	return payload
}

func (u *udpPackets) answered(packet []byte, _ netip.Addr, sent int) (index int, ok bool) {
	index, ok = readIndex(packet, u.token)
	return index, ok && index < sent
}

// quoted takes an error that quotes the headers alone, as RFC 792 has it, for one about the latest request: Linux quotes more.
func (u *udpPackets) quoted(payload []byte, sent int) (index int, ok bool) {
	if !quotes(payload, indexedSize) {
		return sent - 1, sent > 0
	}
	return u.answered(payload, netip.Addr{}, sent)
}

// stampEchoes are packets of STAMP (RFC 8762), which a reflector sends back with the times at which it received and answered them.
type stampEchoes struct {
	*stampPackets
}

func (s *stampEchoes) request(index, _ int) []byte {
	return s.packet(index, time.Now())
}

func (s *stampEchoes) answered(packet []byte, _ netip.Addr, sent int) (index int, ok bool) {
	a, ok := s.reflected(packet)
	return a.index, ok && a.index < sent
}

func (s *stampEchoes) held(answer []byte) time.Duration {
	a, _ := s.reflected(answer)
	return a.answered.Sub(a.arrived)
}

// quoted is which request an error quotes: its sequence number is the first thing in it.
func (s *stampEchoes) quoted(payload []byte, sent int) (index int, ok bool) {
	if len(payload) < stamp.LeastBytes {
		return sent - 1, sent > 0
	}
	p, ok := stamp.ReadProbe(payload)
	return int(p.Sequence), ok && int(p.Sequence) < sent && p.Session == s.session
}

// unreachableBytes are those of an ICMP port unreachable after its IP header, as Linux sends it: all of the datagram that fits into 576 bytes
// (RFC 1812 section 4.3.2.3).
func unreachableBytes(payload int) int {
	return min(576-model.IPv4Header, icmpHeader+model.IPv4Header+udpHeader+payload)
}

// Linux answers no more than limitBurst datagrams to closed ports at once, and then one in limitEvery (net.ipv4.icmp_ratelimit), for each host that
// asks.
const (
	limitBurst = 6
	limitEvery = time.Second
)

// limited reports whether the answers look like those of a host which limits how many it gives to what nobody takes: the first few requests are
// answered, and from the first loss on none within half of limitEvery of another. sent are the times of all requests in seconds.
func limited(sent []float64, lost []bool) bool {
	first := slices.Index(lost, true)
	if first < limitBurst {
		return false
	}
	losses, last := 0, math.Inf(-1)
	for i := first; i < len(sent); i++ {
		if lost[i] {
			losses++
			continue
		}
		if sent[i]-last < limitEvery.Seconds()/2 {
			return false
		}
		last = sent[i]
	}
	return losses >= limitBurst
}
