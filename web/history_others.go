package web

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
)

const (
	// othersBefore is how much before an event says what other pairs are like: a whole day, so that each hour of it is in their limits.
	othersBefore = 24 * time.Hour
	// othersLeast and othersMost bound how much after it is compared with that.
	othersLeast = time.Hour
	othersMost  = 6 * time.Hour
)

// others finds the pairs that changed as the pair did at the time of an event, and what they have in common.
func (p *past) others(ctx context.Context, e *diagnose.Event) error {
	c := e.Changed[0]
	until := p.to
	if e.Ended != nil {
		until = *e.Ended
	}
	after := min(max(until.Sub(e.Until), othersLeast), othersMost)
	changed, err := p.changedPairs(ctx, c, [2]time.Time{e.After.Add(-othersBefore), e.After}, [2]time.Time{e.Until, e.Until.Add(after)})
	if err != nil || len(changed) < 2 {
		return err
	}
	if p.made == nil { // events are the newest first: routes of before all of them, and of now
		oldest := p.events[min(len(p.events), mostLookedInto)-1].After
		if p.made, err = p.parts(ctx, oldest.Add(-othersBefore), e.Until.Add(after)); err != nil {
			return err
		}
	}
	parts := p.made
	var members []analysis.Member
	for _, pair := range slices.SortedFunc(maps.Keys(changed), comparePairs) {
		own := pair.Source == p.source && pair.Target == p.target
		members = append(members, analysis.Member{Source: pair.Source, Target: pair.Target, Changed: changed[pair] || own, Parts: parts(pair)})
		if own {
			continue
		}
		if e.Looked++; changed[pair] {
			e.Pairs = append(e.Pairs, diagnose.Together{Source: pair.Source, Target: pair.Target})
		}
	}
	if len(e.Pairs) == 0 {
		return nil
	}
	shared, _ := analysis.Explain(members)
	own := parts(archive.Pair{Source: p.source, Target: p.target})
	for _, s := range shared { // what explains other pairs alone is another matter
		if slices.Contains(own, s.Part) {
			s.Name = p.namesOfParts([]analysis.Part{s.Part}).part(s.Part)
			e.Shared = append(e.Shared, s)
		}
	}
	return nil
}

// changedPairs says of each pair of which enough is known whether it changed as c did between two times.
func (p *past) changedPairs(ctx context.Context, c diagnose.Changed, before, after [2]time.Time) (map[archive.Pair]bool, error) {
	up := c.Now.Value > c.Before.Value
	match := archive.Match{Role: p.role, Metric: string(c.Metric)}
	read := func(metric measure.Metric, span [2]time.Time) (map[archive.Pair]archive.Cell, error) {
		match.Metric = string(metric)
		cells, err := p.Archive.Matrix(ctx, archive.MatrixQuery{Match: match, From: span[0], To: span[1], Quantiles: []float64{0.05, 0.95}})
		found := map[archive.Pair]archive.Cell{}
		for _, cell := range cells {
			found[cell.Pair] = cell
		}
		return found, err
	}
	metrics := []measure.Metric{c.Metric}
	merge := c.Metric.Merge()
	counted := merge.How == measure.MergeShare
	if counted {
		metrics = []measure.Metric{merge.Over, merge.Under}
	}
	var cells [2][2]map[archive.Pair]archive.Cell // by metric; before and after
	for i, m := range metrics {
		for j, span := range [][2]time.Time{before, after} {
			var err error
			if cells[i][j], err = read(m, span); err != nil {
				return nil, err
			}
		}
	}
	changed := map[archive.Pair]bool{}
	for pair, was := range cells[0][0] {
		is, known := cells[0][1][pair]
		switch {
		case !known:
		case counted:
			total := func(c archive.Cell) float64 { return c.Mean * float64(c.Count) }
			changed[pair] = analysis.CountsDiffer(analysis.Count{Of: total(was), All: total(cells[1][0][pair])},
				analysis.Count{Of: total(is), All: total(cells[1][1][pair])}, up)
		default:
			changed[pair] = worthOf(c.Metric).Differs(windowOf(was), windowOf(is), up)
		}
	}
	return changed, nil
}

func comparePairs(a, b archive.Pair) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target))
}

// worthOf is which differences of a metric are worth telling.
func worthOf(m measure.Metric) analysis.Worth {
	for _, one := range historyMetrics {
		if one.metric == m {
			return one.worth
		}
	}
	return analysis.Worth{Share: math.Inf(1)}
}

func windowOf(c archive.Cell) analysis.Window {
	return analysis.Window{Value: c.Value, Low: c.Quantiles[0], High: c.Quantiles[1], Runs: int(c.Count)}
}

// parts returns what pairs are made of: their hosts and sites, and of those whose routes were traced in a span, links and routers of
// all of these routes.
func (p *past) parts(ctx context.Context, from, to time.Time) (func(archive.Pair) []analysis.Part, error) {
	sites := map[string]string{}
	for _, h := range p.Control.Mesh().Hosts {
		sites[h.Name] = h.Site
	}
	all, _, err := p.traces(ctx, "", "", from, to)
	if err != nil {
		return nil, err
	}
	routes := map[archive.Pair][]analysis.Part{}
	for of, traces := range all {
		pair := archive.Pair{Source: of.source, Target: of.target}
		for _, r := range analysis.Routes(traces) {
			links, routers := r.Links()
			for _, l := range links {
				routes[pair] = append(routes[pair], analysis.Part{Kind: analysis.OnLink, Name: l})
			}
			for _, one := range routers {
				routes[pair] = append(routes[pair], analysis.Part{Kind: analysis.AtRouter, Name: one})
			}
		}
	}
	return func(pair archive.Pair) []analysis.Part {
		parts := endsOf(pair.Source, pair.Target, sites[pair.Source], sites[pair.Target])
		return append(parts, routes[pair]...)
	}, nil
}

// endsOf are the parts of a pair that it has without a route: hosts and sites.
func endsOf(source, target, from, to string) []analysis.Part {
	parts := []analysis.Part{{Kind: analysis.FromHost, Name: source}, {Kind: analysis.ToHost, Name: target},
		{Kind: analysis.AtHost, Name: source}, {Kind: analysis.AtHost, Name: target}}
	for _, site := range []string{from, to} {
		if site != "" {
			parts = append(parts, analysis.Part{Kind: analysis.AtSite, Name: site})
		}
	}
	return parts
}
