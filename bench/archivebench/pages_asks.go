package archivebench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// ask is something that a page asks, and how many things it got. n counts how often it was asked, for those who must
// not get an answer that is remembered.
type ask struct {
	what string
	do   func(ctx context.Context, n int) (got int, err error)
}

// quantiles that a smoke graph draws.
var quantiles = []float64{0.05, 0.25, 0.5, 0.75, 0.95}

func (p *pages) series(what string, m archive.Match, span time.Duration) ask {
	return ask{what, func(ctx context.Context, _ int) (int, error) {
		s, err := p.a.Series(ctx, archive.SeriesQuery{Match: m, From: p.end.Add(-span), To: p.end, Step: span / 800,
			Quantiles: quantiles})
		if err != nil {
			return 0, err
		}
		return len(s.Buckets), nil
	}}
}

// hoursBack is the beginning of the hour so many before the end.
func (p *pages) hoursBack(n int) time.Time {
	return p.end.Add(-time.Duration(n) * time.Hour).Truncate(time.Hour)
}

// matrix asks for one of the large mesh: each time with another quantile, so that it is worked out anew, unless again
// is set.
func (p *pages) matrix(what string, from, to time.Time, quantiles []float64, again bool) ask {
	return ask{what, func(ctx context.Context, n int) (int, error) {
		q := archive.MatrixQuery{Match: archive.Match{Source: "many*", Metric: string(measure.RTTMedian)}, From: from, To: to,
			Quantiles: quantiles}
		if !again {
			q.Quantiles = append([]float64{1 / float64(n+2)}, quantiles...)
		}
		cells, err := p.a.Matrix(ctx, q)
		return len(cells), err
	}}
}

func (p *pages) gaps(what string, m archive.Match, span, least time.Duration) ask {
	return ask{what, func(ctx context.Context, _ int) (int, error) {
		gaps, err := p.a.Gaps(ctx, archive.GapQuery{Match: m, From: p.end.Add(-span), To: p.end, Least: least})
		return len(gaps), err
	}}
}

const day = 24 * time.Hour

// asks are what is measured one by one.
func (p *pages) asks() []ask {
	midnight := p.end.Truncate(day)
	one := p.one
	one.Metric = ""
	year, month := time.Duration(p.FewDays)*day, time.Duration(p.ManyDays)*day
	baseline := []float64{0.05, 0.5, 0.95}
	return []ask{
		p.matrix("matrix of the last hour", p.hoursBack(1), p.hoursBack(-1), nil, false),
		p.matrix("matrix of 1 hour, not a whole one", p.end.Add(-time.Hour), p.end, nil, false),
		p.matrix("matrix of the last day", p.hoursBack(24), p.hoursBack(-1), nil, false),
		p.matrix("matrix of 1 whole day", midnight.Add(-2*day), midnight.Add(-day), nil, false),
		p.matrix("baseline: 7 whole days", midnight.Add(-7*day), midnight, baseline, false),
		p.matrix("baseline: 7 whole days, remembered", midnight.Add(-7*day), midnight, baseline, true),
		p.series("series of a year", p.few, year), p.series("series of a month", p.one, month),
		p.series("series of a day", p.one, day), p.series("series of an hour", p.one, time.Hour),
		p.gaps("gaps of a year", p.few, year, year/400), p.gaps("gaps of a year, short ones too", p.few, year, 0),
		p.gaps("gaps of a month", p.one, month, month/400),
		{"keys of a pair", func(ctx context.Context, _ int) (int, error) {
			keys, err := p.a.Keys(ctx, one)
			return len(keys), err
		}},
		{"latest values of a pair", func(ctx context.Context, _ int) (int, error) {
			latest, err := p.a.Latest(ctx, one)
			return len(latest), err
		}},
		{"latest value of all pairs", func(ctx context.Context, _ int) (int, error) {
			latest, err := p.a.Latest(ctx, archive.Match{Metric: p.one.Metric})
			return len(latest), err
		}},
		{"pairs", func(ctx context.Context, _ int) (int, error) {
			pairs, err := p.a.Pairs(ctx)
			return len(pairs), err
		}},
		{"100 results of a pair", func(ctx context.Context, _ int) (int, error) {
			page, err := p.a.Results(ctx, archive.ResultQuery{Source: p.one.Source, Target: p.one.Target})
			return len(page.Results), err
		}},
		{"100 results of all", func(ctx context.Context, _ int) (int, error) {
			page, err := p.a.Results(ctx, archive.ResultQuery{})
			return len(page.Results), err
		}},
	}
}

// each prints how long each thing takes that is asked: the first time, and the median of some more.
func (p *pages) each(ctx context.Context) error {
	fmt.Fprintf(p.out, "%-40s %8s %10s %10s\n", "one at a time, ms", "got", "first", "median")
	for _, q := range p.asks() {
		got := 0
		var took []time.Duration
		for n := range 8 {
			start := time.Now()
			var err error
			if got, err = q.do(ctx, n); err != nil {
				return fmt.Errorf("%s: %w", q.what, err)
			}
			took = append(took, time.Since(start))
		}
		rest := took[1:]
		slices.Sort(rest)
		fmt.Fprintf(p.out, "%-40s %8d %10.1f %10.1f\n", q.what, got, took[0].Seconds()*1e3,
			rest[len(rest)/2].Seconds()*1e3)
	}
	return nil
}
