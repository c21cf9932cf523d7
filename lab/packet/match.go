package packet

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
)

// Match says which packets a rule is about: those for which all that is set holds. The zero value, like nil, is about
// every packet. In files:
//
//	{source: 10.0.0.0/24, target: 10.0.2.2, port: 5201, protocol: tcp, dscp: [EF, AF11]}
type Match struct {
	Source     Prefix     `yaml:"source" json:"source,omitzero"`            // the zero Prefix: any
	Target     Prefix     `yaml:"target" json:"target,omitzero"`            // the zero Prefix: any
	Port       Port       `yaml:"port" json:"port,omitempty"`               // at either end
	SourcePort Port       `yaml:"source_port" json:"source_port,omitempty"` //
	TargetPort Port       `yaml:"target_port" json:"target_port,omitempty"` //
	Protocol   Protocol   `yaml:"protocol" json:"protocol,omitempty"`       // icmp is ICMPv6 too; icmp6 is that alone
	DSCP       Codepoints `yaml:"dscp" json:"dscp,omitempty"`               // any of them
}

// Prefix is a network, or a single address, by which packets are matched.
type Prefix struct{ netip.Prefix }

// UnmarshalText reads "10.0.0.0/24", "2001:db8::/32", or an address alone; bits behind the prefix are cleared.
func (p *Prefix) UnmarshalText(text []byte) error {
	if a, err := netip.ParseAddr(string(text)); err == nil {
		p.Prefix = netip.PrefixFrom(a.WithZone("").Unmap(), a.Unmap().BitLen())
		return nil
	}
	parsed, err := netip.ParsePrefix(string(text))
	if err != nil && len(text) > 0 {
		return fmt.Errorf("%q: want an address or a network like 10.0.0.0/24 or 2001:db8::/32", text)
	}
	p.Prefix = parsed.Masked()
	return nil
}

func (p *Prefix) UnmarshalYAML(node ast.Node) error { return unmarshalScalar(node, p) }

// Equal makes prefixes comparable to packages that look for this method.
func (p Prefix) Equal(other Prefix) bool { return p == other }

// Matches reports whether the packet is one that the rule is about. Ports that cannot be seen, as in later fragments,
// match no port.
func (m *Match) Matches(b []byte) bool {
	if m == nil {
		return true
	}
	if len(m.DSCP) > 0 && !m.DSCP.Contains(DSCP(b)) {
		return false
	}
	if m.Source.IsValid() && !m.Source.Contains(Source(b)) || m.Target.IsValid() && !m.Target.Contains(Target(b)) {
		return false
	}
	if m.Protocol != 0 {
		protocol, _ := Transport(b)
		if protocol != byte(m.Protocol) && !(m.Protocol == ProtocolICMP && protocol == ProtocolICMPv6) {
			return false
		}
	}
	if m.Port|m.SourcePort|m.TargetPort == 0 {
		return true
	}
	source, target, ok := Ports(b)
	return ok &&
		(m.Port == 0 || source == uint16(m.Port) || target == uint16(m.Port)) &&
		(m.SourcePort == 0 || source == uint16(m.SourcePort)) &&
		(m.TargetPort == 0 || target == uint16(m.TargetPort))
}

// Validate finds what no packet could match.
func (m *Match) Validate() error {
	if m == nil {
		return nil
	}
	if m.Source.IsValid() && m.Target.IsValid() && m.Source.Addr().Is4() != m.Target.Addr().Is4() {
		return fmt.Errorf("target: %v: want a network of the same IP version as the source %v", m.Target, m.Source)
	}
	if m.Port|m.SourcePort|m.TargetPort != 0 && m.Protocol != 0 && !hasPorts(byte(m.Protocol)) {
		return fmt.Errorf("protocol: %v: want tcp or udp, for a rule that names a port", m.Protocol)
	}
	for _, c := range m.DSCP {
		if c > 63 {
			return fmt.Errorf("dscp: %d: want 0 to 63", byte(c))
		}
	}
	return nil
}

// UnmarshalYAML reads the mapping and validates it.
func (m *Match) UnmarshalYAML(node ast.Node) error {
	type plain Match
	if err := document.Decode(node, (*plain)(m)); err != nil {
		return err
	}
	return document.At(node, m.Validate())
}

// String is the mapping in YAML's flow style, which reads back to an equal Match.
func (m *Match) String() string {
	if m == nil {
		return "{}"
	}
	var parts []string
	add := func(set bool, key string, value any) {
		if set {
			parts = append(parts, fmt.Sprintf("%s: %v", key, value))
		}
	}
	add(m.Source.IsValid(), "source", m.Source.quoted())
	add(m.Target.IsValid(), "target", m.Target.quoted())
	add(m.Port != 0, "port", m.Port)
	add(m.SourcePort != 0, "source_port", m.SourcePort)
	add(m.TargetPort != 0, "target_port", m.TargetPort)
	add(m.Protocol != 0, "protocol", m.Protocol)
	add(len(m.DSCP) > 0, "dscp", m.DSCP)
	return "{" + strings.Join(parts, ", ") + "}"
}

// quoted is the text of a prefix for YAML, which would take IPv6's colons for keys. A whole address goes without
// length.
func (p Prefix) quoted() string {
	text := p.String()
	if p.IsSingleIP() {
		text = p.Addr().String()
	}
	if p.Addr().Is6() {
		text = `"` + text + `"`
	}
	return text
}
