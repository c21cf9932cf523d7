package chance

import (
	"cmp"
	"math/rand/v2"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// Share picks a share of the packets. The zero value picks none.
//
//	duplicate: 1%
//	duplicate: {ratio: 1%, correlation: 20%}
//
// With correlation c the picks are a Markov chain: after a packet that was picked the chance is ratio + c(1 - ratio),
// after another it is ratio(1 - c). The share stays exactly the ratio and the autocorrelation at lag k is c^k; the mean
// run of picks is 1/((1 - c)(1 - ratio)).
type Share struct {
	Ratio       notation.Ratio `yaml:"ratio" json:"ratio,omitempty"`
	Correlation notation.Ratio `yaml:"correlation" json:"correlation,omitempty"` // with the packet before; default none
}

// Validate returns what is wrong, as a *document.Error that begins with the key.
func (s *Share) Validate() error {
	return cmp.Or(checkRatio("ratio", s.Ratio), checkCorrelation(s.Correlation))
}

// UnmarshalYAML reads a ratio or a mapping.
func (s *Share) UnmarshalYAML(node ast.Node) error {
	*s = Share{}
	if _, plain := document.Scalar(node); plain {
		return s.Ratio.UnmarshalYAML(node)
	}
	type full Share
	return document.Mapping(node, "{ratio: 1%, correlation: 20%}", (*full)(s), s.Validate)
}

// String prints the share as a lab file has it.
func (s Share) String() string {
	if s.Correlation == 0 {
		return s.Ratio.String()
	}
	var m mapping
	m.add("ratio", s.Ratio, true)
	m.add("correlation", s.Correlation, true)
	return m.String()
}

// Corrupt is the Share of packets in which one bit is turned. The zero value turns none.
//
//	corrupt: 0.1%
//	corrupt: {ratio: 0.1%, correlation: 20%, hidden: true}
type Corrupt struct {
	Ratio       notation.Ratio `yaml:"ratio" json:"ratio,omitempty"`
	Correlation notation.Ratio `yaml:"correlation" json:"correlation,omitempty"` // as of a Share
	// Hidden has the transport's checksum made to match, so that only the application can notice. The process does not
	// look at it; the link does.
	Hidden bool `yaml:"hidden" json:"hidden,omitempty"`
}

// Share returns which packets are hit, without what happens to them.
func (c *Corrupt) Share() *Share { return &Share{Ratio: c.Ratio, Correlation: c.Correlation} }

// Validate returns what is wrong, as a *document.Error that begins with the key.
func (c *Corrupt) Validate() error { return c.Share().Validate() }

// UnmarshalYAML reads a ratio or a mapping.
func (c *Corrupt) UnmarshalYAML(node ast.Node) error {
	*c = Corrupt{}
	if _, plain := document.Scalar(node); plain {
		return c.Ratio.UnmarshalYAML(node)
	}
	type full Corrupt
	return document.Mapping(node, "{ratio: 0.1%, hidden: true}", (*full)(c), c.Validate)
}

// String prints the corruption as a lab file has it.
func (c Corrupt) String() string {
	if !c.Hidden {
		return c.Share().String()
	}
	var m mapping
	m.add("ratio", c.Ratio, true)
	m.add("correlation", c.Correlation, c.Correlation != 0)
	m.add("hidden", true, true)
	return m.String()
}

// ShareProcess picks packets: one word for each.
type ShareProcess struct {
	random      *rand.Rand
	again, anew float64 // the chance after a packet that was picked, and after another
	picked      bool    // the packet before
}

// New starts the process. One word is drawn now, for the packet before the first.
func (s *Share) New(r *rand.Rand) *ShareProcess {
	ratio, c := float64(s.Ratio), float64(s.Correlation)
	return &ShareProcess{
		random: r,
		again:  ratio + c*(1-ratio),
		anew:   ratio * (1 - c),
		picked: unit(r.Uint64()) < ratio,
	}
}

// New starts the process that picks the packets to corrupt, as Share's does.
func (c *Corrupt) New(r *rand.Rand) *ShareProcess { return c.Share().New(r) }

// Hit reports whether the next packet is picked.
func (p *ShareProcess) Hit() bool {
	chance := p.anew
	if p.picked {
		chance = p.again
	}
	p.picked = unit(p.random.Uint64()) < chance
	return p.picked
}
