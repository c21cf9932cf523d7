package web

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// watcher reads what all pairs are like, hour by hour, and remembers the hours that are over.
type watcher struct {
	reading sync.Mutex // who comes second finds remembered what the first has read
	mu      sync.Mutex // of kept
	kept    map[watchKey]watchedSpan
}

type watchKey struct {
	metric   measure.Metric
	from, to int64 // s
}

// watchedSpan is what pairs were like in a span, row by row as in a matrix, and when that was read.
type watchedSpan struct {
	read  time.Time
	hosts []matrixHost // of the matrix then, in its order
	cells []watchedCell
}

// watchedCell is one pair in a span: small, since there are a million of them in a mesh of 200 hosts. Of lost packets, high is of
// three runs in four.
type watchedCell struct {
	value, low, high, sum float32
	runs                  uint32
}

const (
	// watchHours and watchDays are how many hours and whole days of the past are looked at: a week. Between many hosts whole days tell
	// what is usual, and hours only since when.
	watchHours, watchDays         = 23, 6
	watchManyHours, watchManyDays = 5, 4
	// watchAge is how old what was read of a span that is over may be: Results that come late belong to it.
	watchAge = time.Hour
)

// watchSteps are how long spans may be. The shortest is taken whose newest span has analysis.NowRuns runs of a pair, or the longest.
var watchSteps = []time.Duration{time.Hour, 3 * time.Hour, 6 * time.Hour, 24 * time.Hour}

// watchMetrics are what tells an aspect: of lost packets, the counts.
var watchMetrics = map[analysis.Aspect][]measure.Metric{
	analysis.Losing:  {measure.LostPackets, measure.SentPackets},
	analysis.Delayed: {measure.RTTMedian},
	analysis.Slowed:  {measure.Throughput},
}

// span is a stretch of time.
type span struct{ from, to time.Time }

// watchSpans are the spans by which the past of a mesh is read, oldest first; the newest ends now, and is of half a step to one and a
// half.
func watchSpans(now time.Time, step time.Duration, many bool) []span {
	hours, days := watchHours, watchDays
	if many {
		hours, days = watchManyHours, watchManyDays
	}
	if step > time.Hour {
		days = 0 // as many steps reach as far back
	}
	now = now.UTC()
	newest := now.Truncate(step)
	if now.Sub(newest) < step/2 {
		newest = newest.Add(-step)
	}
	oldest := newest.Add(-time.Duration(hours) * step)
	var all []span
	const day = 24 * time.Hour
	midnight := oldest.Truncate(day)
	for i := days; i > 0; i-- {
		all = append(all, span{midnight.Add(-time.Duration(i) * day), midnight.Add(-time.Duration(i-1) * day)})
	}
	for from := oldest; from.Before(newest); from = from.Add(step) {
		all = append(all, span{from, from.Add(step)})
	}
	return append(all, span{newest, now})
}

// watched are all pairs of the mesh of which something is known now.
type watched struct {
	matrix *matrixOf
	pairs  []analysis.Watched
	at     []int // where each stands in the matrix
	steps  map[analysis.Aspect]time.Duration
	runs   int // of now, of all pairs
}

// watch reads all pairs.
func (s *Server) watch(ctx context.Context, now time.Time) (*watched, error) {
	s.watcher.reading.Lock()
	defer s.watcher.reading.Unlock()
	m := newMatrix(s.Control.Mesh())
	w := &watched{matrix: m, steps: map[analysis.Aspect]time.Duration{}}
	n := len(m.hosts)
	found := map[int]*analysis.Watched{}
	for _, aspect := range analysis.Aspects {
		step, spells, err := s.spells(ctx, m, aspect, now)
		if err != nil {
			return nil, err
		}
		w.steps[aspect] = step
		for at, one := range spells {
			if found[at] == nil {
				found[at] = &analysis.Watched{Source: m.hosts[at/n].Name, Target: m.hosts[at%n].Name, Spells: map[analysis.Aspect][]analysis.Spell{}}
				w.at = append(w.at, at)
			}
			found[at].Spells[aspect] = one
			if aspect == analysis.Losing || aspect == analysis.Slowed {
				w.runs += one[len(one)-1].Runs
			}
		}
	}
	slices.Sort(w.at)
	for _, at := range w.at {
		w.pairs = append(w.pairs, *found[at])
	}
	w.declare(s.Control.Mesh())
	return w, s.madeOf(ctx, w, now)
}

// spells are those of all pairs that have a value now, by where each stands in the matrix.
func (s *Server) spells(ctx context.Context, m *matrixOf, aspect analysis.Aspect, now time.Time) (
	step time.Duration, all map[int][]analysis.Spell, err error,
) {
	n, many := len(m.hosts), len(m.hosts) >= manyHosts
	var spans []span
	var newest []watchedCell // of the first metric
	for _, step = range watchSteps {
		spans = watchSpans(now, step, many)
		if newest, err = s.watchedIn(ctx, m, watchMetrics[aspect][0], spans[len(spans)-1], now); err != nil {
			return 0, nil, err
		}
		all = map[int][]analysis.Spell{}
		var runs []int
		for at, c := range newest {
			if c.runs > 0 && at/n != at%n {
				all[at] = make([]analysis.Spell, 0, len(spans))
				runs = append(runs, int(c.runs))
			}
		}
		if slices.Sort(runs); len(runs) > 0 && runs[len(runs)/2] >= analysis.NowRuns {
			break
		}
	}
	if len(all) == 0 { // the past of nobody is not to be remembered
		return step, all, nil
	}
	for k, one := range spans {
		var cells [2][]watchedCell
		for i, metric := range watchMetrics[aspect] {
			if i == 0 && k == len(spans)-1 {
				cells[i] = newest
				continue
			}
			if cells[i], err = s.watchedIn(ctx, m, metric, one, now); err != nil {
				return 0, nil, err
			}
		}
		for at := range all {
			spell := analysis.Spell{From: one.from, Length: one.to.Sub(one.from)}
			c := cells[0][at]
			spell.Window = analysis.Window{Value: float64(c.value), Low: float64(c.low), High: float64(c.high), Runs: int(c.runs)}
			if aspect == analysis.Losing {
				spell.Of, spell.All = float64(c.sum), float64(cells[1][at].sum)
				spell.Of = min(spell.Of, spell.All)
			}
			all[at] = append(all[at], spell)
		}
	}
	return step, all, nil
}

// watchedIn reads a span, or remembers it if it is over.
func (s *Server) watchedIn(ctx context.Context, m *matrixOf, metric measure.Metric, one span, now time.Time) ([]watchedCell, error) {
	key := watchKey{metric, one.from.Unix(), one.to.Unix()}
	w := &s.watcher
	w.mu.Lock()
	kept, has := w.kept[key]
	w.mu.Unlock()
	n := len(m.hosts)
	if has && now.Sub(kept.read) < watchAge && slices.Equal(kept.hosts, m.hosts) {
		return kept.cells, nil
	}
	query := archive.MatrixQuery{Match: archive.Match{Role: string(measure.RolePlanned), Metric: string(metric)}, From: one.from, To: one.to,
		Quantiles: []float64{0.05, 0.95}}
	if metric == measure.LostPackets {
		query.Quantiles = []float64{0.05, 0.75}
	}
	found, err := s.Archive.Matrix(ctx, query)
	if err != nil {
		return nil, err
	}
	cells := make([]watchedCell, n*n)
	for i := range found {
		if at := m.index(found[i].Pair); at >= 0 {
			c := &found[i]
			cells[at] = watchedCell{float32(c.Value), float32(c.Quantiles[0]), float32(c.Quantiles[1]), float32(c.Mean * float64(c.Count)),
				uint32(min(c.Count, math.MaxUint32))}
		}
	}
	if one.to.Before(now) {
		w.keep(key, watchedSpan{now, m.hosts, cells})
	}
	return cells, nil
}

// keep remembers a span, and forgets those that are too old to be asked for.
func (w *watcher) keep(key watchKey, one watchedSpan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.kept == nil {
		w.kept = map[watchKey]watchedSpan{}
	}
	for k, old := range w.kept {
		if one.read.Sub(old.read) > watchAge {
			delete(w.kept, k)
		}
	}
	w.kept[key] = one
}
