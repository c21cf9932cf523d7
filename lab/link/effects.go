package link

import (
	"math"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// launch takes a packet that leaves the wire at a time, does to it what a wire does, and sends it on its way. Each
// process is asked once for each packet, whatever the others say.
func (p *pipe) launch(at int64, k *packet.Packet) {
	p.left = max(p.left, at) // what the processes are told does not go back
	if n := k.Segments(); n > 1 {
		p.launchWhole(at, k, n)
		return
	}
	lost := p.loss != nil && p.loss.Lost(p.left, len(k.Data))
	spoil := p.corrupt != nil && p.corrupt.Hit()
	twice := p.duplicate != nil && p.duplicate.Hit()
	due, loose := p.arrival(at)
	if lost {
		p.d.count.Flying--
		p.d.drop(at, k, packet.Loss)
		return
	}
	if spoil && k.FlipBit(p.stream(forBit).Uint64(), p.hide) {
		p.d.count.Corrupted++
	}
	p.fly(flight{due: due, packet: k}, loose)
	if twice {
		p.d.count.Duplicated++
		p.d.count.Flying++
		p.fly(flight{due: due, packet: p.d.pool.Clone(k), again: true}, loose)
	}
}

// arrival returns when a packet that leaves the wire at a time is due, and whether it is loose: others may pass it, and
// it them.
func (p *pipe) arrival(at int64) (due int64, loose bool) {
	took := p.delay
	if p.drift != nil {
		took += p.drift.Extra(p.left)
	}
	if p.creep != nil {
		took += p.creep.Extra(p.left)
	}
	if p.jitter != nil {
		took += clamped(p.jitter.Extra(p.left))
	}
	due = at + max(took, 0)
	if p.reorder != nil {
		if held := p.reorder.Extra(); held > 0 {
			return due + held, true
		}
	}
	if p.overtake {
		return due, true
	}
	p.lastDue = max(p.lastDue, due)
	return p.lastDue, false
}

// clamped keeps the rare enormous value of a heavy tail within what an int64 of nanoseconds can add up.
func clamped(extra int64) int64 {
	const most = math.MaxInt64 / 8
	return max(-most, min(extra, most))
}

func (p *pipe) fly(f flight, loose bool) {
	p.launched++
	f.number = p.launched
	if loose {
		p.pushLoose(f)
	} else {
		p.ring.push(f)
	}
}

// land takes the first packet out of flight.
func (p *pipe) land() flight {
	f := p.flights.pop()
	c := &p.d.count
	n := uint64(f.packet.Segments())
	c.Flying -= int64(n)
	c.Delivered += n
	c.Bytes += uint64(f.packet.WireBytes())
	for range n {
		c.Took.Record(max(0, f.due-f.packet.Came))
	}
	switch {
	case f.again:
	case f.number < p.landed:
		c.Reordered += n
	default:
		p.landed = f.number
	}
	return f
}

// launchWhole is launch for a super-packet of n segments: loss is drawn for each of them, and where some are lost the
// rest flies in as few pieces as possible. No other effect of the wire is set; see staysWhole.
func (p *pipe) launchWhole(at int64, k *packet.Packet, n int) {
	due, loose := p.arrival(at)
	if p.loss == nil || !p.drawLosses(k, n) {
		p.fly(flight{due: due, packet: k}, loose)
		return
	}
	pool, lost := p.d.pool, p.d.lost
	for from := 0; from < n; {
		to := from + 1
		for to < n && !lost[to] && !lost[from] {
			to++
		}
		piece := pool.Cut(k, from, to)
		if lost[from] {
			p.d.count.Flying--
			p.d.drop(at, piece, packet.Loss)
		} else {
			p.fly(flight{due: due, packet: piece}, loose)
		}
		from = to
	}
	pool.Put(k)
}

// drawLosses notes which segments are lost, and reports whether any is.
func (p *pipe) drawLosses(k *packet.Packet, n int) (any bool) {
	first, last := segmentBytes(k, n)
	p.d.lost = p.d.lost[:0]
	for i := range n {
		size := first
		if i == n-1 {
			size = last
		}
		lost := p.loss.Lost(p.left, size)
		p.d.lost = append(p.d.lost, lost)
		any = any || lost
	}
	return any
}

// segmentBytes returns the IP length of the n segments of a super-packet: of all but the last, and of the last.
func segmentBytes(k *packet.Packet, n int) (first, last int) {
	headers := int(k.WireBytes()) - len(k.Data) // of all but the first
	payload := int(k.VNet.SegmentSize)
	return headers/(n-1) + payload, len(k.Data) - (n-1)*payload
}
