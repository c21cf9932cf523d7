package middlebox

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/packet"
)

// Config is what a router of a lab file says about itself. The zero value is a router that only routes.
type Config struct {
	NAT      *NAT      `yaml:"nat" json:"nat,omitempty"`
	Firewall *Firewall `yaml:"firewall" json:"firewall,omitempty"`
	ICMP     *ICMP     `yaml:"icmp" json:"icmp,omitempty"` // default: pass

	// Match says which packets the next five act on; default: all. It sees the addresses that hold inside of NAT. With
	// RandomizeSequence it must hold for both directions of a connection, and an ICMP error is held to be what it quotes.
	Match             *packet.Match `yaml:"match" json:"match,omitempty"`
	Strip             Options       `yaml:"strip" json:"strip,omitempty"` // TCP options to overwrite with NOPs
	MSS               Number        `yaml:"mss" json:"mss,omitempty"`     // the most that a SYN may announce; 0: any
	DSCP              *Remark       `yaml:"dscp" json:"dscp,omitempty"`
	ECN               ECN           `yaml:"ecn" json:"ecn,omitempty"`
	RandomizeSequence bool          `yaml:"randomize_sequence" json:"randomize_sequence,omitempty"` // see shift

	Hidden bool `yaml:"hidden" json:"hidden,omitempty"` // does not count as a hop
	Silent bool `yaml:"silent" json:"silent,omitempty"` // sends nothing of its own: no ICMP error, no echo reply
}

// NAT is a source NAT towards one neighbour. A mapping depends on the inside address and port alone (RFC 4787 REQ-1),
// and keeps the port if it is free. Packets of other protocols than TCP, UDP and ICMP do not get through.
type NAT struct {
	Outside   string    `yaml:"outside" json:"outside"`               // the neighbour that the outside lies behind
	Idle      *Idle     `yaml:"idle" json:"idle,omitempty"`           // default: see Idle
	Filtering Filtering `yaml:"filtering" json:"filtering,omitempty"` // who may use a mapping from outside
	Entries   Number    `yaml:"entries" json:"entries,omitempty"`     // how many mappings there may be; 0: defaultEntries
	Forward   []Forward `yaml:"forward" json:"forward,omitempty"`
	IPv6      bool      `yaml:"ipv6" json:"ipv6,omitempty"` // translates IPv6 too; else that is routed as it is
	Ports     Ports     `yaml:"ports" json:"ports,omitempty"`
	Quotes    Quotes    `yaml:"quotes" json:"quotes,omitempty"`
}

// Forward hands what comes to a port of the router's outside address on to a host inside.
type Forward struct {
	Port     packet.Port     `yaml:"port" json:"port"`
	To       string          `yaml:"to" json:"to"`                       // a host
	ToPort   packet.Port     `yaml:"to_port" json:"to_port,omitempty"`   // 0: the same port
	Protocol packet.Protocol `yaml:"protocol" json:"protocol,omitempty"` // tcp or udp; 0: both
}

// Firewall lets connections begin from inside only. It remembers each, and forgets the idle ones, whose later packets it
// drops; a TCP connection begins with its SYN and with nothing else. What is for the router itself passes.
type Firewall struct {
	Inside  []string       `yaml:"inside" json:"inside,omitempty"`   // the neighbours on the inside; none: deny only
	Idle    *Idle          `yaml:"idle" json:"idle,omitempty"`       // default: see Idle
	Allow   []packet.Match `yaml:"allow" json:"allow,omitempty"`     // what may begin from outside, too
	Deny    []packet.Match `yaml:"deny" json:"deny,omitempty"`       // what passes in neither direction; goes first
	Reject  bool           `yaml:"reject" json:"reject,omitempty"`   // says so by ICMP; default: drops silently
	Entries Number         `yaml:"entries" json:"entries,omitempty"` // connections it can remember; 0: defaultEntries
}

// defaultEntries is what Linux' connection tracking holds on a router with 1 GiB of memory.
const defaultEntries = 65536

// maxEntries bounds the memory that a lab file can ask for: about 100 MB. As many remotes are remembered for filtering.
const maxEntries = 1 << 20

// Filtering is which hosts outside may send to a mapping (RFC 4787 section 5). The zero value is FilterIndependent. With
// the other two, once maxEntries were sent to, what further ones answer does not get in until mappings have gone.
type Filtering string

// The kinds of filtering.
const (
	FilterIndependent Filtering = "independent" // any
	FilterAddress     Filtering = "address"     // those whose address was sent to
	FilterPort        Filtering = "port"        // those whose address and port were sent to
)

// ECN is what happens to explicit congestion notification (RFC 3168). The zero value is ECNPass.
type ECN string

// The ways to treat ECN.
const (
	ECNPass    ECN = "pass"
	ECNBleach  ECN = "bleach"   // clears the two bits of the IP header: marks get lost
	ECNDropSYN ECN = "drop_syn" // drops SYNs that ask for ECN, as some firewalls of the early 2000s did
	ECNDropECT ECN = "drop_ect" // drops packets whose IP header has either bit set
)

// Empty reports whether the router only routes. A nil Config is empty.
func (c *Config) Empty() bool {
	return c == nil || c.NAT == nil && c.Firewall == nil && c.ICMP == nil && len(c.Strip) == 0 && c.MSS == 0 &&
		c.DSCP == nil && c.ECN == "" && !c.RandomizeSequence && !c.Hidden && !c.Silent && c.Match == nil
}

// Validate says what is wrong with a configuration, in one line; whether the names in it exist is Place's to say.
func (c *Config) Validate() error {
	if c == nil {
		return nil
	}
	checks := []error{c.NAT.validate(), c.Firewall.validate(), c.ICMP.validate(), c.Strip.validate(), c.DSCP.validate(),
		oneOf("ecn", c.ECN, ECNPass, ECNBleach, ECNDropSYN, ECNDropECT), c.validateMSS(), c.validateMatch()}
	return cmp.Or(checks...)
}

// validateMatch also refuses to shift the numbers of one direction and not the acknowledgements that come back.
func (c *Config) validateMatch() error {
	m := c.Match
	if m != nil && c.RandomizeSequence &&
		(m.Source.IsValid() || m.Target.IsValid() || m.SourcePort|m.TargetPort != 0 || len(m.DSCP) > 0) {
		return document.Errorf("match: %v: want protocol and port alone beside randomize_sequence, which acts both ways", m)
	}
	return m.Validate()
}

// The MSS that clamping makes sense for: from what is left of IPv4's least MTU of 68 (RFC 791) to what the option holds.
const (
	minMSS = 28
	maxMSS = 65535
)

func (c *Config) validateMSS() error {
	if c.MSS != 0 && (c.MSS < minMSS || c.MSS > maxMSS) {
		return document.Errorf("mss: %d: want %d to %d", c.MSS, minMSS, maxMSS)
	}
	return nil
}

func (n *NAT) validate() error {
	if n == nil {
		return nil
	}
	if n.Outside == "" {
		return document.Errorf("nat: want outside: and the name of a neighbour")
	}
	checks := []error{n.Idle.validate("nat"), validateEntries("nat", n.Entries),
		oneOf("nat: ports", n.Ports, PortsKept, PortsMoved), oneOf("nat: quotes", n.Quotes, QuotesWhole, QuotesAddresses, QuotesLeft),
		oneOf("nat: filtering", n.Filtering, FilterIndependent, FilterAddress, FilterPort)}
	for i, f := range n.Forward {
		checks = append(checks, f.validate(n.Forward[:i]))
	}
	return cmp.Or(checks...)
}

// validate checks a forward, also against those before it.
func (f Forward) validate(earlier []Forward) error {
	switch {
	case f.Port == 0:
		return document.Errorf("nat: forward: want port: and a number from 1 to 65535")
	case f.To == "":
		return document.Errorf("nat: forward: port %d: want to: and the name of a host", f.Port)
	case f.Protocol != 0 && f.Protocol != packet.ProtocolTCP && f.Protocol != packet.ProtocolUDP:
		return document.Errorf("nat: forward: port %d: protocol: want tcp, udp or nothing for both", f.Port)
	}
	for _, e := range earlier {
		switch {
		case e.Protocol != f.Protocol && e.Protocol != 0 && f.Protocol != 0:
		case e.Port == f.Port:
			return document.Errorf("nat: forward: port %d: want it once", f.Port)
		case e.To == f.To && e.toPort() == f.toPort():
			return document.Errorf("nat: forward: port %d of %s: want it once", f.toPort(), f.To)
		}
	}
	return nil
}

func (f Forward) toPort() packet.Port {
	if f.ToPort == 0 {
		return f.Port
	}
	return f.ToPort
}

func (f *Firewall) validate() error {
	if f == nil {
		return nil
	}
	if len(f.Inside) == 0 && (len(f.Allow) > 0 || f.Idle != nil) {
		return document.Errorf("firewall: want inside: and the names of neighbours, for allow and idle to mean something")
	}
	checks := []error{f.Idle.validate("firewall"), validateEntries("firewall", f.Entries)}
	for _, m := range slices.Concat(f.Allow, f.Deny) {
		checks = append(checks, m.Validate())
	}
	return cmp.Or(checks...)
}

func validateEntries(of string, entries Number) error {
	if entries < 0 || entries > maxEntries {
		return document.Errorf("%s: entries: %d: want 1 to %d", of, entries, maxEntries)
	}
	return nil
}

// oneOf checks a value that is empty or one of a few.
func oneOf[T ~string](key string, value T, known ...T) error {
	if value == "" || slices.Contains(known, value) {
		return nil
	}
	return document.Errorf("%s: %q: want %s", key, value, either(known))
}

// either joins values for a message: "a, b or c".
func either[T ~string](values []T) string {
	text := ""
	for i, v := range values {
		switch {
		case i == 0:
		case i == len(values)-1:
			text += " or "
		default:
			text += ", "
		}
		text += string(v)
	}
	return text
}

// Ports is which port, or identifier of an echo, a mapping has outside. The zero value is PortsKept.
type Ports string

// The ways to choose one.
const (
	PortsKept  Ports = "keep" // the one inside, if it is free
	PortsMoved Ports = "move" // never that: the next one free
)

// Quotes is what NAT does to the packet that an ICMP error to a host inside quotes. The zero value is QuotesWhole.
type Quotes string

// The ways to treat quotes.
const (
	QuotesWhole     Quotes = "whole"     // all is undone (RFC 5508 REQ-4)
	QuotesAddresses Quotes = "addresses" // addresses and ports are undone, the transport checksum is not
	QuotesLeft      Quotes = "leave"     // nothing is undone: the host inside sees what the packet was outside
)

// Place is where a router stands: what the names in its Config mean, by interface number and address.
type Place struct {
	Outside  []Interface // to NAT's outside; several if links run side by side, all with the first's addresses for NAT
	Inside   []int       // numbers of the firewall's inside interfaces
	Forwards []Addresses // of the hosts in NAT.Forward, in its order
}

// Interface is one of the router's own. A number is any that is not negative; the caller of a Box uses the same ones.
type Interface struct {
	Number int
	Addresses
}

// Addresses of one node; invalid (zero) ones are not there.
type Addresses struct{ V4, V6 netip.Addr }

// Place finds out what the configuration's names mean: neighbour returns the router's interfaces towards a node, none
// if it has no link to it; host returns the addresses of a host, and whether there is one.
func (c *Config) Place(neighbour func(string) []Interface, host func(string) (Addresses, bool)) (Place, error) {
	var place Place
	if c == nil {
		return place, nil
	}
	if c.NAT != nil {
		if place.Outside = neighbour(c.NAT.Outside); len(place.Outside) == 0 {
			return place, document.Errorf("nat: outside: %q: want a neighbour of this router", c.NAT.Outside)
		}
		for _, f := range c.NAT.Forward {
			addresses, ok := host(f.To)
			if !ok {
				return place, document.Errorf("nat: forward: to: %q: want a host", f.To)
			}
			place.Forwards = append(place.Forwards, addresses)
		}
	}
	if c.Firewall != nil {
		for _, name := range c.Firewall.Inside {
			found := neighbour(name)
			if len(found) == 0 {
				return place, document.Errorf("firewall: inside: %q: want a neighbour of this router", name)
			}
			for _, i := range found {
				place.Inside = append(place.Inside, i.Number)
			}
		}
	}
	return place, nil
}
