package link

import "github.com/pathwise-net/pathwise/lab/packet"

// flight is a packet in propagation.
type flight struct {
	due    int64
	number uint64 // in the order of leaving the wire
	again  bool   // it is a copy of the packet before
	packet *packet.Packet
}

func (f *flight) before(g *flight) bool {
	return f.due < g.due || f.due == g.due && f.number < g.number
}

// flights holds packets in propagation: those that keep the order in a ring, and the few that need not in a heap, the
// earliest on top.
type flights struct {
	ring  fifo
	loose []flight
}

// due returns when the first is due, or never.
func (f *flights) due() int64 {
	due := never
	if f.ring.size > 0 {
		due = f.ring.front().due
	}
	if len(f.loose) > 0 {
		due = min(due, f.loose[0].due)
	}
	return due
}

// pop takes the first out; there must be one.
func (f *flights) pop() flight {
	if len(f.loose) == 0 || f.ring.size > 0 && f.ring.front().before(&f.loose[0]) {
		return f.ring.pop()
	}
	return f.popLoose()
}

// pushLoose and popLoose keep loose a binary heap. container/heap would allocate for each packet.
func (f *flights) pushLoose(v flight) {
	f.loose = append(f.loose, v)
	h := f.loose
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h[i].before(&h[up]) {
			return
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
}

func (f *flights) popLoose() flight {
	h := f.loose
	first, last := h[0], len(h)-1
	h[0], h[last] = h[last], flight{}
	h = h[:last]
	f.loose = h
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if h[child].before(&h[least]) {
				least = child
			}
		}
		if least == i {
			return first
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// fifo is a queue in a ring that grows.
type fifo struct {
	ring        []flight
	first, size int
}

func (f *fifo) front() *flight { return &f.ring[f.first] }

func (f *fifo) push(v flight) {
	if f.size == len(f.ring) {
		grown := make([]flight, max(16, 2*len(f.ring)))
		n := copy(grown, f.ring[f.first:])
		copy(grown[n:], f.ring[:f.first])
		f.ring, f.first = grown, 0
	}
	f.ring[(f.first+f.size)&(len(f.ring)-1)] = v // the ring's length is a power of two
	f.size++
}

func (f *fifo) pop() flight {
	v := f.ring[f.first]
	f.ring[f.first].packet = nil
	f.first = (f.first + 1) & (len(f.ring) - 1)
	f.size--
	return v
}
