package link

import (
	"math"
	"math/rand/v2"
	"reflect"

	"github.com/pathwise-net/pathwise/lab/chance"
	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/lab/packet"
)

// never is the time of what does not happen.
const never int64 = math.MaxInt64

// pipe is all of a Shape but its rules: a Direction has one, and more for its rules.
type pipe struct {
	d       *Direction
	id      identity
	streams [purposes]*rand.Rand // made when first needed; a process that is replaced hands its stream on

	shape  Shape
	whole  bool // super-packets go through in one piece
	outage *chance.OutageProcess
	perKey bool  // the outage is of each connection
	asked  int64 // when the outage was asked last; it must not go back
	police *tokens

	wire

	loss      *chance.LossProcess
	corrupt   *chance.ShareProcess
	duplicate *chance.ShareProcess
	jitter    *chance.JitterProcess
	reorder   *chance.ReorderProcess
	drift     *chance.DriftProcess
	creep     *chance.CreepProcess
	delay     int64
	overtake  bool
	hide      bool // corruption

	flights
	launched uint64 // packets that left the wire
	landed   uint64 // the highest number among those delivered
	left     int64  // when the last packet left the wire
	lastDue  int64  // of those that keep the order

	turn int // place among the Direction's pipes with something to do; -1: not there; see agenda
	at   int64
	user // of a rule's table of pipes
}

// start makes a pipe ready at time t.
func (p *pipe) start(t int64, d *Direction, id identity, s Shape) {
	p.d, p.id, p.turn = d, id, -1
	p.free, p.clock, p.asked, p.left, p.lastDue = t, t, t, t, math.MinInt64
	p.set(t, s)
}

// set changes the shape. What is in flight keeps its fate; what waits sees the new rate. A process whose settings stay
// the same runs on.
func (p *pipe) set(t int64, s Shape) {
	p.run(t)
	old := p.shape
	p.shape = s
	p.outage = renew(p.outage, old.Outage, s.Outage, func(o *chance.Outage) *chance.OutageProcess {
		return o.New(t, p.stream(forOutage))
	})
	p.perKey = s.Outage != nil && s.Outage.Per == chance.PerConnection
	p.police = renew(p.police, old.Police, s.Police, func(b *Bucket) *tokens { return b.start(t) })
	p.setEffects(t, old, s)
	p.setPropagation(t, old, s)
	p.setWire(t, old, s)
	p.whole = p.staysWhole()
}

// renew returns the process for a setting: the running one if the setting is the same, none if there is none.
func renew[C, P any](running *P, old, now *C, start func(*C) *P) *P {
	switch {
	case now == nil:
		return nil
	case reflect.DeepEqual(old, now):
		return running
	}
	return start(now)
}

func (p *pipe) setEffects(t int64, old, s Shape) {
	p.loss = renew(p.loss, old.Loss, s.Loss, func(l *chance.Loss) *chance.LossProcess {
		return l.New(t, p.stream(forLoss))
	})
	p.corrupt = renew(p.corrupt, old.Corrupt, s.Corrupt, func(c *chance.Corrupt) *chance.ShareProcess {
		return c.New(p.stream(forCorrupt))
	})
	p.hide = s.Corrupt != nil && s.Corrupt.Hidden
	p.duplicate = renew(p.duplicate, old.Duplicate, s.Duplicate, func(d *chance.Share) *chance.ShareProcess {
		return d.New(p.stream(forDuplicate))
	})
}

func (p *pipe) setPropagation(t int64, old, s Shape) {
	p.delay = 0
	if s.Delay != nil {
		p.delay = int64(*s.Delay)
	}
	p.jitter = renew(p.jitter, old.Jitter, s.Jitter, func(j *chance.Jitter) *chance.JitterProcess {
		return j.New(p.stream(forJitter))
	})
	p.overtake = s.Jitter != nil && s.Jitter.Overtake
	p.reorder = renew(p.reorder, old.Reorder, s.Reorder, func(o *chance.Reorder) *chance.ReorderProcess {
		return o.New(p.stream(forReorder))
	})
	p.drift = renew(p.drift, old.Drift, s.Drift, func(d *chance.Drift) *chance.DriftProcess { return d.New(t) })
	p.creep = renew(p.creep, old.Creep, s.Creep, func(c *chance.Creep) *chance.CreepProcess { return c.New(t) })
}

func (p *pipe) stream(what purpose) *rand.Rand {
	if p.streams[what] == nil {
		p.streams[what] = p.id.stream(what)
	}
	return p.streams[what]
}

// wholeRate is the rate from which 64 KiB take less than 100 microseconds: the packets of a super-packet then come so
// close together that whoever measures cannot tell.
const wholeRate = notation.Rate((1 << 16) * 8 / 100e-6)

// staysWhole reports whether a super-packet may go through in one piece: where nothing that happens to its packets
// depends on the space between them, or happens to one of them but for loss.
func (p *pipe) staysWhole() bool {
	s := &p.shape
	fast := p.kind == unpaced || p.kind == paced && p.shaper == nil && *s.Rate >= wholeRate && s.Queue == nil
	return fast && p.police == nil && p.corrupt == nil && p.duplicate == nil && p.reorder == nil && p.jitter == nil && p.pauses == nil
}

// out reports whether a packet finds the way out of service, and the cause of which it is dropped then.
func (p *pipe) out(t int64, k *packet.Packet) (packet.Cause, bool) {
	if p.outage == nil {
		return packet.Kept, false
	}
	p.asked = max(p.asked, t)
	if p.perKey {
		return packet.Reset, p.outage.Down(p.asked, packet.KeyOf(k.Data).Hash(p.id.seed))
	}
	return packet.LinkDown, p.outage.Down(p.asked, 0)
}

// accept takes a packet that came at time t and is not split any more.
func (p *pipe) accept(t int64, k *packet.Packet) {
	if p.police != nil && !p.police.pass(t, int64(len(k.Data))) {
		remark := p.shape.Police.Remark
		if remark == nil {
			p.d.drop(t, k, packet.Policed)
			return
		}
		packet.SetDSCP(k.Data, byte(*remark))
		p.d.count.Remarked += uint64(k.Segments())
	}
	if p.kind == unpaced {
		p.d.count.Flying += int64(k.Segments())
		p.launch(t, k)
		return
	}
	p.enqueue(t, k)
}

// next returns when something is to be done, or never.
func (p *pipe) next() int64 { return min(p.wireNext(), p.flights.due()) }
