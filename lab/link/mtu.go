package link

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// MTU is the largest IP packet that a link takes, and what the node in front of it does with a larger one. A Direction
// only hands it on to that node (Direction.MTU). Below 1280 bytes, IPv6's least (RFC 8200 section 5), IPv6 does not get
// through: hosts discard a packet too big that says less (RFC 8201 section 4).
//
//	mtu: 1400B
//	mtu: {size: 1400B, excess: drop}        a black hole: dropped without a word
type MTU struct {
	Size   notation.Size `yaml:"size" json:"size"`
	Excess Excess        `yaml:"excess" json:"excess,omitempty"` // default: icmp
}

// Excess says what becomes of a packet that is larger than the MTU.
type Excess string

// The values of Excess. The empty one is ICMP.
const (
	// ICMP answers with fragmentation needed (RFC 1191) or packet too big (RFC 4443); an IPv4 packet that may be cut is
	// cut into fragments.
	ICMP     Excess = "icmp"
	Fragment Excess = "fragment" // as ICMP, but IPv4's don't-fragment bit is not heeded
	Discard  Excess = "drop"     // a black hole
)

// Bounds of an MTU: what every IPv4 link must carry (RFC 791 section 3.2), and the largest packet.
const (
	minMTU = 68
	maxMTU = 65535
)

func (m MTU) String() string {
	if m.Excess == "" {
		return m.Size.String()
	}
	return fmt.Sprintf("{size: %v, excess: %s}", m.Size, m.Excess)
}

// Validate returns what is wrong, as a *document.Error.
func (m *MTU) Validate() error {
	if m.Size < minMTU || m.Size > maxMTU {
		return document.Errorf("%v: want %dB to %dB", m.Size, minMTU, maxMTU)
	}
	switch m.Excess {
	case "", ICMP, Fragment, Discard:
		return nil
	}
	return document.Errorf("excess: %q: want icmp, fragment or drop", string(m.Excess))
}

// UnmarshalYAML reads a size or a mapping.
func (m *MTU) UnmarshalYAML(node ast.Node) error {
	*m = MTU{}
	type full MTU
	var err error
	if _, ok := document.Scalar(node); ok {
		err = m.Size.UnmarshalYAML(node)
	} else {
		err = document.Decode(node, (*full)(m))
	}
	if err != nil {
		return err
	}
	return document.At(node, m.Validate())
}
