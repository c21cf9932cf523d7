package archive_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// ratios are some of each way to merge.
var ratios = []measure.Metric{measure.LossRatio, measure.ReorderingRatio, measure.CPUSender, measure.RwndLimitedRatio, "x_ratio"}

// counting is a day of runs that send more and less, and lose little: of tools with counts and of one without.
func counting(seed uint64) []*measure.Result {
	random := dice(seed)
	var all []*measure.Result
	for i := range 1200 {
		at := now.Add(-time.Duration(random.Int64N(int64(26 * time.Hour))))
		r := ping("a", []string{"b", "c", "d", "e"}[i%4], at, 1)
		r.Tool = fmt.Sprintf("tool%d", i%3)
		clear(r.Metrics)
		for _, m := range ratios {
			r.Metrics[m] = random.Float64()
		}
		for _, m := range ratios {
			if how := m.Merge(); how.How == measure.MergeShare {
				under := float64(10 + random.IntN(200))
				over := float64(random.IntN(20) / 19)
				if i%4 == 3 {
					over = 0
				}
				if r.Metrics[m] = over / under; i%3 < 2 || i%4 == 3 {
					r.Metrics[how.Over], r.Metrics[how.Under] = over, under
				}
			}
		}
		if i%4 == 2 && i%3 == 0 { // the metric alone, from a pair of which no tool counts
			r.Tool = "tool2"
			for _, m := range ratios {
				delete(r.Metrics, m.Merge().Over)
				delete(r.Metrics, m.Merge().Under)
			}
		}
		all = append(all, r)
	}
	return all
}

// shareOf is what ratios of some Results come to together: of counts the sum by the sum, weighed with those that have none by
// how many they are; of others the mean.
func shareOf(results []*measure.Result, m measure.Metric) (v float64, any bool) {
	var over, under, alone, sum, n, uncounted float64
	how := m.Merge()
	for _, r := range results {
		ratio, has := r.Get(m)
		if !has {
			continue
		}
		n++
		sum += ratio
		if sent, counts := r.Get(how.Under); counts && how.How == measure.MergeShare {
			over, under = over+r.Metrics[how.Over], under+sent
		} else {
			alone, uncounted = alone+ratio, uncounted+1
		}
	}
	if under == 0 {
		return sum / n, n > 0
	}
	return (over/under*(n-uncounted) + alone) / n, true
}

// Every ratio of a span, a bucket or a pair is what its counts say, at each level and between them, before and after values
// are moved: a host that loses two in a hundred does not lose none.
func TestShares(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		results := counting(5)
		a := open(t, url, func(o *archive.Options) { o.MoveValues = 4000 })
		put(t, a, results...)
		checkShares(t, a, results)
		closeIt(t, a)
		checkShares(t, open(t, url), results)
	})
}

// targets are Results by their target, each target's in the order of time.
type targets map[string][]*measure.Result

func targetsOf(results []*measure.Result) targets {
	all := targets{}
	for _, r := range results {
		all[r.Target.Name] = append(all[r.Target.Name], r)
	}
	for _, some := range all {
		slices.SortStableFunc(some, func(a, b *measure.Result) int { return a.Started.Compare(b.Started) })
	}
	return all
}

// between are the Results of a target in [from, to).
func (all targets) between(target string, from, to time.Time) []*measure.Result {
	before := func(r *measure.Result, at time.Time) int { return r.Started.Compare(at) }
	first, _ := slices.BinarySearchFunc(all[target], from, before)
	end, _ := slices.BinarySearchFunc(all[target], to, before)
	return all[target][first:end]
}

func checkShares(t *testing.T, a archive.Archive, results []*measure.Result) {
	t.Helper()
	all := targetsOf(results)
	for _, m := range ratios {
		for _, span := range spans[:5] {
			checkShareCells(t, a, all, m, span.from, span.to)
		}
		for _, step := range []time.Duration{0, time.Minute, 5 * time.Minute, time.Hour, 24 * time.Hour} {
			from, to := now.Add(-27*time.Hour), now
			for target := range all {
				q := archive.SeriesQuery{Match: archive.Match{Target: target, Metric: string(m)}, From: from, To: to, Step: step}
				s, err := a.Series(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				want, got := []float64{}, []float64{}
				for _, b := range s.Buckets {
					end := b.Start.Add(step)
					if step == 0 {
						end = to
					}
					v, _ := shareOf(all.between(target, b.Start, end), m)
					want, got = append(want, v), append(got, b.Value)
				}
				if diff := cmp.Diff(want, got, rounding); diff != "" || len(want) == 0 {
					t.Errorf("%s to %s, step %v (-want +got):\n%s", m, target, step, diff)
				}
			}
		}
	}
}

func checkShareCells(t *testing.T, a archive.Archive, all targets, m measure.Metric, from, to time.Time) {
	t.Helper()
	cells, err := a.Matrix(t.Context(), archive.MatrixQuery{Match: archive.Match{Metric: string(m)}, From: from, To: to})
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[string]float64{}, map[string]float64{}
	for target := range all {
		if v, any := shareOf(all.between(target, from, to), m); any {
			want[target] = v
		}
	}
	for _, c := range cells {
		got[c.Target] = c.Value
	}
	if diff := cmp.Diff(want, got, rounding); diff != "" {
		t.Errorf("%s from %v to %v (-want +got):\n%s", m, from, to, diff)
	}
}
