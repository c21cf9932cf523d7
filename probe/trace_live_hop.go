package probe

import (
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// liveHop is what came of the packets to one hop. It takes no more memory the longer it is asked.
type liveHop struct {
	sent, lost int
	trips      stat.Running
	spread     stat.Sketch
	last       float64 // round trip
	lastAt     time.Time
	jitters    stat.Running
	jitter     float64   // the last
	smoothed   float64   // RFC 3550, 6.4.1
	recent     []float64 // round trips of the latest packets, by when they were sent; see missing and pending
	from       []liveAddress
	told       measure.Hop // by the latest answer
	toldPlace  int
}

// liveAddress is one who answers at a hop.
type liveAddress struct {
	address netip.Addr
	packets int
	place   int // of the last packet that it answered
}

const (
	liveRecent    = 64 // round trips that are kept of a hop: a sparkline as wide as a terminal has room for
	liveAddresses = 32 // that are told of a hop, twice as many as routers have equal ways as a rule; then the one that is silent for longest is forgotten
)

// send counts a packet.
func (h *liveHop) send() {
	h.sent++
	h.recent = append(h.recent[max(0, len(h.recent)-liveRecent+1):], pending)
}

// lose counts a packet as lost.
func (h *liveHop) lose(place int) {
	h.lost++
	h.settle(place, missing)
}

func (h *liveHop) settle(place int, v float64) {
	if i := place - (h.sent - len(h.recent)); i >= 0 {
		h.recent[i] = v
	}
}

// answer counts a packet as answered.
func (h *liveHop) answer(place int, rtt float64, a *traceAnswer, dscp int) {
	if h.trips.Count() > 0 {
		h.jitter = math.Abs(rtt - h.last)
		h.jitters.Add(h.jitter)
		h.smoothed += (h.jitter - h.smoothed) / 16
	}
	h.last, h.lastAt = rtt, a.at.User
	h.trips.Add(rtt)
	h.spread.Add(rtt)
	h.settle(place, rtt)
	h.tells(place, a, dscp)
}

// tells keeps who answered, and what the latest answer told beside.
func (h *liveHop) tells(place int, a *traceAnswer, dscp int) {
	i := slices.IndexFunc(h.from, func(l liveAddress) bool { return l.address == a.from })
	if i < 0 {
		if i = len(h.from); i == liveAddresses {
			i = oldestOf(h.from)
			h.from[i] = liveAddress{}
		} else {
			h.from = append(h.from, liveAddress{})
		}
	}
	h.from[i].address, h.from[i].packets, h.from[i].place = a.from, h.from[i].packets+1, max(place, h.from[i].place)
	if place >= h.toldPlace {
		h.toldPlace, h.told = place, measure.Hop{}
		tell(&h.told, a, dscp)
	}
}

func oldestOf(from []liveAddress) (oldest int) {
	for i := range from {
		if from[i].place < from[oldest].place {
			oldest = i
		}
	}
	return oldest
}

// rounds are the figures of a hop.
func (h *liveHop) rounds(ttl int) measure.HopRounds {
	r := measure.HopRounds{TTL: ttl, Sent: h.sent, Lost: h.lost, Answered: h.trips.Count(), From: []measure.HopAnswers{}}
	if known := r.Lost + r.Answered; known > 0 {
		r.LossRatio = float64(r.Lost) / float64(known)
	}
	if h.trips.Count() > 0 {
		r.Last, r.Best, r.Mean = new(h.last), new(h.trips.Min()), new(h.trips.Mean())
		r.Median, r.Worst, r.Stddev = new(h.spread.Median()), new(h.trips.Max()), new(h.trips.Stddev())
	}
	if h.jitters.Count() > 0 {
		r.JitterLast, r.JitterMean, r.JitterWorst, r.JitterSmoothed = new(h.jitter), new(h.jitters.Mean()), new(h.jitters.Max()), new(h.smoothed)
	}
	from := slices.Clone(h.from)
	slices.SortStableFunc(from, func(a, b liveAddress) int { return b.place - a.place })
	for _, a := range from {
		r.From = append(r.From, measure.HopAnswers{Address: a.address.String(), Packets: a.packets})
	}
	return r
}

// hop is the hop as a trace has it, with its latest round trips.
func (h *liveHop) hop(ttl int) measure.Hop {
	hop := h.told
	hop.TTL, hop.Addresses, hop.RTTSeconds = ttl, []string{}, []*float64{}
	for _, a := range h.from {
		hop.Addresses = append(hop.Addresses, a.address.String())
	}
	for _, v := range h.recent {
		switch {
		case math.IsInf(v, -1):
		case math.IsNaN(v):
			hop.RTTSeconds = append(hop.RTTSeconds, nil)
		default:
			hop.RTTSeconds = append(hop.RTTSeconds, new(v))
		}
	}
	return hop
}
