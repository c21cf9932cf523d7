package probe

import (
	"math"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/sock"
)

// LightRate in bit/s is what a test may send in a direction and still share the path with others: the rate that iperf3
// gives a UDP test which asks for none, as one that any shared link can bear. It is of payload, but for pings, most of
// which are headers, of the link's time.
const LightRate = 1e6

const (
	mtu         = 1500 // of Ethernet, which paths across networks have as a rule
	shortest    = 84   // bytes that the shortest frame of Ethernet takes on the link
	icmpHeader  = 8
	udpHeader   = 8
	ackEvery    = 2                // segments that Linux acknowledges at once, at least (RFC 1122, 4.2.3.2)
	defaultUDP  = 1460             // bytes of a datagram where the path's MSS is not known, as iperf3 has it
	iperf3Setup = time.Second      // six round trips of 150 ms: a test's two connections, its parameters, its results
	capacityFor = 5 * time.Second  // both sets of trains where the path has 10 Mbit/s, which takes longest
	transferFor = 10 * time.Second // where none is asked for, as iperf3 has it
)

// wire is how many bytes of a link's time an IP packet with that much after its IP header takes, in fragments if it
// must be.
func wire(target string, family sock.Family, afterIP float64) float64 {
	ip := float64(model.IPv4Header)
	if a, err := netip.ParseAddr(target); err == nil {
		ip = float64(ipHeader(a))
	} else if family == sock.IPv6 {
		ip = model.IPv6Header
	}
	packets := math.Max(1, math.Ceil(afterIP/(mtu-ip)))
	return math.Max(shortest, afterIP+packets*(ip+model.EthernetFraming))
}

// ipHeader is the size in bytes of the header of packets to an address.
func ipHeader(to netip.Addr) int {
	if sock.FamilyOf(to) == sock.IPv6 {
		return model.IPv6Header
	}
	return model.IPv4Header
}
