package queue

import (
	"math/rand/v2"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// ring keeps packets in the order in which they came. A packet that is taken from the middle leaves a hole, so that
// the others keep their order and nothing moves:
//
//	slots   . . c . e f g . . .       . is nil: free, or, between first and last, a hole
//	            ^first  ^last         span 5, live 4
//
// The first slot is never a hole. Holes are squeezed out when they outnumber the packets by firstSlots; that looks at
// fewer than two slots for each hole, so every operation is O(1), amortised. The zero value is ready.
type ring struct {
	slots       []*packet.Packet // a power of two of them
	first, span int
	live        int
}

func (r *ring) push(p *packet.Packet) {
	if r.span == len(r.slots) {
		r.grow()
	}
	r.slots[(r.first+r.span)&(len(r.slots)-1)] = p
	r.span++
	r.live++
}

// firstSlots is what an idle link's queue costs: 128 bytes.
const firstSlots = 16

func (r *ring) grow() {
	grown := make([]*packet.Packet, max(firstSlots, 2*len(r.slots)))
	n := copy(grown, r.slots[r.first:])
	copy(grown[n:], r.slots[:r.first])
	r.slots, r.first = grown, 0
}

// front returns the oldest packet, nil if there is none.
func (r *ring) front() *packet.Packet {
	if r.live == 0 {
		return nil
	}
	return r.slots[r.first]
}

// pop takes the oldest packet, nil if there is none.
func (r *ring) pop() *packet.Packet {
	if r.live == 0 {
		return nil
	}
	p := r.slots[r.first]
	r.slots[r.first] = nil
	r.live--
	r.settle()
	return p
}

// takeRandom takes one of the packets, each as likely; there must be one. Packets are about half of
// what it draws from at worst.
func (r *ring) takeRandom(random *rand.Rand) *packet.Packet {
	for {
		at := (r.first + random.IntN(r.span)) & (len(r.slots) - 1)
		p := r.slots[at]
		if p == nil {
			continue
		}
		r.slots[at] = nil
		r.live--
		r.settle()
		return p
	}
}

// each calls a function with every packet, the oldest first.
func (r *ring) each(do func(*packet.Packet)) {
	for i := range r.span {
		if p := r.slots[(r.first+i)&(len(r.slots)-1)]; p != nil {
			do(p)
		}
	}
}

// settle moves first on to the oldest packet, and keeps the holes few.
func (r *ring) settle() {
	for r.span > 0 && r.slots[r.first] == nil {
		r.first = (r.first + 1) & (len(r.slots) - 1)
		r.span--
	}
	if r.span > 2*r.live+firstSlots {
		r.squeeze()
	}
}

// squeeze moves the packets together.
func (r *ring) squeeze() {
	mask := len(r.slots) - 1
	to := 0
	for from := range r.span {
		p := r.slots[(r.first+from)&mask]
		if p == nil {
			continue
		}
		r.slots[(r.first+from)&mask] = nil
		r.slots[(r.first+to)&mask] = p
		to++
	}
	r.span = to
}
