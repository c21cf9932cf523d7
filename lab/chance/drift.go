package chance

import (
	"cmp"
	"math"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// Drift is a delay that swings about the link's own, as that of a satellite does with its orbit. The zero value adds
// nothing.
//
//	drift: {amplitude: 5ms, period: 90m}
//	drift: {amplitude: 4ms, period: 5m, shape: sawtooth}      rises, falls back at once: a new satellite takes over
type Drift struct {
	Amplitude notation.Delay `yaml:"amplitude" json:"amplitude,omitempty"` // the largest difference, either way
	Period    notation.Span  `yaml:"period" json:"period,omitempty"`       // 1 ms or more where there is an amplitude
	// Shape is sine if empty. Sine and triangle start at 0 and rise, sawtooth at its lowest.
	Shape DriftShape `yaml:"shape" json:"shape,omitempty"`
	// Phase is the share of a period that is over when it is set: 0.25 starts a sine at its highest; default 0.
	Phase notation.Ratio `yaml:"phase" json:"phase,omitempty"`
}

// DriftShape names a Drift's course.
type DriftShape string

// The shapes of a Drift.
const (
	Sine     DriftShape = "sine"
	Sawtooth DriftShape = "sawtooth"
	Triangle DriftShape = "triangle"
)

var driftShapes = []DriftShape{Sine, Sawtooth, Triangle}

// shortestPeriod keeps a drift slower than packets; what changes faster is jitter.
const shortestPeriod = notation.Span(1e6)

// Validate returns what is wrong, as a *document.Error that begins with the key.
func (d *Drift) Validate() error {
	err := cmp.Or(checkDelay("amplitude", d.Amplitude), checkSpan("period", d.Period), checkRatio("phase", d.Phase))
	switch {
	case err != nil:
		return err
	case d.Shape != "" && !slices.Contains(driftShapes, d.Shape):
		return document.Errorf("shape: %q: want one of %v", string(d.Shape), driftShapes)
	case d.Amplitude > 0 && d.Period < shortestPeriod:
		return document.Errorf("period: %v: want 1ms or more, such as 90m", d.Period)
	}
	return nil
}

// UnmarshalYAML reads the mapping.
func (d *Drift) UnmarshalYAML(node ast.Node) error {
	*d = Drift{}
	type full Drift
	return document.Mapping(node, "{amplitude: 5ms, period: 90m}", (*full)(d), d.Validate)
}

// String prints the drift as a lab file has it.
func (d Drift) String() string {
	var m mapping
	m.add("amplitude", d.Amplitude, d.Amplitude != 0)
	m.add("period", d.Period, d.Period != 0)
	m.add("shape", d.Shape, d.Shape != "")
	m.add("phase", d.Phase, d.Phase != 0)
	return m.String()
}

// DriftProcess gives the difference at any time.
type DriftProcess struct {
	amplitude, phase float64
	since, period    int64
	shape            DriftShape
}

// New starts the drift at time t.
func (d *Drift) New(t int64) *DriftProcess {
	p := &DriftProcess{
		amplitude: float64(d.Amplitude), phase: float64(d.Phase), since: t, period: int64(d.Period), shape: d.Shape,
	}
	if p.amplitude == 0 {
		p.period = 1 // any, to divide by
	}
	return p
}

// Extra returns the nanoseconds to add to the delay of a packet that comes at time t; half of the time it is negative.
// It depends on t alone.
func (p *DriftProcess) Extra(t int64) int64 {
	turn := p.phase + float64((t-p.since)%p.period)/float64(p.period)
	turn -= math.Floor(turn)
	switch p.shape {
	case Sawtooth:
		return round(p.amplitude * (2*turn - 1))
	case Triangle: // the height of a tent from 0 by 1 at 1/4 and -1 at 3/4 back to 0
		return round(p.amplitude * (1 - 4*math.Abs(math.Mod(turn+0.25, 1)-0.5)))
	}
	return round(p.amplitude * math.Sin(2*math.Pi*turn))
}

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
	return cmp.Or(checkDelay("by", c.By), checkSpan("over", c.Over), checkSpan("start", c.Start))
}

// UnmarshalYAML reads the mapping.
func (c *Creep) UnmarshalYAML(node ast.Node) error {
	*c = Creep{}
	type full Creep
	return document.Mapping(node, "{by: 10ms, over: 5m}", (*full)(c), c.Validate)
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
