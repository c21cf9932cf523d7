package queue

import (
	"math/rand/v2"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// scheduler is a queue with classes. The strict ones go first, the most urgent before the others; the rest takes turns
// by deficit round robin (M. Shreedhar and G. Varghese, "Efficient Fair Queueing Using Deficit Round Robin", IEEE/ACM
// Transactions on Networking 4(3), 1996).
type scheduler struct {
	classOf [64]uint8 // by DSCP, the index in bands
	bands   []*band   // in the configuration's order
	strict  []*band   // the most urgent first
	shares  []share
	turn    int  // whose turn it is, of shares
	begun   bool // it has its quantum for this turn
}

// share is a weighted class: in each of its turns it may send quantum bytes, and what it saved for a packet that did
// not fit. A class with nothing to send saves nothing.
type share struct {
	*band
	quantum, deficit int64
}

// smallestQuantum is the quantum of the class with the least weight, in bytes: a full packet, so that each turn sends at least one.
const smallestQuantum = 1500

func newScheduler(classes []Class, random *rand.Rand, out Out) *scheduler {
	s := &scheduler{}
	least := float64(maxWeight)
	var byPriority [maxPriority + 1]*band
	for _, c := range classes {
		b := newBand(c.Name, c.Discipline, random, out)
		s.bands = append(s.bands, b)
		if c.Priority > 0 {
			byPriority[c.Priority] = b
			continue
		}
		least = min(least, weightOf(c))
	}
	for _, b := range byPriority {
		if b != nil {
			s.strict = append(s.strict, b)
		}
	}
	for i, c := range classes {
		if c.Priority == 0 {
			s.shares = append(s.shares, share{band: s.bands[i], quantum: int64(smallestQuantum * weightOf(c) / least)})
		}
	}
	s.classify(classes)
	return s
}

// classify fills the table: the default class first, then what is named.
func (s *scheduler) classify(classes []Class) {
	for i, c := range classes {
		if c.Default {
			for d := range s.classOf {
				s.classOf[d] = uint8(i)
			}
		}
	}
	for i, c := range classes {
		for _, d := range c.DSCP {
			s.classOf[d] = uint8(i)
		}
	}
}

func (s *scheduler) Push(t int64, p *packet.Packet) { s.bandOf(p).Push(t, p) }

func (s *scheduler) place(t int64, p *packet.Packet) { s.bandOf(p).place(t, p) }

func (s *scheduler) bandOf(p *packet.Packet) *band {
	return s.bands[s.classOf[packet.DSCP(p.Data)&63]]
}

func (s *scheduler) Pop(t int64) *packet.Packet {
	for _, b := range s.strict {
		if p := b.Pop(t); p != nil {
			return p
		}
	}
	// Each turn that sends nothing either finds a class empty, or adds to its deficit until the packet fits.
	for empty := 0; empty < len(s.shares); {
		c := &s.shares[s.turn]
		head := c.waiting.front()
		if head == nil {
			s.next()
			empty++
			continue
		}
		empty = 0
		if !s.begun {
			c.deficit += c.quantum
			s.begun = true
		}
		if int64(len(head.Data)) > c.deficit {
			s.next()
			continue
		}
		p := c.Pop(t)
		if p != nil { // by CoDel not always the head, and maybe larger: then the deficit is a debt
			c.deficit -= int64(len(p.Data))
		}
		if c.Len() == 0 {
			c.deficit = 0
			s.next()
		}
		if p != nil {
			return p
		}
	}
	return nil
}

// next ends a turn.
func (s *scheduler) next() {
	s.turn++
	if s.turn == len(s.shares) {
		s.turn = 0
	}
	s.begun = false
}

// take takes what came first, whatever its class; of two that came at once, that of the class named first.
func (s *scheduler) take() *packet.Packet {
	oldest := s.bands[0]
	for _, b := range s.bands[1:] {
		head := b.waiting.front()
		if head != nil && (oldest.Len() == 0 || head.Came < oldest.waiting.front().Came) {
			oldest = b
		}
	}
	return oldest.take()
}

func (s *scheduler) Len() int {
	n := 0
	for _, b := range s.bands {
		n += b.Len()
	}
	return n
}

func (s *scheduler) Bytes() int64 {
	n := int64(0)
	for _, b := range s.bands {
		n += b.bytes
	}
	return n
}

func (s *scheduler) SetLine(line Line) {
	for _, b := range s.bands {
		b.SetLine(line)
	}
}

func (s *scheduler) all() []*band { return s.bands }

func (s *scheduler) Classes() []ClassCount {
	counts := make([]ClassCount, len(s.bands))
	for i, b := range s.bands {
		counts[i] = b.count
	}
	return counts
}

func (s *scheduler) Inherit(t int64, from Queue) {
	for _, b := range s.bands {
		b.count.continueFrom(from)
	}
	inherit(t, s, from)
}
