package web

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/archive/generated"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// plantedHistories is how many histories TestPlanted judges: as many as take a few seconds of a processor. PATHWISE_PLANTED is how many
// else; docs/pages.md has the figures of 200.
const plantedHistories = 4

// planted is a history, and which pairs each of its faults is of.
type planted struct {
	generated.History
	of []func(source, target string) bool
}

// plant makes up a mesh of 12 to 40 hosts at 4 to 12 sites, its day or its week before now, and none to three faults of the last hours.
func plant(seed uint64, now time.Time) *planted {
	r := rand.New(rand.NewPCG(seed, 20))
	p := &planted{History: generated.History{Seed: seed, End: now, Steady: true}}
	n := 12 + r.IntN(29)
	days := 1.2
	if n <= 16 && seed%2 == 0 {
		days = 8
	}
	p.Start = now.Add(-time.Duration(days * 24 * float64(time.Hour)))
	p.Hosts = generated.Scattered(string(rune('a'+r.IntN(26))), n, seed)
	sites := 4 + r.IntN(n/3-2)
	for i := range p.Hosts {
		p.Hosts[i].Site = fmt.Sprintf("site%d", i%sites+1)
	}
	for i := 2; i <= sites; i++ { // a tree, as of most networks
		p.Links = append(p.Links, [2]string{fmt.Sprintf("site%d", 1+r.IntN(i-1)), fmt.Sprintf("site%d", i)})
	}
	p.Tests = []generated.Test{
		{Tool: generated.Ping, Every: 5 * time.Minute, Bare: true, Metrics: []measure.Metric{measure.SentPackets, measure.LostPackets, measure.RTTMedian}},
		{Tool: generated.Throughput, Every: 30 * time.Minute, Metrics: []measure.Metric{measure.Throughput}},
	}
	for range seed % 4 {
		p.add(r, now)
	}
	return p
}

// add plants one more fault, on other hosts than those before.
func (p *planted) add(r *rand.Rand, now time.Time) {
	f := generated.Fault{Since: now.Add(-time.Duration((1.2 + 4*r.Float64()) * float64(time.Hour)))}
	switch r.IntN(3) {
	case 0:
		f.Loss = 0.02 + 0.06*r.Float64()
	case 1:
		f.Delay = 0.012 + 0.08*r.Float64()
	case 2:
		f.Rate = 0.05 + 0.4*r.Float64()
	}
	host := func() string { return p.Hosts[r.IntN(len(p.Hosts))].Name }
	switch r.IntN(3) {
	case 0:
		f.Host = host()
	case 1:
		f.Link = p.Links[r.IntN(len(p.Links))]
	case 2:
		f.Source, f.Target = host(), host()
		if f.Source == f.Target {
			f.Target = p.Hosts[0].Name
			f.Source = p.Hosts[1].Name
		}
	}
	p.Faults = append(p.Faults, f)
	p.of = append(p.of, func(source, target string) bool {
		return f.Hits(p.host(source), p.host(target), p.Route(p.host(source), p.host(target)))
	})
}

func (p *planted) host(name string) *generated.Host {
	return &p.Hosts[slices.IndexFunc(p.Hosts, func(h generated.Host) bool { return h.Name == name })]
}

// gathered makes spells of Results as watch does, without an archive.
type gathered struct {
	mu    sync.Mutex
	spans []span
	of    map[[2]string]*gatheredPair
}

// gatheredPair is what runs of a pair came to, by span.
type gatheredPair struct{ lost, delay, rate, sent [][]float64 }

// Put implements generated.Filer.
func (g *gathered) Put(_ context.Context, results []*measure.Result) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range results {
		at, _ := slices.BinarySearchFunc(g.spans, r.Started, func(s span, t time.Time) int { return s.from.Compare(t.Add(1)) })
		if at--; at < 0 || !r.Started.Before(g.spans[at].to) {
			continue
		}
		pair := [2]string{r.Source.Name, r.Target.Name}
		one := g.of[pair]
		if one == nil {
			room := func() [][]float64 { return make([][]float64, len(g.spans)) }
			one = &gatheredPair{room(), room(), room(), room()}
			g.of[pair] = one
		}
		keep := func(metric measure.Metric, into [][]float64) {
			if v, has := r.Metrics[metric]; has {
				into[at] = append(into[at], v)
			}
		}
		keep(measure.LostPackets, one.lost)
		keep(measure.SentPackets, one.sent)
		keep(measure.RTTMedian, one.delay)
		keep(measure.Throughput, one.rate)
	}
	return nil
}

// watched are the pairs of a planted history.
func (p *planted) watched(t *testing.T) (all []analysis.Watched) {
	t.Helper()
	g := &gathered{spans: watchSpans(p.End, time.Hour, false), of: map[[2]string]*gatheredPair{}}
	if err := p.Fill(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	for i := range p.Hosts {
		for k := range p.Hosts {
			if i == k {
				continue
			}
			source, target := &p.Hosts[i], &p.Hosts[k]
			w := analysis.Watched{Source: source.Name, Target: target.Name, Parts: p.parts(source, target), Spells: map[analysis.Aspect][]analysis.Spell{}}
			one := g.of[[2]string{source.Name, target.Name}]
			for at, s := range g.spans {
				add := func(aspect analysis.Aspect, values []float64, high float64) *analysis.Spell {
					spell := analysis.Spell{From: s.from, Length: s.to.Sub(s.from)}
					if sorted := slices.Sorted(slices.Values(values)); len(sorted) > 0 {
						spell.Window = analysis.Window{Value: sorted[(len(sorted)-1)/2], Low: stat.Quantile(sorted, 0.05),
							High: stat.Quantile(sorted, high), Runs: len(sorted)}
					}
					w.Spells[aspect] = append(w.Spells[aspect], spell)
					return &w.Spells[aspect][len(w.Spells[aspect])-1]
				}
				add(analysis.Delayed, one.delay[at], 0.95)
				add(analysis.Slowed, one.rate[at], 0.95)
				lost := add(analysis.Losing, one.lost[at], 0.75)
				lost.Of, lost.All = sumOf(one.lost[at]), sumOf(one.sent[at])
			}
			all = append(all, w)
		}
	}
	return all
}

func sumOf(values []float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum
}

// parts are what watch finds a pair to be made of.
func (p *planted) parts(source, target *generated.Host) []analysis.Part {
	route := p.Route(source, target)
	var hops []string
	for _, site := range route {
		hops = append(hops, site+"-gw")
	}
	return partsOf(source.Name, target.Name, source.Site, target.Site, hops)
}

// faultsIn says which of the planted faults a trouble is: the one of just the same pairs; -1: none.
func (p *planted) faultsIn(t *analysis.Trouble, all []analysis.Watched) int {
	return slices.IndexFunc(p.of, func(hit func(source, target string) bool) bool {
		for i := range all {
			of := slices.Contains(all[i].Parts, t.Part) || t.Kind == analysis.OfPair && t.Pairs[0] == i
			if of != hit(all[i].Source, all[i].Target) {
				return false
			}
		}
		return true
	})
}

// The first line of the first page names what is wrong, and nothing where all is well, in histories of which it is known.
func TestPlanted(t *testing.T) {
	t.Parallel()
	histories := plantedHistories
	if n, err := strconv.Atoi(os.Getenv("PATHWISE_PLANTED")); err == nil {
		histories = n
	}
	now := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	var ill, right, wrong, silent, calm, quiet, faults, named, more, late int
	for seed := range uint64(histories) {
		p := plant(seed, now.Add(time.Duration(seed*457)*time.Minute)) // at any hour
		pairs := p.watched(t)
		h := analysis.Judge(pairs)
		var lines []string
		seen := map[int]bool{}
		for i, trouble := range h.Troubles {
			is := p.faultsIn(&trouble, pairs)
			lines = append(lines, fmt.Sprintf("%s %s %v of %d pairs, %.0f: %+v: fault %d", trouble.Kind, trouble.Name, trouble.Signs[0].Aspect, len(trouble.Pairs),
				trouble.Evidence, trouble.Signs, is))
			switch {
			case is >= 0:
				seen[is] = true
				if off := trouble.Signs[0].Since.Sub(p.Faults[is].Since).Abs(); off > time.Hour {
					late++
				}
			default:
				more++
			}
			if i > 0 || len(p.Faults) == 0 {
				continue
			}
			if is >= 0 {
				right++
			} else {
				wrong++
			}
		}
		faults, named = faults+len(p.Faults), named+len(seen)
		switch {
		case len(p.Faults) == 0:
			if calm++; len(h.Troubles) == 0 {
				quiet++
			}
		default:
			if ill++; len(h.Troubles) == 0 {
				silent++
			}
		}
		if len(seen) < len(p.Faults) || len(lines) > len(seen) {
			t.Logf("seed %d, %d hosts, %v to %v: %+v\n%s", seed, len(p.Hosts), p.Start, p.End, p.Faults, strings.Join(lines, "\n"))
		}
	}
	t.Logf("%d histories with faults: the first line is right in %d, wrong in %d, missing in %d; %d of %d calm ones are called calm; %d of %d faults "+
		"are named, %d of them more than an hour off; %d other lines", ill, right, wrong, silent, quiet, calm, named, faults, late, more)
	if right*100 < 95*ill || quiet*100 < 99*calm {
		t.Error("want the right first line in 95 of 100 histories with faults, and 99 of 100 calm ones called calm")
	}
}
