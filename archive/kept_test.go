package archive_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// An archive of the build before distributions and subjects, of either backend, with values in its journal, and a backup of one, are
// what they were: each Result, series, gap and miss, and what of pruned Results is left in rollups.
func TestSchema2(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		restored := url
		if strings.HasPrefix(url, "postgres:") {
			keptPostgres(t, url, "schema2", 4)
			restored = postgresURL(t)
		} else {
			url = keptFile(t, "schema2")
		}
		for range 2 {
			a := open(t, url)
			expectSame(t, a)
			closeIt(t, a)
		}
		a := open(t, restored)
		if err := a.Restore(t.Context(), filepath.Join("testdata", "schema2.backup")); err != nil {
			t.Fatal(err)
		}
		expectSame(t, a)
	})
}

// expectSame holds an archive against one in which the same is filed today.
func expectSame(t *testing.T, a archive.Archive) {
	t.Helper()
	fresh := expectDrawn(t, a)
	want := oldValues(t, fresh)
	if diff := cmp.Diff(want, oldValues(t, a), rounding); diff != "" || len(want) == 0 {
		t.Errorf("of %d old values (-want +got):\n%s", len(want), diff)
	}
}

// picture is all that an archive draws of a series since some time.
type picture struct {
	Points []archive.Point
	Whole  []archive.Bucket
	Gaps   []archive.Gap
	Cells  []archive.Cell
	Listed []string
	Misses []measure.Miss
}

// pictures are those of all series that have points.
func pictures(t *testing.T, a archive.Archive, since time.Time) map[archive.Key]picture {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	all, listed := map[archive.Key]picture{}, map[archive.Key]bool{}
	keys, err := a.Latest(t.Context(), archive.Match{})
	check(err)
	for _, latest := range keys {
		k, p := latest.Key, picture{}
		for point, err := range a.Points(t.Context(), k, since, time.Time{}) {
			check(err)
			p.Points = append(p.Points, point)
		}
		if len(p.Points) == 0 {
			continue
		}
		if last := p.Points[len(p.Points)-1]; !last.Time.Equal(latest.Time) {
			t.Errorf("%+v: latest %v, last point %v", k, latest.Point, last)
		}
		s, err := a.Series(t.Context(), archive.SeriesQuery{Match: k.Exactly(), From: now.Add(-4 * time.Hour), To: now, Quantiles: []float64{0.5}})
		check(err)
		p.Whole = s.Buckets
		p.Gaps, err = a.Gaps(t.Context(), archive.GapQuery{Match: k.Exactly(), From: now.Add(-2 * time.Hour), To: now, Longest: 2 * time.Hour})
		check(err)
		p.Cells, err = a.Matrix(t.Context(), archive.MatrixQuery{Match: archive.Match{Tool: k.Tool, Role: string(k.Role), Metric: string(k.Metric)},
			From: now.Add(-4 * time.Hour), To: now})
		check(err)
		stream := k
		if stream.Metric = ""; !listed[stream] {
			listed[stream] = true
			for r, err := range a.All(t.Context(), archive.ResultQuery{Source: k.Source, Target: k.Target, Tool: k.Tool, Role: string(k.Role), From: since}) {
				check(err)
				p.Listed = append(p.Listed, r.ID)
			}
			slices.Sort(p.Listed)
			p.Misses, err = a.Misses(t.Context(), archive.MissQuery{Source: k.Source, Target: k.Target, Tool: k.Tool})
			check(err)
		}
		all[k] = p
	}
	return all
}
