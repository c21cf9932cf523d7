package chance

import (
	"cmp"
	"math/rand/v2"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// Outage says when a link is down. The zero value is invalid: no outage is a nil *Outage.
//
//	outage: {mttf: 60s, mttr: 2s}                      exponential times with these means
//	outage: {mttf: [10s, 60s], mttr: [1s, 5s]}         uniform between these, as WANem has it
//	outage: {idle: 30s, mttr: 5s}                      down after 30 s without a packet
//	outage: {mttf: 60s, mttr: 2s, per: connection}     each flow by itself
//
// A link is up when the outage is set, and a flow when its first packet comes.
//
//	      mttf, or idle since the last packet        mttr
//	up -------------------------------------> down --------> up ...
//
// After an idle outage the idle time counts from the repair. Packets that come while the link is down do not wake it.
type Outage struct {
	MTTF Times         `yaml:"mttf" json:"mttf,omitempty"` // time to failure
	Idle notation.Span `yaml:"idle" json:"idle,omitempty"` // in place of MTTF
	MTTR Times         `yaml:"mttr" json:"mttr,omitempty"` // time to repair
	Per  Scope         `yaml:"per" json:"per,omitempty"`   // link if empty
}

// Scope names what an Outage takes down.
type Scope string

// What an Outage takes down.
const (
	PerLink       Scope = "link"
	PerConnection Scope = "connection"
)

// Times is a random time: one entry is the mean of an exponential, two are the least and the most of a uniform, which
// may be equal.
type Times []notation.Span

// shortestTimes bounds the work when a silent link is asked again: a day of it is at most 9 million changes. Shorter
// outages are bursts of loss, see Gilbert.
const shortestTimes = notation.Span(1e7)

// Validate returns what is wrong, as a *document.Error that begins with the key.
func (o *Outage) Validate() error {
	if o.Per != "" && o.Per != PerLink && o.Per != PerConnection {
		return document.Errorf("per: %q: want link or connection", string(o.Per))
	}
	if err := cmp.Or(o.MTTR.validate("mttr"), checkSpan("idle", o.Idle)); err != nil {
		return err
	}
	switch {
	case o.Idle == 0:
		return o.MTTF.validate("mttf")
	case o.MTTF != nil:
		return document.Errorf("idle: %v beside mttf; want either", o.Idle)
	case o.Idle < shortestTimes:
		return document.Errorf("idle: %v: want 10ms or more, such as 30s", o.Idle)
	}
	return nil
}

func (v Times) validate(key string) error {
	if len(v) != 1 && len(v) != 2 {
		return document.Errorf("%s: %d times; want a mean such as 60s, or the least and the most such as [10s, 60s]",
			key, len(v))
	}
	least, most := v[0], v[len(v)-1]
	if err := cmp.Or(checkSpan(key, least), checkSpan(key, most)); err != nil {
		return err
	}
	if least > most {
		return document.Errorf("%s: %v: want the least first, such as [10s, 60s]", key, v)
	}
	if least/2+most/2 < shortestTimes {
		return document.Errorf("%s: %v: want a mean of 10ms or more, such as 60s", key, v)
	}
	return nil
}

// UnmarshalYAML reads the mapping.
func (o *Outage) UnmarshalYAML(node ast.Node) error {
	*o = Outage{}
	type full Outage
	return document.Mapping(node, "{mttf: 60s, mttr: 2s}", (*full)(o), o.Validate)
}

// UnmarshalYAML reads one time or a list of two.
func (v *Times) UnmarshalYAML(node ast.Node) error {
	if _, plain := document.Scalar(node); plain {
		*v = make(Times, 1)
		return (*v)[0].UnmarshalYAML(node)
	}
	var read []notation.Span
	if err := document.Decode(node, &read); err != nil {
		return err
	}
	*v = read
	return nil
}

// String prints the outage as a lab file has it.
func (o Outage) String() string {
	var m mapping
	m.add("mttf", o.MTTF, o.MTTF != nil)
	m.add("idle", o.Idle, o.Idle != 0)
	m.add("mttr", o.MTTR, o.MTTR != nil)
	m.add("per", o.Per, o.Per != "")
	return m.String()
}

// String prints the times as a lab file has them.
func (v Times) String() string {
	if len(v) == 1 {
		return v[0].String()
	}
	return list(v)
}

// draw returns a time in nanoseconds, at least 1, from one random word.
func (v Times) draw(word uint64) int64 {
	u := unit(word)
	if len(v) == 1 {
		return max(1, round(exponential(float64(v[0]), u)))
	}
	least, most := float64(v[0]), float64(v[1])
	return max(1, round(least+u*(most-least)))
}

// OutageProcess knows whether a link, or a flow on it, is down.
type OutageProcess struct {
	outage Outage
	random *rand.Rand
	link   spell
	flows  *flowTable // nil: the link goes down as a whole
}

// spell is the state that a link or flow is in, and when it ends.
type spell struct {
	ends int64
	down bool
}

// New starts the process at time t, with everything up. The Outage is valid, and its slices stay unchanged.
func (o *Outage) New(t int64, r *rand.Rand) *OutageProcess {
	p := &OutageProcess{outage: *o, random: r}
	if o.Per == PerConnection {
		p.flows = newFlowTable(r)
		return p
	}
	p.link = p.begin(t, r)
	return p
}

// Down reports whether the packet of this flow that comes at time t finds its way down. Flow is any number that packets
// of one connection share, such as a hash; only outages per connection look at it. A time
// before the last one gets the state of the last.
//
// The answer depends on t and on what was drawn, one word for each change of state, and not on how often Down is
// called. Outages by idleness differ: to ask is to say that a packet comes, so ask exactly once for each.
func (p *OutageProcess) Down(t int64, flow uint64) bool {
	if p.flows == nil {
		return p.advance(&p.link, t, p.random)
	}
	f, known := p.flows.find(flow, t)
	if !known {
		f.spell = p.begin(t, &f.random)
	}
	return p.advance(&f.spell, t, &f.random)
}

// begin returns the first spell of something that comes up at time t.
func (p *OutageProcess) begin(t int64, random rand.Source) spell {
	return spell{ends: t + p.upTime(random)}
}

func (p *OutageProcess) upTime(random rand.Source) int64 {
	if p.outage.Idle > 0 {
		return int64(p.outage.Idle)
	}
	return p.outage.MTTF.draw(random.Uint64())
}

// advance brings a state up to time t, when a packet comes, and returns whether it is down.
func (p *OutageProcess) advance(s *spell, t int64, random rand.Source) bool {
	for t >= s.ends {
		s.down = !s.down
		if s.down {
			s.ends += p.outage.MTTR.draw(random.Uint64())
		} else {
			s.ends += p.upTime(random)
		}
	}
	if !s.down && p.outage.Idle > 0 {
		s.ends = max(s.ends, t+int64(p.outage.Idle)) // t may be a little before the last packet's
	}
	return s.down
}
