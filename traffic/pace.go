package traffic

import "time"

// MostLate is how late a packet is sent, and its lateness told. One that would be later is skipped: after a stall of the host they would all leave
// in one burst, which the plan does not have.
const MostLate = 100 * time.Millisecond

// Pacer says when the packets of a plan may leave, by how late those before them left. A flow that is late catches up at twice its speed at the
// most: after a packet that left late, the next one of its flow keeps at least half of the distance that the plan has between the two.
//
//	plan   a     b     c     d     e
//	left          a  b  c  d  e              a was late: b to d follow at half the distance, e is on time again
type Pacer struct {
	sources []*source
	heads   []head
}

// head is the next packet of a flow.
type head struct {
	packet Packet
	ready  time.Duration // it may leave from then on
	any    bool
}

// Leaving is a packet that leaves, or is skipped.
type Leaving struct {
	Packet
	Skipped bool // it would be later than MostLate
}

// NewPacer begins to pace the flows of a script that go one way. The script is not to be changed meanwhile.
func NewPacer(s *Script, reverse bool) *Pacer {
	p := &Pacer{sources: make([]*source, len(s.Flows)), heads: make([]head, len(s.Flows))}
	for i := range s.Flows {
		if s.Flows[i].Reverse != reverse {
			continue
		}
		p.sources[i] = newSource(s, i)
		h := &p.heads[i]
		h.packet, h.any = p.sources[i].packet()
		h.ready = h.packet.Due
	}
	return p
}

// Ready is when the next packet may leave; ok is false where there is none.
func (p *Pacer) Ready() (at time.Duration, ok bool) {
	i := p.first()
	if i < 0 {
		return 0, false
	}
	return p.heads[i].ready, true
}

func (p *Pacer) first() int {
	first := -1
	for i := range p.heads {
		if p.heads[i].any && (first < 0 || p.heads[i].ready < p.heads[first].ready) {
			first = i
		}
	}
	return first
}

// Take fills a batch with packets that may leave now, in their order, and returns how many they are.
func (p *Pacer) Take(now time.Duration, batch []Leaving) int {
	n := 0
	for n < len(batch) {
		i := p.first()
		if i < 0 || p.heads[i].ready > now {
			break
		}
		h := &p.heads[i]
		batch[n] = Leaving{Packet: h.packet, Skipped: now-h.packet.Due > MostLate}
		before := h.packet.Due
		h.packet, h.any = p.sources[i].packet()
		h.ready = h.packet.Due
		if !batch[n].Skipped {
			h.ready = max(h.ready, now+(h.packet.Due-before)/2)
		}
		n++
	}
	return n
}
