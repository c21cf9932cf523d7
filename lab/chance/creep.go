package chance

import (
	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// Creep is a delay that grows evenly to a larger one and stays there, as when a layer below IP moves traffic to a
// longer way little by little. The zero value adds nothing.
//
//	creep: {by: 10ms, over: 5m, start: 30s}
//
//	        by  ...........________
//	                     /:
//	                   /  :
//	         0  ______/   :
//	                 start start+over
type Creep struct {
	By    notation.Delay `yaml:"by" json:"by,omitempty"`       // how much in the end
	Over  notation.Span  `yaml:"over" json:"over,omitempty"`   // how long it takes; default 0: a step
	Start notation.Span  `yaml:"start" json:"start,omitempty"` // how long after it was set it begins; default 0
}

// Validate returns what is wrong, as a *document.Error that begins with the key.
func (c *Creep) Validate() error {
	return first(checkDelay("by", c.By), checkSpan("over", c.Over), checkSpan("start", c.Start))
}

// UnmarshalYAML reads the mapping.
func (c *Creep) UnmarshalYAML(node ast.Node) error {
	if err := wantMapping(node, "{by: 10ms, over: 5m}"); err != nil {
		return err
	}
	type full Creep
	var read full
	if err := document.Decode(node, &read); err != nil {
		return err
	}
	*c = Creep(read)
	return document.AtKey(node, c.Validate())
}

// String prints the creep as a lab file has it.
func (c Creep) String() string {
	var m mapping
	m.add("by", c.By, c.By != 0)
	m.add("over", c.Over, c.Over != 0)
	m.add("start", c.Start, c.Start != 0)
	return m.String()
}

// CreepProcess gives the growth at any time.
type CreepProcess struct{ begins, over, by int64 }

// New starts the creep at time t.
func (c *Creep) New(t int64) *CreepProcess {
	return &CreepProcess{begins: t + int64(c.Start), over: int64(c.Over), by: int64(c.By)}
}

// Extra returns the nanoseconds to add to the delay of a packet that comes at time t, 0 or more. It depends on t alone.
func (p *CreepProcess) Extra(t int64) int64 {
	switch grown := t - p.begins; {
	case grown < 0:
		return 0
	case grown >= p.over:
		return p.by
	default:
		return round(float64(p.by) * float64(grown) / float64(p.over))
	}
}
