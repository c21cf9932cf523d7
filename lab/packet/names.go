package packet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/quantity"
)

// Codepoint is a DSCP value, 0 to 63. In files it is a number or a name, as quantity.ParseDSCP reads them.
type Codepoint byte

// ParseCodepoint reads a name, in any case, or a number.
func ParseCodepoint(text string) (Codepoint, error) {
	v, err := quantity.ParseDSCP(text)
	return Codepoint(v), err
}

// String is the name, or the number if there is none; ParseCodepoint reads it back.
func (c Codepoint) String() string { return quantity.FormatDSCP(int(c)) }

func (c Codepoint) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

func (c *Codepoint) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCodepoint(string(text))
	return err
}

func (c *Codepoint) UnmarshalYAML(node ast.Node) error { return unmarshalScalar(node, c) }

// Codepoints are some DSCP values; in files one value or a list.
type Codepoints []Codepoint

func (c *Codepoints) UnmarshalYAML(node ast.Node) error {
	if node.Type() == ast.SequenceType {
		return document.Decode(node, (*[]Codepoint)(c))
	}
	*c = make(Codepoints, 1)
	return (*c)[0].UnmarshalYAML(node)
}

// String is one value, or a list in YAML's flow style.
func (c Codepoints) String() string {
	if len(c) == 1 {
		return c[0].String()
	}
	names := make([]string, len(c))
	for i, v := range c {
		names[i] = v.String()
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// Contains reports whether v is one of them.
func (c Codepoints) Contains(v byte) bool { return slices.Contains(c, Codepoint(v)) }

// Protocol is a transport protocol's number; 0 stands for any. In files it is a number or tcp, udp, icmp, icmp6.
type Protocol byte

var protocols = []struct {
	name  string
	value Protocol
}{{"any", 0}, {"tcp", ProtocolTCP}, {"udp", ProtocolUDP}, {"icmp", ProtocolICMP}, {"icmp6", ProtocolICMPv6}}

// ParseProtocol reads a name, in any case, or a number.
func ParseProtocol(text string) (Protocol, error) {
	for _, p := range protocols {
		if strings.EqualFold(p.name, text) {
			return p.value, nil
		}
	}
	v, err := strconv.ParseUint(text, 10, 8)
	if err != nil {
		return 0, fmt.Errorf("%q: want tcp, udp, icmp, icmp6, any or a protocol number up to 255", text)
	}
	return Protocol(v), nil
}

// String is the name, or the number if there is none; ParseProtocol reads it back.
func (p Protocol) String() string {
	for _, known := range protocols {
		if known.value == p {
			return known.name
		}
	}
	return strconv.Itoa(int(p))
}

func (p Protocol) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

func (p *Protocol) UnmarshalText(text []byte) (err error) {
	*p, err = ParseProtocol(string(text))
	return err
}

func (p *Protocol) UnmarshalYAML(node ast.Node) error { return unmarshalScalar(node, p) }

// Port is a TCP or UDP port; 0 stands for any.
type Port uint16

func (p *Port) UnmarshalYAML(node ast.Node) error {
	text, _ := document.Scalar(node)
	v, err := strconv.ParseUint(text, 10, 16)
	if err != nil || v == 0 {
		return document.At(node, fmt.Errorf("%q: want a port from 1 to 65535", text))
	}
	*p = Port(v)
	return nil
}

// unmarshalScalar reads one value by its text, and gives a fault its place.
func unmarshalScalar(node ast.Node, v interface{ UnmarshalText([]byte) error }) error {
	text, ok := document.Scalar(node)
	if !ok {
		return document.At(node, fmt.Errorf("want one value"))
	}
	return document.At(node, v.UnmarshalText([]byte(text)))
}
