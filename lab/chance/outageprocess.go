package chance

import "math/rand/v2"

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
