package archive_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// Results of two subjects of one pair are two series, of every backend, before and after values are moved, and where a backup is
// restored; who does not ask for subjects sees neither.
func TestSubjects(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url)
		var all []*measure.Result
		for i, s := range []*measure.Subject{nil, {Kind: measure.SubjectInterface, Name: "eth0"}, {Kind: measure.SubjectInterface, Name: "eth1"},
			{Kind: measure.SubjectFlow, Name: "10.0.0.1/80 *"}} {
			for n := range i + 1 {
				r := ping("a", "b", now.Add(-time.Duration(n+1)*time.Minute), float64(i+1))
				r.Subject = s
				all = append(all, r)
			}
		}
		put(t, a, all...)
		for range 2 {
			checkSubjects(t, a, all)
			closeIt(t, a)
			a = open(t, url)
		}
		path := filepath.Join(t.TempDir(), "archive.backup")
		if err := a.Backup(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		other := open(t, filepath.Join(t.TempDir(), "other.db"))
		if err := other.Restore(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		checkSubjects(t, other, all)
		bad := ping("a", "b", now, 1)
		bad.Subject = &measure.Subject{Kind: "port", Name: "1"}
		if err := a.Put(t.Context(), []*measure.Result{bad}); err == nil || !contains(err.Error(), `subject is "port/1", want an interface`) {
			t.Errorf("error %v", err)
		}
	})
}

// checkSubjects holds what is answered of the pair by subject.
func checkSubjects(t *testing.T, a archive.Archive, all []*measure.Result) {
	t.Helper()
	type answer struct {
		Keys, Results, Runs, Cell, Gaps int
		Value                           float64
		Whole                           bool
	}
	for subject, want := range map[string]answer{
		"":                    {4, 1, 1, 1, 1, 1, true},
		"interface/eth0":      {4, 2, 2, 2, 1, 2, true},
		"interface/*":         {8, 5, 5, 5, 1, 3, true},
		`flow/10.0.0.1/80 \*`: {4, 4, 4, 4, 1, 4, true},
		"*":                   {16, 10, 10, 10, 1, 3, true},
		"interface/eth2":      {Gaps: 1, Whole: true},
		"?*":                  {12, 9, 9, 9, 1, 3, true},
	} {
		match := archive.Match{Source: "a", Target: "b", Subject: subject}
		got := answer{Whole: true}
		keys, err := a.Keys(t.Context(), match)
		must(t, err)
		got.Keys = len(keys)
		for r, err := range a.All(t.Context(), archive.ResultQuery{Subject: subject, Limit: 3}) {
			must(t, err)
			at := slices.IndexFunc(all, func(one *measure.Result) bool { return one.ID == r.ID })
			got.Whole = got.Whole && cmp.Equal(all[at].Subject, r.Subject)
			got.Results++
		}
		match.Metric = string(measure.RTTMean)
		series, err := a.Series(t.Context(), archive.SeriesQuery{Match: match, From: now.Add(-time.Hour), To: now})
		must(t, err)
		for _, b := range series.Buckets {
			got.Runs, got.Value = int(b.Count), float64(int(b.Value+0.5))
		}
		cells, err := a.Matrix(t.Context(), archive.MatrixQuery{Match: match, From: now.Add(-time.Hour), To: now})
		must(t, err)
		for _, c := range cells {
			got.Cell += int(c.Count)
		}
		gaps, err := a.Gaps(t.Context(), archive.GapQuery{Match: match, From: now.Add(-3 * time.Hour), To: now, Longest: time.Hour})
		must(t, err)
		got.Gaps = len(gaps)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("subject %q (-want +got):\n%s", subject, diff)
		}
	}
	measured, err := a.Measured(t.Context(), archive.MeasuredQuery{Match: archive.Match{Metric: "rtt_mean_seconds", Subject: "interface/*"},
		From: now.Add(-time.Hour), To: now})
	if err != nil || fmt.Sprint(len(measured), measured[0].Series, measured[0].Runs) != "1 2 5" {
		t.Errorf("error %v; measured %+v", err, measured)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
