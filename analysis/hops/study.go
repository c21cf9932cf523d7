package hops

import "math/rand/v2"

// Study is a measurement under way: what is to be sent next follows from what was answered so far.
//
//	survey: small packets to each TTL, until one reaches the end -> look: two sizes to each hop -> turns: all hops and sizes, in random order,
//	                                                                                              until each link is known or given up
type Study struct {
	Largest int  // bytes: packets that the path carries whole
	IPv6    bool // whose answers quote more
	MostTTL int
	Random  *rand.Rand
	Seconds float64 // that turns may take

	hops   []hop
	stage  stage
	passes int     // of the survey of the present TTLs, or looks
	spent  float64 // s, of turns
	late   bool    // see Stop
}

type stage int

const (
	survey stage = iota
	look
	turns
)

// Round is a set of packets to send, one after the other.
type Round struct {
	Probes  []Probe
	Spacing float64 // s from one to the next, on average
	Settle  bool    // what they bring is needed before the next round can be planned
}

// seconds is how long a round takes to send.
func (r Round) seconds() float64 { return float64(len(r.Probes)) * r.Spacing }

// How a route is asked.
const (
	surveyed      = 4     // hops at once: few enough to ask a near target little more often than it answers
	surveyPasses  = 3     // to a hop that is silent
	surveySpacing = 2e-3  // s
	looks         = 3     // of two packets to each hop
	lookSpacing   = 10e-3 // s: as a link of 1.2 Mbit/s takes for a packet
	mostSilent    = 5     // hops in a row, after which nothing more answers
)

// Next plans the next set; nothing to send: what is to be known is, or will not be.
func (s *Study) Next() Round {
	if s.stage == survey {
		if r := s.survey(); len(r.Probes) > 0 {
			return s.plan(r)
		}
		s.stage, s.passes = look, 0
	}
	if s.stage == look && s.passes < looks && s.length() > 0 {
		s.passes++
		return s.plan(s.look())
	}
	if s.stage == look {
		s.stage = turns
	}
	if s.stage == turns {
		if r := s.turn(); len(r.Probes) > 0 {
			s.spent += r.seconds()
			return s.plan(r)
		}
	}
	return Round{}
}

func (s *Study) plan(r Round) Round {
	for _, p := range r.Probes {
		s.hops[p.TTL-1].sent++
	}
	return r
}

// Add takes an answer. One whose size differs from that of others of its hop is of no use but to tell who is there.
func (s *Study) Add(a Answer) {
	if a.TTL < 1 || a.TTL > len(s.hops) {
		return
	}
	h := &s.hops[a.TTL-1]
	switch {
	case a.Size == s.Largest && h.quoted < 0:
		h.quoted = a.Quoted
	case a.Size == s.Largest && h.quoted < a.Quoted: // it quotes more than it did: what was smaller than that does not count
		h.quoted = a.Quoted
	}
	h.add(a)
}

// Stop takes that the time is over, and which packets of the last round were not sent: what is not known is so for want of time.
func (s *Study) Stop(unsent []Probe) {
	s.late = true
	for _, p := range unsent {
		s.hops[p.TTL-1].sent--
	}
}

// Limit takes that the path carries no packets larger than so many bytes whole. What larger ones brought does not count.
func (s *Study) Limit(largest int) {
	if largest < s.Largest && largest > leastSize {
		s.Largest = largest
	}
}

// End is the TTL with which packets reach the end of the route; 0: none did yet.
func (s *Study) End() int {
	if s.stage == survey || !s.Reached() {
		return 0
	}
	return s.length()
}

// MayEnd reports whether packets of a TTL reach the end of the route as far as is known: they do with that of End, and may with one of the hops before it that are
// silent, since a target that limits its answers may have answered a packet with a larger TTL than it takes.
func (s *Study) MayEnd(ttl int) bool {
	end := s.End()
	if ttl < 1 || ttl > end {
		return false
	}
	for _, h := range s.hops[ttl-1 : end-1] {
		if h.answered > 0 {
			return false
		}
	}
	return true
}

// length is how many hops the route has, as far as they answer.
func (s *Study) length() int {
	last := 0
	for i := range s.hops {
		if s.hops[i].answered > 0 {
			last = i + 1
		}
		if s.hops[i].reached {
			return i + 1
		}
	}
	return last
}

// Reached reports whether the target answered, or where the route ends.
func (s *Study) Reached() bool { n := s.length(); return n > 0 && s.hops[n-1].reached }

func (s *Study) sizes(ttl int) sizes {
	quoted := s.hops[ttl-1].quoted
	if quoted < 0 && s.IPv6 {
		quoted = mostQuoted6
	} else if quoted < 0 {
		quoted = mostQuoted4
	}
	return sizesOf(quoted, s.Largest)
}

// survey asks a few hops at a time for who they are, those that are silent again, until one says that the route ends.
func (s *Study) survey() (r Round) {
	for {
		first := max(0, len(s.hops)-surveyed)
		for i := first; i < len(s.hops) && s.passes < surveyPasses && !s.ended(i); i++ {
			if s.hops[i].answered == 0 {
				r.Probes = append(r.Probes, Probe{TTL: i + 1, Size: leastSize})
			}
		}
		if len(r.Probes) > 0 {
			s.passes++
			r.Spacing, r.Settle = surveySpacing, true
			return r
		}
		if s.Reached() || len(s.hops) >= s.MostTTL || len(s.hops)-s.length() >= mostSilent {
			return r
		}
		for range min(surveyed, s.MostTTL-len(s.hops)) {
			s.hops = append(s.hops, hop{quoted: -1, trips: map[int][]float64{}})
		}
		s.passes = 0
	}
}

// ended reports whether the route ends before hop i, counted from 0.
func (s *Study) ended(i int) bool { return s.Reached() && i >= s.length() }

// look asks each hop with the largest and the smallest packets: what answers quote, and how fast the path may be.
func (s *Study) look() Round {
	var all []Probe
	for ttl := 1; ttl <= s.length(); ttl++ {
		if s.hops[ttl-1].answered > 0 || s.MayEnd(ttl) {
			all = append(all, Probe{ttl, s.Largest}, Probe{ttl, s.sizes(ttl).least})
		}
	}
	s.shuffle(all)
	return Round{Probes: all, Spacing: lookSpacing, Settle: true}
}

func (s *Study) shuffle(all []Probe) {
	s.Random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
}
