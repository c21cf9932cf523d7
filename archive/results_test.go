package archive_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// listed are the IDs of the Results that a query should list, newest first.
func listed(results []*measure.Result, choose func(*measure.Result) bool) []string {
	var chosen []*measure.Result
	for _, r := range results {
		if choose(r) {
			chosen = append(chosen, r)
		}
	}
	slices.SortFunc(chosen, func(a, b *measure.Result) int {
		if order := b.Started.Compare(a.Started); order != 0 {
			return order
		}
		return strings.Compare(b.ID, a.ID)
	})
	ids := []string{}
	for _, r := range chosen {
		ids = append(ids, r.ID)
	}
	return ids
}

// Every filter lists what it should, in order, whatever the size of its pages.
func TestResults(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		// Some are found by their points, in memory and moved, and some are too old for that.
		a := open(t, url, func(o *archive.Options) {
			o.MoveValues, o.Retention = 300, []archive.Rule{{Points: 10 * time.Hour}}
		})
		results := history(2, 120) // a full page and a bit
		for i, r := range results {
			if i%20 == 0 {
				r.Started = results[0].Started // many at one time: pages must end between them
			}
			if i%9 == 0 {
				r.Kind, r.Tool = "trace", "route"
			}
		}
		for some := range slices.Chunk(results, 50) {
			put(t, a, some...)
		}
		from, to := now.Add(-20*time.Hour), now.Add(-3*time.Hour)
		cases := []struct {
			name   string
			query  archive.ResultQuery
			choose func(*measure.Result) bool
		}{
			{"all", archive.ResultQuery{}, func(r *measure.Result) bool { return true }},
			{"target", archive.ResultQuery{Target: "c"}, func(r *measure.Result) bool { return r.Target.Name == "c" }},
			{"pair", archive.ResultQuery{Source: "a", Target: "[bc]"},
				func(r *measure.Result) bool { return r.Target.Name != "d" }},
			{"kind", archive.ResultQuery{Kind: "trace"}, func(r *measure.Result) bool { return r.Kind == "trace" }},
			{"tool", archive.ResultQuery{Tool: "rt*"}, func(r *measure.Result) bool { return r.Tool == "rtt" }},
			{"test", archive.ResultQuery{Test: "rtt of all"}, func(r *measure.Result) bool { return r.Test != "" }},
			{"failed", archive.ResultQuery{Status: measure.StatusFailed},
				func(r *measure.Result) bool { return r.Status == measure.StatusFailed }},
			{"span", archive.ResultQuery{From: from, To: to, Status: measure.StatusOK}, func(r *measure.Result) bool {
				return r.Status == measure.StatusOK && !r.Started.Before(from) && r.Started.Before(to)
			}},
			{"nobody", archive.ResultQuery{Source: "nobody"}, func(r *measure.Result) bool { return false }},
		}
		for _, c := range cases {
			want := listed(results, c.choose)
			for _, limit := range []int{0, 11} {
				c.query.Limit = limit
				got := []string{}
				for r, err := range a.All(t.Context(), c.query) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, r.ID)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s, pages of %d (-want +got):\n%s", c.name, limit, diff)
				}
			}
		}
		page, err := a.Results(t.Context(), archive.ResultQuery{Limit: 3})
		if err != nil || len(page.Results) != 3 || page.Next == "" {
			t.Errorf("a page of 3 has %d, next %q, error %v", len(page.Results), page.Next, err)
		}
	})
}

// Results of tools that are seldom used are listed like others, though they are found in another way: where there are
// several on a day, at one time, in one block, of several tools, late, and replaced.
func TestResultsOfRareTools(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url)
		var results []*measure.Result
		for i := range 24 {
			at := now.Add(-time.Duration(i/3*5) * oneDay) // three on one day, of which two are at one time
			r := ping("a", []string{"b", "c"}[i/2%2], at.Add(-time.Duration(i%3/2)*time.Hour), 1)
			r.Kind, r.Tool = "diagnosis", []string{"", "deep"}[i/6%2]
			results = append(results, r)
		}
		results[7].Fail(errors.New("no route to host"))
		put(t, a, results[3:5]...)
		for _, r := range slices.Concat(results[:3], results[5:]) {
			put(t, a, r, ping("a", "b", r.Started, 1))
		}
		results[9].Status, results[9].Metrics = measure.StatusPartial, map[measure.Metric]float64{measure.LossRatio: 1}
		if err := a.Update(t.Context(), results[9:10]); err != nil {
			t.Fatal(err)
		}
		from, to := results[20].Started, results[4].Started
		for name, c := range map[string]struct {
			query  archive.ResultQuery
			choose func(*measure.Result) bool
		}{
			"kind": {archive.ResultQuery{Kind: "diag*"}, func(*measure.Result) bool { return true }},
			"tool": {archive.ResultQuery{Tool: "deep"}, func(r *measure.Result) bool { return r.Tool == "deep" }},
			"target": {archive.ResultQuery{Kind: "diagnosis", Target: "c"},
				func(r *measure.Result) bool { return r.Target.Name == "c" }},
			"ok": {archive.ResultQuery{Kind: "diagnosis", Status: measure.StatusOK},
				func(r *measure.Result) bool { return r.Status == measure.StatusOK }},
			"failed": {archive.ResultQuery{Kind: "diagnosis", Status: measure.StatusFailed},
				func(r *measure.Result) bool { return r.Status == measure.StatusFailed }},
			"span": {archive.ResultQuery{Kind: "diagnosis", From: from, To: to},
				func(r *measure.Result) bool { return !r.Started.Before(from) && r.Started.Before(to) }},
		} {
			for _, c.query.Limit = range []int{1, 2, 11, 100} {
				got := []string{}
				for r, err := range a.All(t.Context(), c.query) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, r.ID)
				}
				if diff := cmp.Diff(listed(results, c.choose), got); diff != "" {
					t.Errorf("%s, pages of %d (-want +got):\n%s", name, c.query.Limit, diff)
				}
			}
		}
	})
}

func TestResultsRefuses(t *testing.T) {
	a := open(t, t.TempDir()+"/archive.db")
	for _, q := range []archive.ResultQuery{{Limit: -1}, {Status: "fine"}, {Cursor: "x"}, {Kind: "[a"}} {
		_, err := a.Results(t.Context(), q)
		if bad, ok := err.(interface{ BadInput() bool }); !ok || !bad.BadInput() {
			t.Errorf("%+v: error %v, which is not the caller's", q, err)
		}
	}
	if _, err := a.Result(t.Context(), "17"); err == nil {
		t.Error("17 was taken for an ID")
	}
}

func miss(r *measure.Result, why string) measure.Miss {
	return measure.Miss{Run: r.ID, Test: r.Test, Tool: r.Tool, Source: r.Source.Name, Target: r.Target.Name,
		Start: r.Started, Why: why}
}

// A miss is listed until its Result comes after all, and is not listed where that came before.
func TestMisses(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url)
		var results []*measure.Result
		var misses []measure.Miss
		for i := range 6 {
			results = append(results, ping("a", []string{"b", "c"}[i%2], now.Add(time.Duration(i)*time.Minute), 1))
			misses = append(misses, miss(results[i], "the host is away"))
		}
		misses[5].Why = strings.Repeat("x", 5000)
		put(t, a, results[0])
		for range 2 {
			if err := a.PutMisses(t.Context(), misses); err != nil {
				t.Fatal(err)
			}
		}
		misses[5].Why = misses[5].Why[:1000]
		check := func(q archive.MissQuery, want ...measure.Miss) {
			t.Helper()
			got, err := a.Misses(t.Context(), q)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%+v: error %v; misses (-want +got):\n%s", q, err, diff)
			}
		}
		check(archive.MissQuery{}, misses[5], misses[4], misses[3], misses[2], misses[1])
		put(t, a, results[3], results[2])
		check(archive.MissQuery{}, misses[5], misses[4], misses[1])
		closeIt(t, a)
		a = open(t, url)
		put(t, a, results[4])
		check(archive.MissQuery{}, misses[5], misses[1])
		check(archive.MissQuery{Limit: 1}, misses[5])
		check(archive.MissQuery{Source: "a", Target: "c", Tool: "r*", From: now, To: now.Add(2 * time.Minute)}, misses[1])
		if err := a.PutMisses(t.Context(), []measure.Miss{{Run: "17"}}); err == nil {
			t.Error("a miss of run 17 was filed")
		}
	})
}
