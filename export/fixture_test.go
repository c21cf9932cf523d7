package export

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// ping is a Result from a to b. Its ID ends in id.
func ping(id string, started time.Time, metrics map[measure.Metric]float64) *measure.Result {
	r := measure.NewResult("ping", started)
	r.ID, r.Test, r.Tool = fmt.Sprintf("%026s", id), "lat", "rtt"
	r.Source = measure.Endpoint{Name: "a", Address: "10.0.0.1"}
	r.Target = measure.Endpoint{Name: "b", Address: "10.0.0.2"}
	r.DurationSeconds, r.Metrics = 1.5, metrics
	return r
}

// numbered is Results of one stream, one a second, each with its number as its value.
func numbered(from time.Time, n int) []*measure.Result {
	all := make([]*measure.Result, n)
	for i := range all {
		all[i] = ping(fmt.Sprint(i), from.Add(time.Duration(i)*time.Second),
			map[measure.Metric]float64{measure.RTTMin: float64(i)})
	}
	return all
}

// memory is as much of an archive as this package reads, for tests that must break it.
type memory struct {
	archive.Archive
	mu      sync.Mutex
	all     []*measure.Result
	broken  error // what All says instead
	reads   int
	onYield func(n int) // before the n-th Result of a call
}

func (m *memory) Put(_ context.Context, results []*measure.Result) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, results...)
	return nil
}

func (m *memory) All(_ context.Context, q archive.ResultQuery) iter.Seq2[*measure.Result, error] {
	return func(yield func(*measure.Result, error) bool) {
		m.mu.Lock()
		broken, all := m.broken, slices.Clone(m.all)
		m.broken = nil
		m.reads++
		m.mu.Unlock()
		if broken != nil {
			yield(nil, broken)
			return
		}
		slices.SortFunc(all, func(a, b *measure.Result) int {
			return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.ID, a.ID))
		})
		for n, r := range all {
			if m.onYield != nil {
				m.onYield(n)
			}
			if r.Started.Before(q.From) || !q.To.IsZero() && !r.Started.Before(q.To) {
				continue
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// filled is an archive on disk with these Results.
func filled(t testing.TB, results ...*measure.Result) archive.Archive {
	t.Helper()
	a, err := archive.Open(t.Context(), t.TempDir()+"/archive.db", archive.Options{Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	if err := a.Put(t.Context(), results); err != nil {
		t.Fatal(err)
	}
	return a
}
