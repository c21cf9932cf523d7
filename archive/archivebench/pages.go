package archivebench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/archive/generated"
	"github.com/pathwise-net/pathwise/measure"
)

// PageOptions say how large an archive is that pages are drawn from. Zero values are those that docs/bench.md names.
type PageOptions struct {
	Dir      string // where the archive is made, in a folder that is deleted again; "": the system's for such things
	Few      int    // hosts of the mesh with a long past; 0: 12
	FewDays  int    // 0: 365
	Many     int    // hosts of the other one; 0: 200
	ManyDays int    // 0: 30
	Viewers  int    // at once; 0: 50
	Seconds  int    // that they look; 0: 20
}

func (o PageOptions) withDefaults() PageOptions {
	for field, usual := range map[*int]int{&o.Few: 12, &o.FewDays: 365, &o.Many: 200, &o.ManyDays: 30, &o.Viewers: 50,
		&o.Seconds: 20} {
		if *field == 0 {
			*field = usual
		}
	}
	return o
}

// pages is one call of Pages.
type pages struct {
	PageOptions
	out io.Writer
	end time.Time // of all that was measured, and the time at which it is looked at
	a   archive.Archive
	few archive.Match // a pair of the mesh with a long past
	one archive.Match // a pair of the other one
}

// Pages fills an archive in SQLite with the generated past of two meshes, and prints how long it takes to answer what
// pages ask: once each, and with many viewers at once. Nothing is asked over HTTP.
func Pages(ctx context.Context, o PageOptions, out io.Writer) (err error) {
	p := &pages{PageOptions: o.withDefaults(), out: out, end: time.Date(2026, 11, 22, 15, 25, 0, 0, time.UTC)}
	folder, err := os.MkdirTemp(p.Dir, "archivebench-")
	if err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "archive.db")
	if err := p.fill(ctx, path); err != nil {
		return err
	}
	start := time.Now()
	if p.a, err = archive.Open(ctx, path, p.options()); err != nil {
		return err
	}
	fmt.Fprintf(out, "opened in %.0f ms\n", time.Since(start).Seconds()*1e3)
	defer func() { err = errors.Join(err, p.a.Close()) }()
	if err := p.each(ctx); err != nil {
		return err
	}
	return p.together(ctx)
}

func (p *pages) options() archive.Options {
	return archive.Options{Now: func() time.Time { return p.end }, MoveEvery: 24 * time.Hour}
}

// histories are the pasts of both meshes. Of the large one the last week is told at shorter steps, the last day at
// shorter ones still, and its last two hours at those of a mesh that is watched: a month at those would be 170 million
// Results, and what is looked at closely is what is new.
func (p *pages) histories() []generated.History {
	before := func(d time.Duration) time.Time { return p.end.Add(-d) }
	fewStart, manyStart := before(time.Duration(p.FewDays)*day), before(time.Duration(p.ManyDays)*day)
	few := generated.History{Hosts: generated.Scattered("few", p.Few, 1), Start: fewStart, End: p.end, Seed: 1,
		Tests: []generated.Test{
			{Tool: generated.Ping, Every: time.Hour},
			{Tool: generated.Throughput, Every: 6 * time.Hour},
			{Tool: generated.Trace, Every: 6 * time.Hour},
		}}
	many := generated.History{Hosts: generated.Scattered("many", p.Many, 2), Start: manyStart, End: p.end, Seed: 2,
		Tests: []generated.Test{
			{Tool: generated.Ping, Every: day, End: before(7 * day)},
			{Tool: generated.Ping, Every: 12 * time.Hour, Start: before(7 * day), End: before(day)},
			{Tool: generated.Ping, Every: 2 * time.Hour, Start: before(day), End: before(2 * time.Hour)},
			{Tool: generated.Ping, Every: 10 * time.Minute, Start: before(2 * time.Hour)},
		}}
	return []generated.History{few, many}
}

// fill makes the archive. What would have expired by now is not written.
func (p *pages) fill(ctx context.Context, path string) error {
	a, err := archive.Open(ctx, path, p.options())
	if err != nil {
		return err
	}
	start := time.Now()
	_, err = a.Prune(ctx, p.end)
	results, values := 0, 0
	for _, h := range p.histories() {
		results, values = results+h.Results(), values+h.Values()
		err = errors.Join(err, h.Fill(ctx, a))
	}
	if err := errors.Join(err, a.Close()); err != nil {
		return err
	}
	took := time.Since(start).Seconds()
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, "%d days of %d hosts and %d days of %d: %d Results of %d values, filed in %.0f s, %.0f values/s; "+
		"%.2f GB\n", p.FewDays, p.Few, p.ManyDays, p.Many, results, values, took, float64(values)/took,
		float64(info.Size())/1e9)
	p.few = archive.Match{Source: "few1", Target: "few2", Metric: string(measure.RTTMedian)}
	p.one = archive.Match{Source: "many1", Target: "many2", Metric: string(measure.RTTMedian)}
	return nil
}

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

// matrix asks for all pairs of the large mesh. An answer that is remembered is as good as any where again is set.
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

func (p *pages) gaps(what string, m archive.Match, span time.Duration) ask {
	return ask{what, func(ctx context.Context, _ int) (int, error) {
		gaps, err := p.a.Gaps(ctx, archive.GapQuery{Match: m, From: p.end.Add(-span), To: p.end})
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
		p.matrix("matrix of 1 hour", p.end.Add(-time.Hour), p.end, nil, false),
		p.matrix("matrix of 1 hour, ends at no 5 minutes", p.end.Add(-time.Hour-7*time.Second), p.end.Add(-7*time.Second),
			nil, false),
		p.matrix("matrix of 1 day", p.end.Add(-day), p.end, nil, false),
		p.matrix("matrix of 1 whole day", midnight.Add(-2*day), midnight.Add(-day), nil, false),
		p.matrix("baseline: 7 whole days", midnight.Add(-7*day), midnight, baseline, false),
		p.matrix("baseline: 7 whole days, remembered", midnight.Add(-7*day), midnight, baseline, true),
		p.matrix("baseline: 7 days until now", p.end.Add(-7*day), p.end, baseline, false),
		p.series("series of a year", p.few, year), p.series("series of a month", p.one, month),
		p.series("series of a day", p.one, day), p.series("series of an hour", p.one, time.Hour),
		p.gaps("gaps of a year", p.few, year), p.gaps("gaps of a month", p.one, month),
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

// pair is any two hosts of a mesh.
func pair(random *rand.Rand, mesh string, n int) archive.Match {
	from := random.IntN(n)
	to := (from + 1 + random.IntN(n-1)) % n
	return archive.Match{Source: fmt.Sprintf("%s%d", mesh, from+1), Target: fmt.Sprintf("%s%d", mesh, to+1),
		Metric: string(measure.RTTMedian)}
}

// mix is what viewers ask: each looks at the overview, with its baseline, and then at pairs, one after the other.
func (p *pages) mix(random *rand.Rand) []ask {
	midnight := p.end.Truncate(day)
	asks := []ask{p.matrix("matrix", p.end.Add(-time.Hour), p.end, []float64{0.5}, true),
		p.matrix("matrix", midnight.Add(-7*day), midnight, []float64{0.05, 0.5, 0.95}, true)}
	for range 3 {
		m, few := pair(random, "many", p.Many), pair(random, "few", p.Few)
		all := m
		all.Metric = ""
		asks = append(asks, p.series("series", m, day), p.series("series", m, time.Duration(p.ManyDays)*day),
			p.series("series", m, time.Hour), p.series("series", few, time.Duration(p.FewDays)*day), p.gaps("gaps", m, day),
			ask{"keys", func(ctx context.Context, _ int) (int, error) {
				keys, err := p.a.Keys(ctx, all)
				return len(keys), err
			}})
	}
	return asks
}

// together prints how long answers take while many viewers ask at once, each waiting for one answer before the next.
func (p *pages) together(ctx context.Context) error {
	took := make([][]time.Duration, p.Viewers)
	errs := make([]error, p.Viewers)
	var group sync.WaitGroup
	start := time.Now()
	for v := range p.Viewers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(v), 3))
			for time.Since(start) < time.Duration(p.Seconds)*time.Second && errs[v] == nil {
				for n, q := range p.mix(random) {
					began := time.Now()
					if _, errs[v] = q.do(ctx, n); errs[v] != nil {
						return
					}
					took[v] = append(took[v], time.Since(began))
				}
			}
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	all := slices.Sorted(slices.Values(slices.Concat(took...)))
	ms := func(part float64) float64 { return all[int(part*float64(len(all)-1))].Seconds() * 1e3 }
	fmt.Fprintf(p.out, "%d viewers at once, without a pause: %d answers, %.0f/s; p50 %.1f ms, p95 %.1f ms, "+
		"longest %.0f ms\n", p.Viewers, len(all), float64(len(all))/time.Since(start).Seconds(), ms(0.5), ms(0.95), ms(1))
	return nil
}
