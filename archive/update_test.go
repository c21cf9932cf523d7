package archive_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// What a program printed is read again by a better parser: Results, points, rollups and latest values are then as if
// the better one had been there from the start.
func TestUpdate(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url, func(o *archive.Options) { o.MoveValues = 300 })
		results := history(3, 90)
		for _, r := range results {
			if r.Target.Name == "c" {
				r.Samples.Output = &measure.Output{Stdout: "rtt 17 ms"}
			}
		}
		for some := range slices.Chunk(results, 40) {
			put(t, a, some...)
		}
		var better []*measure.Result
		for r, err := range a.All(t.Context(), archive.ResultQuery{Tool: "rtt", Target: "c"}) {
			if err != nil {
				t.Fatal(err)
			}
			delete(r.Metrics, measure.LossRatio)
			r.Metrics[measure.RTTMean] = 0.017
			r.Metrics["parsed_ratio"] = 1
			r.Status, r.Error = measure.StatusOK, nil
			better = append(better, r)
		}
		if err := a.Update(t.Context(), better); err != nil {
			t.Fatal(err)
		}
		for i := range results {
			if at := slices.IndexFunc(better, func(r *measure.Result) bool { return r.ID == results[i].ID }); at >= 0 {
				results[i] = better[at]
			}
		}
		for range 2 {
			checkSeries(t, a, results)
			got, err := a.Result(t.Context(), better[0].ID)
			if diff := cmp.Diff(better[0], got, cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Errorf("error %v; result (-updated +got):\n%s", err, diff)
			}
			page, err := a.Results(t.Context(), archive.ResultQuery{Status: measure.StatusFailed, Target: "c"})
			if err != nil || len(page.Results) > 0 {
				t.Errorf("%d results have still failed, error %v", len(page.Results), err)
			}
			for metric, want := range map[string]float64{"parsed_ratio": 1, "rtt_mean_seconds": 0.017} {
				latest, err := a.Latest(t.Context(), archive.Match{Target: "c", Test: "rtt of all", Metric: metric})
				if err != nil || len(latest) != 1 || latest[0].Value != want {
					t.Errorf("error %v, latest %+v, want %v", err, latest, want)
				}
			}
			closeIt(t, a)
			a = open(t, url)
		}
	})
}

func TestUpdateRefuses(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url)
		r := ping("a", "b", now, 1)
		put(t, a, r)
		if err := a.Update(t.Context(), []*measure.Result{ping("a", "b", now, 2)}); !errors.Is(err, archive.ErrUnknown) {
			t.Errorf("a Result that is not filed: %v, want ErrUnknown", err)
		}
		moved := *r
		moved.Started = now.Add(time.Second)
		var invalid *archive.Invalid
		if err := a.Update(t.Context(), []*measure.Result{&moved}); !errors.As(err, &invalid) ||
			!strings.Contains(err.Error(), "started") {
			t.Errorf("a Result of another time: %v, want Invalid", err)
		}
		checkPoints(t, a, []*measure.Result{r})
	})
}

// What an Update gives to a time in which nobody had a value yet stays when more comes for that time.
func TestUpdateOfTheNewest(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url)
		first := failed("a", "c", now)
		put(t, a, first)
		better := ping("a", "c", now, 1)
		better.ID = first.ID
		if err := a.Update(t.Context(), []*measure.Result{better}); err != nil {
			t.Fatal(err)
		}
		put(t, a, ping("a", "c", now.Add(time.Second), 3))
		closeIt(t, a)
		checkSeries(t, open(t, url), []*measure.Result{better, ping("a", "c", now.Add(time.Second), 3)})
	})
}
