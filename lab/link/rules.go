package link

import (
	"reflect"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// maxPipes bounds the pipes of one rule: as many flows at once as a lab on one machine has.
const maxPipes = 4096

// rule is a Rule at work.
type rule struct {
	Rule
	number uint64 // from 1
	one    *pipe  // where all packets share a pipe
	many   map[packet.Key]*pipe
	newest *pipe // of many: the one used last,
	oldest *pipe // and the one that was not used for longest
}

// user is a pipe's place among those of its rule, in the order of their use.
type user struct {
	key          packet.Key
	newer, older *pipe
}

// setRules replaces the rules if they changed. What is left in pipes of old ones is on the agenda, and leaves in time.
func (d *Direction) setRules(t int64, rules *Rules) {
	if reflect.DeepEqual(d.ruled, rules) {
		return
	}
	d.ruled, d.rules = rules, nil
	if rules == nil {
		return
	}
	for i, config := range *rules {
		r := &rule{Rule: config, number: uint64(i) + 1}
		if r.Per == PerRule {
			r.one = d.newPipe(t, r, 0)
		} else {
			r.many = map[packet.Key]*pipe{}
		}
		d.rules = append(d.rules, r)
	}
}

// newPipe makes a pipe of a rule; which tells it from the rule's others.
func (d *Direction) newPipe(t int64, r *rule, which uint64) *pipe {
	id := d.own.id
	id.pipe = mix(r.number) + which
	p := &pipe{}
	p.start(t, d, id, r.Shape)
	return p
}

// pick returns the pipe that a packet goes through.
func (d *Direction) pick(t int64, k *packet.Packet) *pipe {
	for _, r := range d.rules {
		if !r.Match.Matches(k.Data) {
			continue
		}
		if r.one != nil {
			return r.one
		}
		return d.pipeOf(t, r, r.Per.key(k.Data))
	}
	return &d.own
}

// key returns what the packets of one pipe have in common.
func (p Per) key(b []byte) packet.Key {
	k := packet.KeyOf(b)
	switch p {
	case PerSource:
		return packet.Key{Source: k.Source, Version: k.Version}
	case PerTarget:
		return packet.Key{Target: k.Target, Version: k.Version}
	}
	return k
}

// pipeOf returns the pipe for a key, a new one if it has none yet. Where there are maxPipes already the one that was
// not used for longest is given up; if packets are in it, those of the new key share it.
func (d *Direction) pipeOf(t int64, r *rule, key packet.Key) *pipe {
	p := r.many[key]
	switch {
	case p != nil:
	case len(r.many) == maxPipes && r.oldest.next() != never:
		return r.oldest // which stays the oldest, so that the flow's next packet finds it too and does not pass this one
	default:
		if len(r.many) == maxPipes {
			delete(r.many, r.oldest.key)
			r.forget(r.oldest)
		}
		p = d.newPipe(t, r, key.Hash(d.own.id.seed))
		p.key = key
		r.many[key] = p
		r.use(p)
		return p
	}
	if p != r.newest {
		r.forget(p)
		r.use(p)
	}
	return p
}

// use puts a pipe that is not in the order of use at its new end.
func (r *rule) use(p *pipe) {
	p.newer, p.older = nil, r.newest
	if r.newest != nil {
		r.newest.newer = p
	} else {
		r.oldest = p
	}
	r.newest = p
}

// forget takes a pipe out of the order of use.
func (r *rule) forget(p *pipe) {
	if p.newer != nil {
		p.newer.older = p.older
	} else {
		r.newest = p.older
	}
	if p.older != nil {
		p.older.newer = p.newer
	} else {
		r.oldest = p.newer
	}
}

// agenda is a binary heap of the rules' pipes that have something to do, the earliest first; of those at the same time,
// the one whose identity is lower, so that runs repeat.
type agenda []*pipe

func (a agenda) before(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].id.pipe < a[j].id.pipe
}

func (a agenda) swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].turn, a[j].turn = i, j
}

// update puts a pipe where it belongs after something happened to it. A direction's own pipe is not on the agenda.
func (a *agenda) update(p *pipe) {
	if p == &p.d.own {
		return
	}
	p.at = p.next()
	switch {
	case p.turn < 0 && p.at == never:
		return
	case p.turn < 0:
		p.turn = len(*a)
		*a = append(*a, p)
	case p.at == never:
		i, last := p.turn, len(*a)-1
		a.swap(i, last)
		(*a)[last] = nil
		*a = (*a)[:last]
		p.turn = -1
		if i < last {
			a.settle(i)
		}
		return
	}
	a.settle(p.turn)
}

// settle moves entry i up or down to where it belongs.
func (a agenda) settle(i int) {
	for i > 0 && a.before(i, (i-1)/2) {
		a.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(a); child++ {
			if a.before(child, least) {
				least = child
			}
		}
		if least == i {
			return
		}
		a.swap(i, least)
		i = least
	}
}
