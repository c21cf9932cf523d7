package traffic

import (
	"math/rand/v2"
	"time"
)

// source gives the packets of one flow, in the order of their times.
type source struct {
	flow  *Flow
	index int
	rng   *rand.Rand

	phase int
	next  float64 // when something is due next, in nanoseconds since the script began
	until float64 // of OnOff: when the present spell of sending ends
	left  int     // of Frames: bytes of the present frame that are still to come
	at    int     // of Replay: the packet that comes next
}

func newSource(s *Script, index int) *source {
	f := &source{flow: &s.Flows[index], index: index, rng: rand.New(rand.NewPCG(s.Seed, uint64(index)))}
	f.begin(0)
	return f
}

// begin begins a phase, and its pattern anew.
func (f *source) begin(phase int) {
	f.phase, f.left, f.at = phase, 0, 0
	f.next = float64(f.flow.Phases[phase].At)
	if shape := f.shape(); shape.Pattern == OnOff {
		f.until = f.next + shape.On.draw(f.rng)
	}
}

func (f *source) shape() *Shape { return &f.flow.Phases[f.phase].Shape }

// packet is the next of the flow; ok is false where there is none.
func (f *source) packet() (p Packet, ok bool) {
	for {
		due, bytes, any := f.step()
		end := f.flow.End
		more := f.phase+1 < len(f.flow.Phases)
		if more {
			end = f.flow.Phases[f.phase+1].At
		}
		if at := time.Duration(min(due, float64(2*MostTime))); any && at < end {
			return Packet{Flow: f.index, Due: at, Bytes: bytes, DSCP: f.shape().DSCP}, true
		}
		if !more {
			return Packet{}, false
		}
		f.begin(f.phase + 1)
	}
}

// step goes on to the next packet of the pattern.
func (f *source) step() (due float64, bytes int, any bool) {
	s := f.shape()
	switch s.Pattern {
	case Poisson:
		f.next += f.rng.ExpFloat64() * s.Rate.gap(s.Size.mean())
		return f.next, s.Size.draw(f.rng), true
	case OnOff:
		if f.next >= f.until {
			f.next = f.until + s.Off.draw(f.rng)
			f.until = f.next + s.On.draw(f.rng)
		}
	case Frames:
		if f.left == 0 {
			f.left = s.Frame.draw(f.rng)
		}
		due, bytes = f.next, min(f.left, s.Size.High)
		if f.left -= bytes; f.left == 0 {
			f.next += float64(s.Every)
		}
		return due, max(bytes, LeastBytes), true
	case Replay:
		if f.at == len(f.flow.Recorded) {
			return 0, 0, false
		}
		r := f.flow.Recorded[f.at]
		f.at++
		return f.next + float64(r.After), min(max(r.Bytes, LeastBytes), MostBytes), true
	}
	due, bytes = f.next, s.Size.draw(f.rng)
	f.next += s.Rate.gap(float64(bytes))
	return due, bytes, true
}

func (s Spell) draw(r *rand.Rand) float64 {
	if s.Drawn {
		return max(1, r.ExpFloat64()*float64(s.Mean)) // of no length it would never be over
	}
	return float64(s.Mean)
}

// Plan gives the packets of flows of a script, in the order of their times; of those at one time, in the order of the flows.
type Plan struct {
	sources []*source
	heads   []Packet // the next of each
	any     []bool   // there is one
}

// NewPlan begins the plan of the flows of a script that go one way. The script is not to be changed meanwhile.
func NewPlan(s *Script, reverse bool) *Plan {
	p := &Plan{sources: make([]*source, len(s.Flows)), heads: make([]Packet, len(s.Flows)), any: make([]bool, len(s.Flows))}
	for i := range s.Flows {
		if s.Flows[i].Reverse != reverse {
			continue
		}
		p.sources[i] = newSource(s, i)
		p.heads[i], p.any[i] = p.sources[i].packet()
	}
	return p
}

// Next is the next packet; ok is false where there is none.
func (p *Plan) Next() (packet Packet, ok bool) {
	first := -1
	for i := range p.heads {
		if p.any[i] && (first < 0 || p.heads[i].Due < p.heads[first].Due) {
			first = i
		}
	}
	if first < 0 {
		return Packet{}, false
	}
	packet = p.heads[first]
	p.heads[first], p.any[first] = p.sources[first].packet()
	return packet, true
}
