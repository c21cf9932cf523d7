package control

import (
	"context"
	"fmt"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
)

const (
	// viaWithin is for how long back round trips are taken: long enough that each pair was measured some times in most meshes, and short enough that routes
	// are mostly those of now.
	viaWithin = 6 * time.Hour
	// viaRuns is how many runs must have told the round trips between two hosts.
	viaRuns = 3
	// usual is the share of runs that count: single ones met a busy host, or the route before a change.
	usual = 0.9
)

// Via is the other host by way of which a round trip between two hosts would be the shortest, as an archive has them of the hours up to a time. Host is "" where
// it knows none.
func Via(ctx context.Context, a archive.Archive, source, target string, until time.Time) (diagnose.Via, error) {
	var cells []archive.Cell
	for _, key := range []archive.Key{{Source: source}, {Target: source}, {Source: target}, {Target: target}} { // all pairs of both, of a mesh of hundreds of hosts a few
		key.Metric = measure.RTTMin
		some, err := a.Matrix(ctx, archive.MatrixQuery{Match: key.Exactly(), From: until.Add(-viaWithin), To: until, Quantiles: []float64{1 - usual, usual}})
		if err != nil {
			return diagnose.Via{}, fmt.Errorf("read round trips: %w", err)
		}
		cells = append(cells, some...)
	}
	return viaOf(cells, source, target), nil
}

// viaOf chooses it. A round trip is as well measured from one of its ends as from the other: the shorter is taken, where both are known. Of each the longest of
// the usual least ones counts, and between source and target the shortest, so that what is said is less than what is.
func viaOf(cells []archive.Cell, source, target string) (best diagnose.Via) {
	from, to, straight := map[string]float64{}, map[string]float64{}, 0.0
	shorter := func(known, trip float64) float64 {
		if known > 0 && known < trip {
			return known
		}
		return trip
	}
	note := func(one, other string, c *archive.Cell) {
		switch {
		case one == source && other == target:
			straight = shorter(straight, c.Quantiles[0])
		case one == source:
			from[other] = shorter(from[other], c.Quantiles[1])
		case one == target:
			to[other] = shorter(to[other], c.Quantiles[1])
		}
	}
	for i := range cells {
		if c := &cells[i]; c.Count >= viaRuns && len(c.Quantiles) == 2 && c.Quantiles[0] > 0 && c.Source != c.Target {
			note(c.Source, c.Target, c)
			note(c.Target, c.Source, c)
		}
	}
	for host, there := range from {
		back, known := to[host]
		trip, shortest := there+back, best.SourceRoundTrip+best.TargetRoundTrip
		if known && (best.Host == "" || trip < shortest || trip == shortest && host < best.Host) {
			best = diagnose.Via{Host: host, SourceRoundTrip: there, TargetRoundTrip: back, StraightSeconds: straight}
		}
	}
	return best
}
