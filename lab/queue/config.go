package queue

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/lab/packet"
)

// Config is a queue in a lab file. Its scalar form is the limit alone (`queue: 500p`); the zero value is tail drop at
// the default limit. A queue with classes has no discipline of its own: each class has one.
type Config struct {
	Discipline `yaml:",inline"`
	Classes    []Class `yaml:"classes" json:"classes,omitempty"`
}

// Discipline says how much may wait, and what is dropped or marked when.
type Discipline struct {
	// Limit is what may wait. Default: 100 ms of the rate and at least 64 packets of 1500 bytes; none without a rate.
	Limit Amount `yaml:"limit" json:"limit,omitzero"`
	// Drop is what goes when the limit is reached. Default: tail.
	Drop Drop `yaml:"drop" json:"drop,omitempty"`
	// RED and CoDel drop early; a queue has one of them at most. Default: neither.
	RED   *RED   `yaml:"red" json:"red,omitempty"`
	CoDel *CoDel `yaml:"codel" json:"codel,omitempty"`
	// ECN makes them mark the packets that can be marked, instead of dropping them.
	ECN bool `yaml:"ecn" json:"ecn,omitempty"`
}

// Drop says which packet goes when one comes that does not fit.
type Drop string

// The values of Drop. The zero value is TailDrop.
const (
	TailDrop   Drop = "tail"   // the one that comes
	HeadDrop   Drop = "head"   // the oldest that waits; again until the new one fits
	RandomDrop Drop = "random" // any of those that wait, each as likely; again until the new one fits
)

// RED is random early detection (S. Floyd and V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance",
// IEEE/ACM Transactions on Networking 1(4), 1993). Min and Max are in the same unit, which is what the average counts.
type RED struct {
	// Min is the average from which packets are dropped; it must be given.
	Min Amount `yaml:"min" json:"min,omitzero"`
	// Max is the average from which all packets are dropped. Default: 3 times Min.
	Max Amount `yaml:"max" json:"max,omitzero"`
	// Probability is the probability of a drop as the average nears Max. Default: 10 %.
	Probability notation.Ratio `yaml:"probability" json:"probability,omitempty"`
	// Weight is the weight of the newest length in the average. Default: 0.002.
	Weight notation.Ratio `yaml:"weight" json:"weight,omitempty"`
	// Gentle lets the probability grow to 1 from Max to twice Max, instead of being 1 at Max.
	Gentle bool `yaml:"gentle" json:"gentle,omitempty"`
}

// CoDel is controlled delay (RFC 8289).
type CoDel struct {
	// Target is the standing delay that is still good. Default: 5 ms.
	Target notation.Span `yaml:"target" json:"target,omitempty"`
	// Interval is how long it may be exceeded, about the largest usual round trip. Default: 100 ms.
	Interval notation.Span `yaml:"interval" json:"interval,omitempty"`
}

// Class is packets of some DSCPs, with a queue of their own.
//
// Classes with a priority go before all others, the lowest number first, and a class waits as long as a more urgent
// one has anything to send. What these leave is shared among the others in proportion to their weights.
type Class struct {
	Name string            `yaml:"name" json:"name"`
	DSCP packet.Codepoints `yaml:"dscp" json:"dscp,omitempty"`
	// Default: the class takes what no other names. Exactly one class does.
	Default bool `yaml:"default" json:"default,omitempty"`
	// Priority is 1 for the class that goes first; a class with a priority has no weight. Default: none.
	Priority Priority `yaml:"priority" json:"priority,omitempty"`
	// Weight is the class's part of what the priorities leave. Default: 1.
	Weight     float64 `yaml:"weight" json:"weight,omitempty"`
	Discipline `yaml:",inline"`
}

// Priority is a class's rank, 1 first; 0 is none.
type Priority int

// UnmarshalYAML reads a whole number; the decoder would cut a fraction off.
func (p *Priority) UnmarshalYAML(node ast.Node) error {
	text, _ := document.Scalar(node)
	v, err := strconv.Atoi(text)
	if err != nil || v < 1 || v > maxPriority {
		return document.At(node, fmt.Errorf("%q: want 1, the first, to %d", text, maxPriority))
	}
	*p = Priority(v)
	return nil
}

// Defaults of RED: Floyd's later advice ("RED: Discussions of Setting Parameters", 1997) of one packet in ten and a
// Max of three times Min, and the weight of the paper.
const (
	defaultProbability = 0.1
	defaultWeight      = 0.002
	defaultMaxOverMin  = 3
)

// Bounds of a class. A DSCP has 6 bits, so 64 classes are all that can be told apart. Weights are at most 1000 to 1:
// deficit round robin lets the heavier class send 1500 bytes times that in one turn.
const (
	maxClasses  = 64
	maxPriority = 64
	minWeight   = 0.001
	maxWeight   = 1000
	maxRatio    = 1000
)

// className keeps names fit for a table and a JSON key.
var className = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,31}$`)

// Validate returns the first thing that is wrong, naming the key.
func (c *Config) Validate() error {
	if len(c.Classes) == 0 {
		return c.Discipline.validate()
	}
	if c.Discipline != (Discipline{}) {
		return document.Errorf("classes: beside limit, drop, red, codel or ecn; give these to each class")
	}
	if len(c.Classes) > maxClasses {
		return document.Errorf("classes: %d; want at most %d", len(c.Classes), maxClasses)
	}
	for i := range c.Classes {
		if err := c.Classes[i].validate(); err != nil {
			return document.Errorf("classes: number %d: %v", i+1, err)
		}
	}
	if err := apart(c.Classes); err != nil {
		return document.Errorf("classes: %v", err)
	}
	return nil
}

func (c *Class) validate() error {
	switch {
	case !className.MatchString(c.Name):
		return fmt.Errorf("name: %q: want a letter, then letters, digits, - and _, 32 at most", c.Name)
	case len(c.DSCP) == 0 && !c.Default:
		return fmt.Errorf("dscp: none; name some, such as [EF], or say `default: true`")
	case c.Priority < 0 || c.Priority > maxPriority:
		return fmt.Errorf("priority: %d: want 1, the first, to %d", c.Priority, maxPriority)
	case c.Priority > 0 && c.Weight != 0:
		return fmt.Errorf("weight: beside priority; a class has one of the two")
	case c.Weight != 0 && !(c.Weight >= minWeight && c.Weight <= maxWeight):
		return fmt.Errorf("weight: %v: want %v to %v", c.Weight, minWeight, maxWeight)
	}
	return c.Discipline.validate()
}

// apart checks that each packet has one class, and that the classes' order is clear.
func apart(classes []Class) error {
	names, codes, priorities := map[string]bool{}, map[packet.Codepoint]bool{}, map[Priority]bool{}
	defaults, least, most := 0, 0.0, 0.0
	for _, c := range classes {
		if names[c.Name] {
			return fmt.Errorf("name: %q twice; give each its own", c.Name)
		}
		names[c.Name] = true
		for _, d := range c.DSCP {
			if codes[d] {
				return fmt.Errorf("dscp: %v twice; a packet has one class", d)
			}
			codes[d] = true
		}
		if c.Default {
			defaults++
		}
		if c.Priority > 0 {
			if priorities[c.Priority] {
				return fmt.Errorf("priority: %d twice; give each its own", c.Priority)
			}
			priorities[c.Priority] = true
			continue
		}
		w := weightOf(c)
		if least == 0 || w < least {
			least = w
		}
		most = max(most, w)
	}
	if defaults != 1 {
		return fmt.Errorf("default: %d of them; want `default: true` in one, which takes what no other names", defaults)
	}
	if most > maxRatio*least {
		return fmt.Errorf("weight: %v and %v; want at most %d to 1", least, most, maxRatio)
	}
	return nil
}

func weightOf(c Class) float64 {
	if c.Weight == 0 {
		return 1
	}
	return c.Weight
}

func (d *Discipline) validate() error {
	if err := d.Limit.validate(); err != nil {
		return document.Errorf("limit: %v", err)
	}
	switch d.Drop {
	case "", TailDrop, HeadDrop, RandomDrop:
	default:
		return document.Errorf("drop: %q: want tail, head or random", string(d.Drop))
	}
	switch {
	case d.RED != nil && d.CoDel != nil:
		return document.Errorf("codel: beside red; a queue has one of the two")
	case d.ECN && d.RED == nil && d.CoDel == nil:
		return document.Errorf("ecn: without red or codel there is nothing to mark for; add one, such as `codel: {}`")
	case d.RED != nil:
		return d.RED.validate()
	case d.CoDel != nil:
		return d.CoDel.validate()
	}
	return nil
}

func (r *RED) validate() error {
	for _, a := range []Amount{r.Min, r.Max} {
		if err := a.validate(); err != nil {
			return document.Errorf("red: %v", err)
		}
	}
	low, high := r.Min, r.max()
	switch {
	case low == (Amount{}):
		return document.Errorf("red: min: none; give one, such as 30p, 45kB or 5ms")
	case low.unit() != high.unit():
		return document.Errorf("red: max: %v: want the unit of min, %v", high, low)
	case high.Packets <= low.Packets && high.Bytes <= low.Bytes && high.Time <= low.Time:
		return document.Errorf("red: max: %v: want more than min, %v", high, low)
	case !(r.Probability >= 0 && r.Probability <= 1):
		return document.Errorf("red: probability: %v: want a ratio from 0 to 1", float64(r.Probability))
	case !(r.Weight >= 0 && r.Weight <= 1):
		return document.Errorf("red: weight: %v: want a ratio from 0 to 1", float64(r.Weight))
	}
	return nil
}

// max returns Max, or its default.
func (r *RED) max() Amount {
	if r.Max != (Amount{}) {
		return r.Max
	}
	return Amount{defaultMaxOverMin * r.Min.Packets, defaultMaxOverMin * r.Min.Bytes, defaultMaxOverMin * r.Min.Time}
}

func (c *CoDel) validate() error {
	for _, v := range []notation.Span{c.Target, c.Interval} {
		if v < 0 || int64(v) > int64(notation.MaxDelay) {
			return document.Errorf("codel: %v: want a time from 0 to 1h", v)
		}
	}
	if target, interval := c.times(); target >= interval {
		return document.Errorf("codel: target: %v: want less than the interval, %v", target, interval)
	}
	return nil
}
