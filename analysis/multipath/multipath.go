// Package multipath finds all equal-cost paths to a destination by the multipath detection algorithm: Augustin, Friedman, Teixeira, "Multipath
// tracing with Paris traceroute" (E2EMON 2007) and "Measuring load-balanced paths in the Internet" (IMC 2007). It is pure: it asks for probes,
// each of a hop limit and a flow, is told what answered them, and ends with a graph. It knows of no socket, no clock and no header: what a flow
// is (ports, an ICMP checksum, a flow label) its caller decides, and keeps the same in all probes of that flow.
//
//	Next ──> probes (TTL, flow) ──> the caller sends them, and waits for answers or a timeout
//	  ^                                             |
//	  └───────────────── Tell <─────────────────────┘      until Next has no more; then Graph
//
// How it works. A router that balances by flow sends all probes of one flow the same way. Where a probe of a flow is answered at hop 3 by a, and at
// hop 4 by x, the link a-x exists. To find all next hops of a, it sends probes to hop 4 of flows that pass a (node control), until their number
// reaches a stopping point: so many that one more next hop would have been seen, with the confidence that was asked for, if a spreads flows evenly.
//
// Balancing by packet is told by sending probes of one flow again: they come out at different next hops. Behind such a router no flow has a way of its
// own, so that links between two wide hops cannot be told: the graph has them as possible ones (Link.Certain is false).
//
// What it does not do: tell that two addresses are one router, see balancers that no flow identifier of the caller's moves, or find next
// hops that get a much smaller share than the others with the confidence stated. A change of the route while it runs looks like balancing by packet.
package multipath

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
)

// Config is how sure and how far a search is. Its zero value is a good one.
type Config struct {
	Confidence float64 // that the whole graph has every path, above 0 and below 1; 0: 0.95
	Balancers  int     // so many balancing hops the confidence covers; 0: 16
	MaxTTL     int     // hops at most; 0: 30, as traceroute has it
	Silent     int     // a path ends after so many hops in a row that do not answer; 0: 4
	Attempts   int     // a hop is silent for a flow that got no answer so often; 0: 3, as traceroute sends
	MaxProbes  int     // in all; 0: 20000
	Batch      int     // at once; 0: 256
	Seed       uint64  // of the order in which the probes of a batch are sent
}

// Validate says what is wrong.
func (c Config) Validate() error {
	switch {
	case c.Confidence < 0 || c.Confidence >= 1 || math.IsNaN(c.Confidence):
		return fmt.Errorf("confidence %v: want a ratio above 0 and below 1", c.Confidence)
	case c.MaxTTL < 0 || c.MaxTTL > 255:
		return fmt.Errorf("hops %d: want 1 to 255", c.MaxTTL)
	case c.Balancers < 0 || c.Silent < 0 || c.Attempts < 0 || c.MaxProbes < 0 || c.Batch < 0:
		return fmt.Errorf("balancers %d, silent hops %d, attempts %d, probes %d, batch %d: want none below 0",
			c.Balancers, c.Silent, c.Attempts, c.MaxProbes, c.Batch)
	}
	return nil
}

// filled has the defaults in place of zeros.
func (c Config) filled() Config {
	c.Confidence = cmp.Or(c.Confidence, 0.95)
	c.Balancers = cmp.Or(c.Balancers, 16)
	c.MaxTTL = cmp.Or(c.MaxTTL, 30)
	c.Silent = cmp.Or(c.Silent, 4)
	c.Attempts = cmp.Or(c.Attempts, 3)
	c.MaxProbes = cmp.Or(c.MaxProbes, 20000)
	c.Batch = cmp.Or(c.Batch, 256)
	return c
}

// Probe is one packet to send.
type Probe struct {
	TTL  int // hop limit, from 1
	Flow int // flows are numbered from 0 without gaps
}

// Answer is what came back for a probe. The zero value: nothing did.
type Answer struct {
	Address netip.Addr // whose
	Final   bool       // the way ends here: it is the destination, or it says that it forwards no further
	// Shift is a number for what address translators changed of the packet: by how much the transport checksum that the answer quotes differs from the one that
	// was sent, which they adjust (RFC 3022, section 4.2), or whatever else changes behind one. Zero where nothing changed or it is not known.
	Shift uint16
}

// Search is the state of a search. See New.
type Search struct {
	c       Config
	rules   rules
	seen    [][]*outcome // by TTL, then by flow, as far as any was seen there; seen[0] is not used
	ends    map[int]int  // by flow: the first TTL at which a final answer came
	flows   int          // how many there are
	sent    int
	waiting map[Probe]int
	out     int // probes that wait for their answers
	order   *rand.Rand
	opened  int // TTLs at which flow 0 was asked for; one more than there are: the opening is over
	done    bool
}

// outcome is what is known of a flow at a hop.
type outcome struct {
	addresses []netip.Addr // that answered, each once, in the order of their first answers
	counts    []int        // of answers, by address
	finals    int          // answers that were final
	answers   int
	silences  int
	shift     uint16 // of the first answer
}

// New begins a search.
func New(c Config) (*Search, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.filled()
	s := &Search{c: c, rules: newRules(c), ends: map[int]int{}, waiting: map[Probe]int{}, order: rand.New(rand.NewPCG(c.Seed, 0)),
		seen: make([][]*outcome, c.MaxTTL+1)}
	return s, nil
}

// Next is what to send now. It is empty while probes of an earlier batch wait for their answers, and at the end.
func (s *Search) Next() []Probe {
	if s.out > 0 || s.done {
		return nil
	}
	batch := s.opening()
	if len(batch) == 0 {
		batch = s.plan()
	}
	batch = batch[:min(len(batch), s.c.Batch, s.c.MaxProbes-s.sent)]
	if len(batch) == 0 {
		s.done = true
		return nil
	}
	// A router that takes its links in turn would send every second probe the same way: the order is random, so that none sees the same turn each time.
	s.order.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
	for _, p := range batch {
		s.waiting[p]++
		s.flows = max(s.flows, p.Flow+1)
	}
	s.out = len(batch)
	s.sent += len(batch)
	return batch
}

// Done says that nothing is left to ask.
func (s *Search) Done() bool { return s.done }

// Tell says what came back for a probe of the last batch. What was not asked for, or was told already, counts for nothing.
func (s *Search) Tell(p Probe, a Answer) {
	if s.waiting[p] == 0 {
		return
	}
	s.waiting[p]--
	s.out--
	for len(s.seen[p.TTL]) <= p.Flow {
		s.seen[p.TTL] = append(s.seen[p.TTL], nil)
	}
	o := s.seen[p.TTL][p.Flow]
	if o == nil {
		o = &outcome{}
		s.seen[p.TTL][p.Flow] = o
	}
	if !a.Address.IsValid() {
		o.silences++
		return
	}
	if o.answers == 0 {
		o.shift = a.Shift
	}
	o.answers++
	i := slices.Index(o.addresses, a.Address)
	if i < 0 {
		i = len(o.addresses)
		o.addresses, o.counts = append(o.addresses, a.Address), append(o.counts, 0)
	}
	o.counts[i]++
	if a.Final {
		o.finals++
		if end, known := s.ends[p.Flow]; !known || p.TTL < end {
			s.ends[p.Flow] = p.TTL
		}
	}
}

// at is what is known of a flow at a hop, nil for nothing.
func (s *Search) at(ttl, flow int) *outcome {
	if flow < len(s.seen[ttl]) {
		return s.seen[ttl][flow]
	}
	return nil
}

// ahead is how many hops one flow is asked for at once at the beginning: few of them go past a near target, which answers a few packets at once and then one a second if
// it runs Linux (icmp_ratelimit).
const ahead = 6

// opening is what is asked for before anything can be planned: one flow at all hops up to its end, which tells how long the path is, then as many flows
// at each of its hops as a hop with one next hop needs. That takes fewer round trips than hop by hop.
func (s *Search) opening() (batch []Probe) {
	_, ended := s.ends[0]
	silent := s.opened > 0 && s.length() <= s.opened-ahead
	switch {
	case s.opened > s.c.MaxTTL: // the flows were asked for
	case ended || silent || s.opened == s.c.MaxTTL:
		s.opened = s.c.MaxTTL + 1
		for ttl := 1; ttl <= s.length(); ttl++ {
			for flow := 1; flow < s.rules.plain.after(1) && !s.over(ttl); flow++ {
				batch = append(batch, Probe{ttl, flow})
			}
		}
	default:
		for range min(ahead, s.c.MaxTTL-s.opened) {
			s.opened++
			batch = append(batch, Probe{s.opened, 0})
		}
	}
	return batch
}

// over says that the way of flow 0 has its end at a hop, where the other flows are asked for when it is known that they come so far.
func (s *Search) over(ttl int) bool {
	end, known := s.ends[0]
	return known && ttl >= end
}

// length is of the way of flow 0: to its end, or to the last hop that answered.
func (s *Search) length() int {
	if end, known := s.ends[0]; known {
		return end
	}
	for ttl := s.c.MaxTTL; ttl > 0; ttl-- {
		if o := s.at(ttl, 0); o != nil && o.answers > 0 {
			return ttl
		}
	}
	return 0
}
