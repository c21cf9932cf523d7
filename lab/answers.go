package lab

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// Answers are what a router's ICMP errors say, and when it sends some, where that is not what all routers do.
type Answers struct {
	MPLS       []uint32     `yaml:"mpls"`       // the labels that packets come to it with, outermost first
	MPLSTTL    int          `yaml:"mpls_ttl"`   // of these labels; 0: 1, as of labels whose TTL ran out
	MPLSClass  int          `yaml:"mpls_class"` // traffic class of these labels
	Interfaces Roles        `yaml:"interfaces"` // those that they tell of, by what they have to do with the packet; none: of none
	Quote      int          `yaml:"quote"`      // bytes behind the IP header that they quote at most; 0: as many as fit
	QuotedTTL  *int         `yaml:"quoted_ttl"` // that they say packets came with, as inside a tunnel that keeps it; nil: the true one
	From       string       `yaml:"from"`       // the address that they come from, whosever it is; "": that of the interface the packet came in by
	Copies     int          `yaml:"copies"`     // each is sent so often; 0: once
	Spoil      packet.Spoil `yaml:"spoil"`      // what is wrong with them
	Refuse     string       `yaml:"refuse"`     // forwards nothing, and says so: network, host, protocol, prohibited
	ZeroTTL    bool         `yaml:"zero_ttl"`   // forwards packets whose TTL ran out here, so that the next one answers
}

const (
	maxLabel  = 1<<20 - 1 // RFC 3032: a label has 20 bits
	maxClass  = 7         // RFC 3032: it has three
	maxLabels = 8         // deeper stacks are not seen, and would not fit an error of 576 bytes with much else
	minQuote  = 8         // RFC 792
	maxQuote  = 1232      // what an error of IPv6 has room for
	maxCopies = 16        // more would be a flood
)

// refusals are the troubles that a router can say it has with all that it should forward.
var refusals = map[string]packet.Trouble{"network": packet.NoNetwork, "host": packet.NoHost, "protocol": packet.NoProtocol, "prohibited": packet.Prohibited}

func (a Answers) validate() error {
	if len(a.MPLS) > maxLabels {
		return fmt.Errorf("mpls: %d labels: want at most %d", len(a.MPLS), maxLabels)
	}
	for _, label := range a.MPLS {
		if label > maxLabel {
			return fmt.Errorf("mpls: %d: want a label from 0 to %d", label, maxLabel)
		}
	}
	_, refuses := refusals[a.Refuse]
	switch {
	case a.MPLSTTL < 0 || a.MPLSTTL > 255:
		return fmt.Errorf("mpls_ttl: %d: want a number from 1 to 255", a.MPLSTTL)
	case a.MPLSClass < 0 || a.MPLSClass > maxClass:
		return fmt.Errorf("mpls_class: %d: want a number from 0 to %d", a.MPLSClass, maxClass)
	case a.Quote != 0 && (a.Quote < minQuote || a.Quote > maxQuote):
		return fmt.Errorf("quote: %d: want a number of bytes from %d to %d", a.Quote, minQuote, maxQuote)
	case a.QuotedTTL != nil && (*a.QuotedTTL < 0 || *a.QuotedTTL > 255):
		return fmt.Errorf("quoted_ttl: %d: want a number from 0 to 255", *a.QuotedTTL)
	case a.From != "" && !a.from().IsValid():
		return fmt.Errorf("from: %q: want an address, such as 192.0.2.1", a.From)
	case a.Copies < 0 || a.Copies > maxCopies:
		return fmt.Errorf("copies: %d: want a number from 1 to %d", a.Copies, maxCopies)
	case !slices.Contains([]packet.Spoil{"", packet.SpoilChecksum, packet.SpoilExtensions}, a.Spoil):
		return fmt.Errorf("spoil: %q: want checksum or extensions", a.Spoil)
	case a.Refuse != "" && !refuses:
		return fmt.Errorf("refuse: %q: want network, host, protocol or prohibited", a.Refuse)
	}
	return nil
}

// from is the address that errors come from; invalid if that is nobody's in particular.
func (a Answers) from() netip.Addr {
	address, _ := netip.ParseAddr(a.From)
	return address.Unmap()
}

// complain sends an ICMP error about a packet, unless none may be sent about it or the router keeps silent. The packet
// stays the caller's.
func (n *Network) complain(t int64, node, iface int, about *packet.Packet, what packet.Trouble, mtu int) {
	i, v6 := n.plan.Interfaces[iface], packet.Version(about.Data) == 6
	from := i.Address
	if v6 {
		from = i.Address6
	}
	told := n.told(node, iface, about)
	answers := n.plan.Nodes[node].answers()
	if another := answers.from(); another.IsValid() && another.Is6() == v6 {
		from = another
	}
	c := packet.ComplaintTelling(&n.Pool, from, about, what, mtu, told)
	switch {
	case c == nil:
	case n.boxes[node].MayComplain(t):
		for range answers.Copies - 1 {
			n.originate(t, node, n.Pool.Clone(c))
		}
		n.originate(t, node, c)
	default:
		n.Pool.Put(c)
	}
}

// answers are those of a router; a host's are plain.
func (n Node) answers() Answers {
	if n.Settings == nil {
		return Answers{}
	}
	return n.Settings.Answers
}

// told is what a router says of itself, and of the interfaces that a packet has to do with.
func (n *Network) told(node, iface int, about *packet.Packet) packet.Told {
	answers := n.plan.Nodes[node].answers()
	t := packet.Told{Labels: answers.MPLS, LabelTTL: byte(answers.MPLSTTL), LabelClass: byte(answers.MPLSClass), Quote: answers.Quote, Spoil: answers.Spoil}
	if ttl := answers.QuotedTTL; ttl != nil {
		limit := byte(*ttl)
		t.HopLimit = &limit
	}
	for _, role := range answers.Interfaces {
		if i, known := n.toldInterface(role, node, iface, about); known {
			t.Interfaces = append(t.Interfaces, i)
		}
	}
	return t
}

// refuseAll drops a packet that a router is to forward, and has the router answer with the ICMP error by which it refuses all packets.
func (n *Network) refuseAll(t int64, node, iface int, p *packet.Packet, refuse string) {
	cause := packet.NoRoute
	if refusals[refuse] == packet.Prohibited {
		cause = packet.Filtered
	}
	n.complain(t, node, iface, p, refusals[refuse], 0)
	n.drop(t, -1, p, cause)
}
