package probe

import (
	"fmt"

	"github.com/pathwise-net/pathwise/measure"
)

// report puts what was measured into a Result.
func (l *LiveTrace) report(r *measure.Result, by string, size int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, p := l.rounds, l.rounds.plans[0]
	if p.round == 0 {
		return
	}
	s := f.state()
	r.Samples.Hops, r.Samples.Rounds = s.Hops, &s.Rounds
	over := (*traceAnswer)(nil)
	if p.end > 0 {
		over = &traceAnswer{reached: p.reached}
	}
	route := routeOf(s.Hops, over, f.reached() > 0)
	route.Answers, route.SentPackets = by, f.count
	route.SentBytes = f.count * size
	r.Samples.Route = &route
	if l.note != "" {
		r.Note(l.note)
	}
	if p.distinct {
		r.Note(distinctNote)
	}
	if f.nameless {
		r.Note(namelessPaths)
	}
	ends, nearest := f.ends()
	if len(ends) == 0 {
		if p.end > 0 {
			r.Note(fmt.Sprintf("the route ended at hop %d before the target: %s", p.end, p.hops[p.end-1].told.Reply))
		} else {
			r.Note(fmt.Sprintf("the target did not answer; the last hop that did has TTL %d", f.length()))
		}
		return
	}
	r.Metrics[measure.HopCount] = float64(nearest)
	together(ends).metrics(r)
}

// metrics are those of the packets to the target.
func (h *liveHop) metrics(r *measure.Result) {
	known := h.lost + h.trips.Count()
	r.Metrics[measure.SentPackets], r.Metrics[measure.ReceivedPackets] = float64(known), float64(h.trips.Count())
	r.Metrics[measure.LostPackets] = float64(h.lost)
	if known > 0 {
		r.Metrics[measure.LossRatio] = float64(h.lost) / float64(known)
	}
	if h.trips.Count() == 0 {
		return
	}
	r.Metrics[measure.RTTMin], r.Metrics[measure.RTTMean], r.Metrics[measure.RTTMax] = h.trips.Min(), h.trips.Mean(), h.trips.Max()
	r.Metrics[measure.RTTMedian], r.Metrics[measure.RTTStddev] = h.spread.Median(), h.trips.Stddev()
	if h.jitters.Count() > 0 {
		r.Metrics[measure.Jitter] = h.smoothed
	}
}
