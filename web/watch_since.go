package web

import (
	"context"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

const (
	// onsetStep is how exactly is told since when something is wrong, where enough was measured: the finest rollup that is kept for months.
	onsetStep = 5 * time.Minute
	// onsetPairs is how many pairs of a trouble are looked at for that, the surest.
	onsetPairs = 12
)

// onset narrows down since when something is so, which is known to a spell or so: by finer values of the pairs that show it, around the
// spell in which it began. Where these do not tell it stays as it is.
func (s *Server) onset(ctx context.Context, w *watched, health *analysis.Health, told *analysis.Told) error {
	if told.Longer || told.Declared {
		return nil
	}
	step := w.steps[told.Aspect]
	from, to := told.Since.Add(-step), told.Since.Add(2*step)
	var starts []time.Time
	counts := map[time.Time]*analysis.Count{}
	for _, i := range told.Pairs[:min(len(told.Pairs), onsetPairs)] {
		var read [2][]archive.Bucket
		for k, metric := range watchMetrics[told.Aspect] {
			match := archive.Key{Source: w.pairs[i].Source, Target: w.pairs[i].Target, Metric: metric}.Exactly()
			match.Role = string(measure.RolePlanned)
			series, err := s.Archive.Series(ctx, archive.SeriesQuery{Match: match, From: from, To: to, Step: onsetStep})
			if err != nil {
				return err
			}
			read[k] = series.Buckets
		}
		if told.Aspect == analysis.Losing {
			addLost(counts, read)
			continue
		}
		at := slices.IndexFunc(health.Signs[i], func(s analysis.Sign) bool { return s.Aspect == told.Aspect })
		if at < 0 {
			continue
		}
		var runs []analysis.Run
		for _, b := range read[0] {
			runs = append(runs, analysis.Run{At: b.Start, Value: b.Value})
		}
		if start, known := stepIn(runs, &health.Signs[i][at]); known {
			starts = append(starts, start)
		}
	}
	if told.Aspect == analysis.Losing {
		if start, known := analysis.Onset(inOrder(counts), told.Usual, told.Now); known {
			starts = append(starts, start)
		}
	}
	if len(starts) > 0 {
		slices.SortFunc(starts, time.Time.Compare)
		told.Since = starts[(len(starts)-1)/2]
	}
	return nil
}

// stepIn is when runs come from what a sign calls usual to what is now; false: they do not say.
func stepIn(runs []analysis.Run, sign *analysis.Sign) (at time.Time, known bool) {
	c := analysis.Change{Shape: analysis.Step, Before: analysis.Estimate{Value: sign.Usual}, After: analysis.Estimate{Value: sign.Now}}
	c.Refine(runs)
	return c.To, !c.To.IsZero()
}

// addLost adds how many packets were lost of how many in each step.
func addLost(counts map[time.Time]*analysis.Count, read [2][]archive.Bucket) {
	for k, buckets := range read {
		for _, b := range buckets {
			c := counts[b.Start]
			if c == nil {
				c = &analysis.Count{}
				counts[b.Start] = c
			}
			if n := b.Mean * float64(b.Count); k == 0 {
				c.Of += n
			} else {
				c.All += n
			}
		}
	}
}

// inOrder are counts in order of time.
func inOrder(counts map[time.Time]*analysis.Count) (all []analysis.Count) {
	for at, c := range counts {
		all = append(all, analysis.Count{At: at, Of: min(c.Of, c.All), All: c.All})
	}
	slices.SortFunc(all, func(a, b analysis.Count) int { return a.At.Compare(b.At) })
	return all
}
