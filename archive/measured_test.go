package archive_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// What was measured of a pair, of a host and of all is told with how often each tool did, the most frequent first, before and
// after values are moved.
func TestMeasured(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url)
		n := 0
		add := func(source, target, tool string, role measure.Role, metric measure.Metric, times int) {
			for range times {
				n++
				r := ping(source, target, now.Add(-time.Duration(n)*10*time.Minute), 1)
				if r.Tool, r.Role, r.Metrics = tool, role, map[measure.Metric]float64{metric: 1}; role != measure.RolePlanned {
					r.Test = ""
				}
				put(t, a, r)
			}
		}
		add("a", "b", "alpha", measure.RolePlanned, measure.Throughput, 2)
		add("a", "b", "zeta", measure.RolePlanned, measure.Throughput, 5)
		add("a", "b", "zeta", measure.RoleDemand, measure.Throughput, 3)
		add("a", "a", "host", measure.RolePlanned, measure.HostCPU, 4)
		add("c", "b", "alpha", measure.RolePlanned, measure.Throughput, 1)
		ask := func(a archive.Archive, m archive.Match, from time.Time) []archive.Measured {
			t.Helper()
			got, err := a.Measured(t.Context(), archive.MeasuredQuery{Match: m, From: from, To: now})
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				got[i].Latest = time.Time{}
			}
			return got
		}
		one := func(metric measure.Metric, tool string, role measure.Role, series int, runs uint64) archive.Measured {
			return archive.Measured{Metric: metric, Tool: tool, Role: role, Series: series, Runs: runs}
		}
		check := func(a archive.Archive) {
			t.Helper()
			planned := string(measure.RolePlanned)
			for name, c := range map[string]struct{ got, want []archive.Measured }{
				"pair": {ask(a, archive.Match{Source: "a", Target: "b"}, now.Add(-3*oneDay)), []archive.Measured{
					one(measure.Throughput, "zeta", measure.RolePlanned, 1, 5), one(measure.Throughput, "zeta", measure.RoleDemand, 1, 3),
					one(measure.Throughput, "alpha", measure.RolePlanned, 1, 2)}},
				"host": {ask(a, archive.Match{Source: "a", Target: "a"}, now.Add(-3*oneDay)), []archive.Measured{
					one(measure.HostCPU, "host", measure.RolePlanned, 1, 4)}},
				"planned": {ask(a, archive.Match{Role: planned}, now.Add(-3*oneDay)), []archive.Measured{
					one(measure.HostCPU, "host", measure.RolePlanned, 1, 4), one(measure.Throughput, "zeta", measure.RolePlanned, 1, 5),
					one(measure.Throughput, "alpha", measure.RolePlanned, 2, 3)}},
				"of late": {ask(a, archive.Match{Source: "a", Target: "b", Role: planned}, now.Add(-35*time.Minute)), []archive.Measured{
					one(measure.Throughput, "alpha", measure.RolePlanned, 1, 2), one(measure.Throughput, "zeta", measure.RolePlanned, 1, 1)}},
				"nobody": {ask(a, archive.Match{Source: "x"}, now.Add(-oneDay)), []archive.Measured{}},
			} {
				if diff := cmp.Diff(c.want, c.got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		}
		check(a)
		closeIt(t, a)
		check(open(t, url))
	})
}

// Of more series than are counted the runs are estimated, whatever they are of: the tool with most runs is still told first.
func TestMeasuredOfMany(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url)
		const hosts, metrics = 46, 10 // 46 * 45 pairs of ten metrics are 20,700 series, and so many of a second tool
		var all []*measure.Result
		add := func(i, j, run int, tool string) {
			at := now.Add(-time.Duration(run+1)*time.Hour - time.Duration(i*hosts+j)*time.Millisecond)
			r := ping(fmt.Sprint("h", i), fmt.Sprint("h", j), at, 1)
			r.Tool, r.Role, r.Metrics = tool, measure.RolePlanned, map[measure.Metric]float64{}
			for m := range metrics {
				r.Metrics[measure.Metric(fmt.Sprintf("m%d_seconds", m))] = 1
			}
			all = append(all, r)
		}
		runs := map[string]uint64{}
		for i := range hosts {
			for j := range hosts {
				if i == j {
					continue
				}
				for run := range 1 + (i+j)%3 { // one, two or three
					add(i, j, run, "zeta")
					runs["zeta"]++
				}
				add(i, j, 0, "alpha")
				runs["alpha"]++
			}
		}
		for some := range slices.Chunk(all, 1000) {
			put(t, a, some...)
		}
		ask := func(a archive.Archive, m archive.Match) []archive.Measured {
			t.Helper()
			got, err := a.Measured(t.Context(), archive.MeasuredQuery{Match: m, From: now.Add(-7 * oneDay), To: now})
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		check := func(a archive.Archive) {
			t.Helper()
			got := ask(a, archive.Match{})
			if len(got) != 2*metrics {
				t.Fatalf("%d metrics of tools, want %d: %+v", len(got), 2*metrics, got)
			}
			for i, m := range got {
				tool := []string{"zeta", "alpha"}[i%2]
				off := float64(m.Runs)/float64(runs[tool]) - 1
				if m.Tool != tool || m.Series != hosts*(hosts-1) || !m.Estimated || math.Abs(off) > 0.05 {
					t.Errorf("%s by %s, %+v: want %s, about %d runs", m.Metric, m.Tool, m, tool, runs[tool])
				}
			}
			for _, m := range ask(a, archive.Match{Tool: "alpha", Metric: "m3_seconds"}) { // few enough to count
				if m.Runs != runs["alpha"] || m.Estimated {
					t.Errorf("%+v, want %d runs, counted", m, runs["alpha"])
				}
			}
		}
		check(a)
		closeIt(t, a)
		check(open(t, url))
	})
}
