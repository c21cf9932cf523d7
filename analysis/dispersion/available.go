package dispersion

import (
	"math"
	"math/rand/v2"
)

// What an available bandwidth needs.
const (
	mostUnsteady = 0.12 // half of the interval of a certain one, as a share of it
	leastFree    = 0.05 // of the capacity: what is below cannot be told from nothing
	leastStreams = 3    // that were faster than what is free, or the capacity is
	freeSteps    = 400  // of the search
)

// Available is what other traffic leaves of a link's rate, by how streams arrived. A stream that is slower than that arrives as it was sent. A faster one
// shares the link with the others in the order of arrival, so that
//
//	sent / arrived = (sent + others) / capacity
//
// until its queue is full, and also then, as far as it drops from all alike. The available bandwidth is what fits all streams best, each by its
// duration; the interval is by drawing streams anew.
func Available(capacity float64, streams []Response) Estimate {
	if len(streams) == 0 {
		return Estimate{Doubt: Few}
	}
	free := fitFree(capacity, streams)
	random := rand.New(rand.NewPCG(2, uint64(len(streams))))
	var drawn []float64
	for range resamples {
		some := make([]Response, len(streams))
		for i := range some {
			some[i] = streams[random.IntN(len(streams))]
		}
		drawn = append(drawn, fitFree(capacity, some))
	}
	e := between(free, drawn)
	switch {
	case e.BitsPerSecond < leastFree*capacity:
		e.Doubt = Full
	case len(loading(e.BitsPerSecond, streams)) < leastStreams && e.BitsPerSecond < 0.9*capacity:
		e.Doubt = Few
	case e.width() > mostUnsteady:
		e.Doubt = Unsteady
	}
	return e
}

// loading are the streams that are faster than what is free.
func loading(free float64, streams []Response) (all []Response) {
	for _, s := range streams {
		if s.Rate > free {
			all = append(all, s)
		}
	}
	return all
}

// fitFree is the available bandwidth that fits streams best, by least squares.
func fitFree(capacity float64, streams []Response) float64 {
	best, least := 0.0, math.Inf(1)
	for i := range freeSteps + 1 {
		free, off := capacity*float64(i)/freeSteps, 0.0
		for _, s := range streams {
			d := (max(0, s.Rate-free) - capacity*max(0, s.Strain)) / capacity
			off += s.Seconds * d * d
		}
		if off < least-1e-12 {
			best, least = free, off
		}
	}
	return best
}
