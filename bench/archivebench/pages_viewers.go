package archivebench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// pair is any two hosts of a mesh.
func pair(random *rand.Rand, mesh string, n int) archive.Match {
	from := random.IntN(n)
	to := (from + 1 + random.IntN(n-1)) % n
	return archive.Match{Source: fmt.Sprintf("%s%d", mesh, from+1), Target: fmt.Sprintf("%s%d", mesh, to+1),
		Metric: string(measure.RTTMedian)}
}

// overview is what viewers of the overview ask, with its baseline.
func (p *pages) overview(*rand.Rand) []ask {
	midnight := p.end.Truncate(day)
	return []ask{p.matrix("matrix", p.hoursBack(1), p.hoursBack(-1), []float64{0.5}, true),
		p.matrix("matrix", midnight.Add(-7*day), midnight, []float64{0.05, 0.5, 0.95}, true)}
}

// mix is what viewers ask who look at the overview and then at pairs, one after the other.
func (p *pages) mix(random *rand.Rand) []ask {
	asks := p.overview(random)
	for range 3 {
		m, few := pair(random, "many", p.Many), pair(random, "few", p.Few)
		all := m
		all.Metric = ""
		asks = append(asks, p.series("series", m, day), p.series("series", m, time.Duration(p.ManyDays)*day),
			p.series("series", m, time.Hour), p.series("series", few, time.Duration(p.FewDays)*day),
			p.gaps("gaps", m, day, day/400), ask{"keys", func(ctx context.Context, _ int) (int, error) {
				keys, err := p.a.Keys(ctx, all)
				return len(keys), err
			}})
	}
	return asks
}

// incoming puts what the large mesh measures next, some hundred Results a second, until ctx ends.
type incoming struct {
	archive.Archive
	ticks <-chan time.Time
	n     atomic.Int64
}

// Put implements generated.Filer.
func (i *incoming) Put(ctx context.Context, results []*measure.Result) error {
	select {
	case <-i.ticks:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := i.Archive.Put(ctx, results); err != nil {
		return err
	}
	i.n.Add(int64(len(results)))
	return nil
}

// together prints how long answers take while many viewers ask at once, each waiting for one answer before the next,
// and Results come in.
func (p *pages) together(ctx context.Context, what string, asks func(*rand.Rand) []ask) error {
	took := make([][]time.Duration, p.Viewers)
	errs := make([]error, p.Viewers)
	ticker := time.NewTicker(5 * time.Second)
	defer ticker.Stop()
	in := &incoming{Archive: p.a, ticks: ticker.C}
	coming, stop := context.WithCancel(ctx)
	var filing, group sync.WaitGroup
	var failed error
	filing.Go(func() {
		h := p.histories()[1]
		h.Start, h.End, h.Tests = p.end, p.end.Add(day), h.Tests[2:]
		h.Tests[0].Start, h.Tests[0].End = h.Start, h.End
		if err := h.Fill(coming, in); coming.Err() == nil {
			failed = err
		}
	})
	start := time.Now()
	for v := range p.Viewers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(v), 3))
			for time.Since(start) < time.Duration(p.Seconds)*time.Second && errs[v] == nil {
				for n, q := range asks(random) {
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
	stop()
	filing.Wait()
	if err := errors.Join(append(errs, failed)...); err != nil {
		return err
	}
	all := slices.Sorted(slices.Values(slices.Concat(took...)))
	ms := func(part float64) float64 { return all[int(part*float64(len(all)-1))].Seconds() * 1e3 }
	fmt.Fprintf(p.out, "%d viewers of %s at once, without a pause, while %d Results come in: %d answers, %.0f/s; p50 %.1f ms, "+
		"p95 %.1f ms, longest %.0f ms\n", p.Viewers, what, in.n.Load(), len(all), float64(len(all))/time.Since(start).Seconds(),
		ms(0.5), ms(0.95), ms(1))
	return nil
}
