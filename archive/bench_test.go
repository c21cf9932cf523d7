package archive_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// What is filled for benchmarks: pings of ten packets from a to so many targets each hour of two days.
const (
	benchTargets = 400
	benchHours   = 48
)

// benchArchive is an archive in SQLite with all that is filled for benchmarks.
func benchArchive(b *testing.B) archive.Archive {
	b.Helper()
	path := filepath.Join(b.TempDir(), "archive.db")
	begin := func() archive.Archive {
		a, err := archive.Open(b.Context(), path, archive.Options{Now: func() time.Time { return now }})
		if err != nil {
			b.Fatal(err)
		}
		return a
	}
	a := begin()
	if err := a.Put(b.Context(), benchPings()); err != nil {
		b.Fatal(err)
	}
	if err := a.Close(); err != nil { // which moves all
		b.Fatal(err)
	}
	a = begin()
	b.Cleanup(func() { a.Close() })
	return a
}

func benchPings() (results []*measure.Result) {
	random := dice(41)
	for hour := range benchHours {
		for target := range benchTargets {
			rtts := make([]float64, 10)
			for i := range rtts {
				rtts[i] = 0.02 + 0.002*random.ExpFloat64()
			}
			at := now.Add(-time.Duration(hour)*time.Hour - time.Duration(target)*time.Second)
			results = append(results, samplePing(fmt.Sprintf("host%d", target), at, rtts...))
		}
	}
	return slices.Clip(results)
}

// Each matrix is asked for with another quantile, so that none is remembered.
func BenchmarkMatrix(b *testing.B) {
	a := benchArchive(b)
	for name, span := range map[string]time.Duration{"hour": time.Hour, "day": 24 * time.Hour} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for n := 2; b.Loop(); n++ {
				cells, err := a.Matrix(b.Context(), archive.MatrixQuery{Match: archive.Match{Metric: string(measure.RTTMedian)},
					From: now.Add(-span), To: now, Quantiles: []float64{1 / float64(n)}})
				if err != nil || len(cells) != benchTargets {
					b.Fatal(len(cells), err)
				}
			}
		})
	}
}

func BenchmarkSeries(b *testing.B) {
	a := benchArchive(b)
	for name, step := range map[string]time.Duration{"by minutes": time.Minute, "by hours": time.Hour} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s, err := a.Series(b.Context(), archive.SeriesQuery{Match: archive.Match{Target: "host7", Metric: string(measure.RTTMedian)},
					From: now.Add(-24 * time.Hour), To: now, Step: step, Quantiles: someQuantiles})
				if err != nil || len(s.Buckets) != 24 {
					b.Fatal(len(s.Buckets), err)
				}
			}
		})
	}
}

// What is filed is moved to points and rollups as well.
func BenchmarkFile(b *testing.B) {
	results := benchPings()
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		a, err := archive.Open(b.Context(), filepath.Join(b.TempDir(), fmt.Sprintf("%d.db", n)), archive.Options{Now: func() time.Time { return now }})
		if err == nil {
			err = a.Put(b.Context(), results)
		}
		if err == nil {
			err = a.Close()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(results)), "µs/Result")
}
