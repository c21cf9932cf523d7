package hops

import (
	"math"
	"math/rand/v2"
	"net/netip"
)

// route is a route in virtual time: what its links and hops do to packets that expire on it.
type route struct {
	links []simulated
	noise float64 // s: the mean of what stamps and hosts add to a round trip
	ipv6  bool
	seed  uint64
}

// simulated is a link, and the hop at its far end.
type simulated struct {
	rate   float64 // bit/s
	delay  float64 // s, each way
	load   float64 // the share of packets that wait for those of others
	silent bool
	every  float64 // s, from one answer to the next, of a hop that limits them; 0: it does not
	deaf   float64 // s, before which it answers nothing
	quotes int     // bytes; 0: as many as may be
	slow   float64 // s for each byte of a packet, that a hop takes to answer; below 0: faster
	ways   int     // routers that take turns here
	cells  bool    // packets of a middle size take as long as large ones
}

// measured is the study of a route when it has ended, and how many seconds and packets it took.
func (r route) measured() (s *Study, seconds float64, packets int) {
	random := rand.New(rand.NewPCG(r.seed, 3))
	s = &Study{Largest: 1500, IPv6: r.ipv6, MostTTL: 30, Random: random, Seconds: 8}
	answered := make([]float64, len(r.links))
	for i := range answered {
		answered[i] = math.Inf(-1)
	}
	for {
		round := s.Next()
		if len(round.Probes) == 0 {
			return s, seconds, packets
		}
		for _, p := range round.Probes {
			packets++
			seconds += round.Spacing
			hop := min(p.TTL, len(r.links))
			l := r.links[hop-1]
			if l.silent || seconds < l.deaf || seconds < answered[hop-1]+l.every {
				continue
			}
			answered[hop-1] = seconds
			s.Add(r.answer(p, hop, random))
		}
	}
}

func (r route) answer(p Probe, hop int, random *rand.Rand) Answer {
	l := r.links[hop-1]
	most, headers := mostQuoted4, ipHeader4+icmpHeader
	if r.ipv6 {
		most, headers = mostQuoted6, ipHeader6+icmpHeader
	}
	if l.quotes > 0 {
		most = l.quotes
	}
	a := Answer{Probe: p, Quoted: min(p.Size, most), Reached: hop == len(r.links), From: netip.AddrFrom4([4]byte{10, 0, byte(hop), byte(1 + random.IntN(max(1, l.ways)))})}
	for _, link := range r.links[:hop] {
		size := p.Size
		if link.cells && size > leastSize && size < 1500 && size > 600 {
			size = 1500
		}
		a.RTT += 2*link.delay + 8*float64(size+headers+a.Quoted)/link.rate
		if random.Float64() < link.load {
			a.RTT += random.ExpFloat64() * 12000 / link.rate
		}
	}
	a.RTT += r.noise*random.ExpFloat64() + l.slow*float64(p.Size)
	return a
}
