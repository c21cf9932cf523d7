package probe

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/proto/stamp"
)

// The protocols of Ping, beside protoSTAMP.
const (
	protoICMP = "icmp"
	protoUDP  = "udp"
	protoTCP  = "tcp"
)

// The methods of protoTCP.
const (
	methodConnect = "connect"
	methodSYN     = "syn"
)

var (
	pingProtos  = []string{protoICMP, protoUDP, protoSTAMP, protoTCP}
	pingMethods = []string{methodConnect, methodSYN}
)

// pingPorts are the ports that are asked where nobody names one. 443 is what most hosts that answer TCP listen on; those that do not refuse,
// which is an answer. 33434 is the first port of traceroute, on which nobody listens, so that hosts say that it is unreachable.
var pingPorts = map[string]int{protoTCP: 443, protoUDP: 33434, protoSTAMP: stamp.DefaultPort}

// hasPayload reports whether the protocol's requests have bytes of our choice.
func (p Ping) hasPayload() bool { return p.Proto != protoTCP }

// bySYN reports whether requests are SYNs alone, of which no connection comes.
func (p Ping) bySYN() bool { return p.Proto == protoTCP && p.Method == methodSYN }

// checkProto refuses a protocol that there is not, and what the protocol has no place for.
func (p Ping) checkProto() error {
	refuse := func(field, value, remedy string) error {
		return &input.Error{Field: field, Value: value, Remedy: remedy}
	}
	icmp := p.Proto == "" || p.Proto == protoICMP
	switch {
	case !icmp && !slices.Contains(pingProtos, p.Proto):
		return refuse("proto", p.Proto, "give "+oneOf(pingProtos))
	case p.Method != "" && p.Proto != protoTCP:
		return refuse("method", p.Method, "only proto tcp has methods; leave it out, or ask for proto tcp")
	case p.Method != "" && !slices.Contains(pingMethods, p.Method):
		return refuse("method", p.Method, "give "+oneOf(pingMethods))
	case icmp && p.Port != 0:
		return refuse("port", strconv.Itoa(p.Port), "ICMP has no ports; leave it out, or ask for proto tcp")
	case !p.hasPayload() && p.Size != 0:
		return refuse("size", strconv.Itoa(p.Size), "a SYN has no payload; leave it out, or ask for proto icmp")
	case !p.hasPayload() && p.DontFragment:
		return refuse("df", "true", "a SYN is too small to be cut; leave it out, or ask for proto icmp")
	case p.bySYN() && p.Interval != 0 && p.Interval < synMinInterval:
		return refuse("interval", p.Interval.String(), fmt.Sprintf("a SYN takes room at the target; give at least %v", synMinInterval))
	}
	return p.checkSize()
}

// checkSize refuses a payload that has no room for what tells the requests apart.
func (p Ping) checkSize() error {
	all := p.withDefaults()
	least := 0
	switch {
	case p.Proto == protoUDP:
		least = indexedSize
	case p.Proto == protoSTAMP:
		least = stamp.LeastBytes
	case all.hasPayload() && all.Timeout/time.Duration(max(1, all.Interval)) >= 1<<16: // more than ICMP has sequence numbers for
		least = indexedSize
	}
	if all.hasPayload() && all.Size < least {
		return &input.Error{Field: "size", Value: strconv.Itoa(p.Size), Remedy: fmt.Sprintf("give at least %d, by which the requests are told apart", least)}
	}
	if p.Proto == protoSTAMP {
		return checkPadding(all.Size, stamp.LeastBytes)
	}
	return nil
}
