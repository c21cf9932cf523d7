package dispersion

import (
	"math"
	"math/rand/v2"
	"slices"
)

// path is a path in virtual time: an access link, a policer, a queue, a shaper and the narrowest link, others' packets, and a receiver that is late.
type path struct {
	access, rate float64 // bit/s on the wire; access 0: packets come all at once
	queue        int     // packets that may wait; 0: any number
	shape        float64 // bit/s of a shaper before the link; 0: none
	police       float64 // bit/s of a policer before the queue; 0: none
	burst        float64 // bytes of either's bucket
	load         float64 // of what passes for long, by others
	sizes        []int   // bytes of their packets; none: 1500
	even         bool    // they come at equal gaps
	late         float64 // s, mean of what the receiver is late by

	random  *rand.Rand
	now     float64 // s
	over    float64 // s that it was measured
	tokens  float64
	filled  float64
	free    float64 // when the link is free
	waiting []float64
	others  float64 // when their next packet comes
	begun   bool
}

const framing = 38

// carries is the capacity of the narrowest link, and passes what passes for long: both of the IP layer, for packets of 1500 bytes.
func (p *path) carries() float64 { return p.rate * 1500 / (1500 + framing) }

func (p *path) passes() float64 {
	long := p.carries()
	for _, r := range []float64{p.shape, p.police} {
		if r > 0 {
			long = min(long, r)
		}
	}
	return long
}

// send plays trains, and returns what arrived of them.
func (p *path) send(steps []Step, size int) []Train {
	if !p.begun {
		p.begun, p.tokens = true, p.burst
		p.others = p.now
	}
	p.now += 0.1 // a test is agreed on
	began, origin := p.now, p.now
	out := make([]Train, len(steps))
	for k, step := range steps {
		out[k] = Train{Sent: step.Packets, Size: size, Paced: step.Spacing > 0}
		line := p.now
		for i := range step.Packets {
			sent := p.now + float64(i)*step.Spacing
			line = max(line, sent)
			if p.access > 0 {
				line += float64(size+framing) * 8 / p.access
			}
			p.play(line)
			if left, ok := p.pass(line, size); ok {
				at := left + 0.01
				if p.late > 0 {
					at += p.random.ExpFloat64() * p.late
					if p.random.IntN(500) == 0 {
						at += p.random.Float64() * 1e-3
					}
				}
				if n := len(out[k].Packets); n > 0 {
					at = max(at, float64(out[k].Packets[n-1].At)/1e9+origin)
				}
				out[k].Packets = append(out[k].Packets, Packet{Index: i, Sent: int64((sent-origin)*1e9) + 12345, At: int64((at - origin) * 1e9)})
			}
		}
		p.now += float64(step.Packets-1)*step.Spacing + step.Rest
		p.now = max(p.now, line)
	}
	p.over += p.now - began
	Align(out)
	return out
}

// play lets others' packets come until a time.
func (p *path) play(until float64) {
	if p.load == 0 {
		return
	}
	mean := 1500.0
	if len(p.sizes) > 0 {
		mean = 0
		for _, s := range p.sizes {
			mean += float64(s) / float64(len(p.sizes))
		}
	}
	for p.others <= until {
		size := 1500
		if len(p.sizes) > 0 {
			size = p.sizes[p.random.IntN(len(p.sizes))]
		}
		p.pass(p.others, size)
		gap := mean * 8 / (p.load * p.passes())
		if !p.even {
			gap *= p.random.ExpFloat64()
		}
		p.others += gap
	}
}

// pass is when a packet that comes at a time has left the link; ok is false where it is dropped.
func (p *path) pass(at float64, size int) (left float64, ok bool) {
	fill := func(t, rate float64) {
		if t > p.filled {
			p.tokens, p.filled = min(p.burst, p.tokens+(t-p.filled)*rate/8), t
		}
	}
	if p.police > 0 {
		if fill(at, p.police); p.tokens < float64(size) {
			return 0, false
		}
		p.tokens -= float64(size)
	}
	p.waiting = slices.DeleteFunc(p.waiting, func(start float64) bool { return start <= at })
	if p.queue > 0 && len(p.waiting) >= p.queue {
		return 0, false
	}
	start := max(at, p.free)
	if p.shape > 0 {
		if fill(start, p.shape); p.tokens < float64(size) {
			start += (float64(size) - p.tokens) * 8 / p.shape
			fill(start, p.shape)
		}
		p.tokens -= float64(size)
	}
	p.waiting = append(p.waiting, start)
	p.free = start + float64(size+framing)*8/p.rate
	return p.free, true
}

func off(got, want float64) float64 { return math.Abs(got/want - 1) }
