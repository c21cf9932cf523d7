package chance

import (
	"cmp"
	"math/rand/v2"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// Reorder says which packets are held back, so that those that come within By after them overtake. The zero value holds
// none back.
//
//	reorder: 2%                       this share, by 10 ms
//	reorder: {ratio: 2%, by: 3ms, correlation: 20%}
//	reorder: {gap: 5, by: 3ms}        every fifth packet
//
// Where packets come further apart than By, nothing overtakes, and a held packet is merely late.
type Reorder struct {
	Ratio       notation.Ratio `yaml:"ratio" json:"ratio,omitempty"`
	Correlation notation.Ratio `yaml:"correlation" json:"correlation,omitempty"` // as of a Share; not with Gap
	Gap         notation.Count `yaml:"gap" json:"gap,omitempty"`                 // in place of Ratio: each Gap-th packet
	By          notation.Delay `yaml:"by" json:"by,omitempty"`                   // how long; default 10 ms
}

// DefaultHold is what By stands for when it is not set: at 10 Mbit/s eight full packets overtake, enough for TCP's
// three duplicate acknowledgements (RFC 5681 section 3.2).
const DefaultHold = 10 * time.Millisecond

// Validate returns what is wrong, as a *document.Error that begins with the key.
func (o *Reorder) Validate() error {
	err := cmp.Or(checkRatio("ratio", o.Ratio), checkCorrelation(o.Correlation), checkDelay("by", o.By))
	switch {
	case err != nil:
		return err
	case o.Gap < 0:
		return document.Errorf("gap: %d: want 1 or more, such as 5", o.Gap)
	case o.Gap > 0 && (o.Ratio > 0 || o.Correlation > 0):
		return document.Errorf("gap: %d with a ratio or a correlation; want either gap or ratio", o.Gap)
	}
	return nil
}

// UnmarshalYAML reads a ratio or a mapping.
func (o *Reorder) UnmarshalYAML(node ast.Node) error {
	*o = Reorder{}
	if _, plain := document.Scalar(node); plain {
		return o.Ratio.UnmarshalYAML(node)
	}
	type full Reorder
	return document.Mapping(node, "{ratio: 2%, by: 10ms}", (*full)(o), o.Validate)
}

// String prints the reordering as a lab file has it.
func (o Reorder) String() string {
	if o.Correlation == 0 && o.Gap == 0 && o.By == 0 {
		return o.Ratio.String()
	}
	var m mapping
	m.add("ratio", o.Ratio, o.Ratio != 0)
	m.add("correlation", o.Correlation, o.Correlation != 0)
	m.add("gap", o.Gap, o.Gap != 0)
	m.add("by", o.By, o.By != 0)
	return m.String()
}

// ReorderProcess says for each packet whether it is held back: one word for each, or none where a gap is set.
type ReorderProcess struct {
	share    *ShareProcess // nil: by gap
	gap, nth int
	by       int64
}

// New starts the process. The first packet that a gap of n holds back is the n-th.
func (o *Reorder) New(r *rand.Rand) *ReorderProcess {
	p := &ReorderProcess{gap: int(o.Gap), by: int64(o.By)}
	if o.By == 0 {
		p.by = int64(DefaultHold)
	}
	if o.Gap == 0 {
		p.share = (&Share{Ratio: o.Ratio, Correlation: o.Correlation}).New(r)
	}
	return p
}

// Extra returns how many nanoseconds the next packet is held back, mostly 0. A packet that is held back must not hold
// back those behind it.
func (p *ReorderProcess) Extra() int64 {
	if p.held() {
		return p.by
	}
	return 0
}

func (p *ReorderProcess) held() bool {
	if p.share != nil {
		return p.share.Hit()
	}
	p.nth++
	if p.nth < p.gap {
		return false
	}
	p.nth = 0
	return true
}
