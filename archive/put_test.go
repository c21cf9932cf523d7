package archive_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// What is put comes back whole: samples, output, odd names, nothing measured.
func TestPutKeepsResultsWhole(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url)
		rtt := 0.04
		whole := ping("ucl", "ral", now.Add(-time.Hour), rtt)
		whole.Samples.Echoes = []measure.Echo{{Seq: 1, RTTSeconds: &rtt, TTL: 60}, {Seq: 2}}
		whole.Notes = []string{"a note", "naïve \"quotes\"\nand lines"}
		program := ping("ucl", "späte Züge 🚆", now, 1)
		program.Kind, program.Tool = "command", "bbcp/fast*"
		program.Samples.Output = &measure.Output{Command: []string{"bbcp"}, Stdout: "moved 7 MB\n", Stderr: "\x00\x01",
			ExitCode: 3}
		bare := measure.NewResult("trace", now.Add(-time.Minute))
		bare.Source.Address, bare.Target.Address = "10.0.0.1", "10.0.0.9"
		all := []*measure.Result{whole, program, bare, failed("ucl", "cern", now)}
		put(t, a, all...)
		for range 2 { // from memory and journal, then from what was moved
			for _, want := range all {
				got, err := a.Result(t.Context(), want.ID)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("comes back differently (-put +got):\n%s", diff)
				}
			}
			closeIt(t, a)
			a = open(t, url)
		}
		if _, err := a.Result(t.Context(), newID(now)); !errors.Is(err, archive.ErrUnknown) {
			t.Errorf("a Result that was never put: error %v, want ErrUnknown", err)
		}
		keys, err := a.Keys(t.Context(), archive.Match{Target: `sp*e Z?ge *`, Tool: `bbcp/*`, Metric: "loss_ratio"})
		want := []archive.Key{{Source: "ucl", Target: "späte Züge 🚆", Test: "rtt of all", Tool: "bbcp/fast*", Role: measure.RolePlanned,
			Metric: "loss_ratio"}}
		if diff := cmp.Diff(want, keys); diff != "" || err != nil {
			t.Errorf("error %v; keys (-want +got):\n%s", err, diff)
		}
		if one, err := a.Keys(t.Context(), want[0].Exactly()); len(one) != 1 || err != nil {
			t.Errorf("Exactly finds %v, error %v", one, err)
		}
	})
}

// A Result is filed once, whoever puts it how often at the same time, and after a restart too.
func TestPutFilesOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url, func(o *archive.Options) { o.MoveValues = 500 })
		var results []*measure.Result
		for i := range 300 {
			results = append(results, ping("a", "b", now.Add(time.Duration(i-300)*time.Second), 0.01))
		}
		var group sync.WaitGroup
		for caller := range 6 {
			group.Go(func() {
				mine := slices.Clone(results)
				dice(uint64(caller)).Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
				for some := range slices.Chunk(mine, 37) {
					if err := a.Put(t.Context(), append(some, some[0])); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		if s := a.Stats(); s.Filed != 300 || s.Duplicates != 6*(300+9)-300 {
			t.Errorf("%+v; want 300 filed of %d", s, 6*(300+9))
		}
		closeIt(t, a)
		a = open(t, url)
		other := *results[0]
		other.Status, other.Metrics = measure.StatusPartial, map[measure.Metric]float64{measure.RTTMean: 99}
		put(t, a, &other, results[1])
		if got, err := a.Result(t.Context(), other.ID); err != nil || got.Status != measure.StatusOK {
			t.Errorf("the second Result of an ID replaced the first: %+v, %v", got, err)
		}
		s, err := a.Series(t.Context(), archive.SeriesQuery{Match: archive.Match{Metric: "rtt_mean_seconds"},
			From: now.Add(-time.Hour), To: now})
		if err != nil || len(s.Buckets) != 1 || s.Buckets[0].Count != 300 || s.Buckets[0].Max != 0.01 {
			t.Errorf("error %v, series %+v; want 300 values", err, s)
		}
		if page, err := a.Results(t.Context(), archive.ResultQuery{Limit: 1000}); err != nil || len(page.Results) != 300 {
			t.Errorf("%d results, error %v; want 300", len(page.Results), err)
		}
	})
}

// A Result that cannot be filed is named, and nothing of its call is filed; others go on.
func TestPutRefuses(t *testing.T) {
	a := open(t, t.TempDir()+"/archive.db")
	long := string(make([]byte, 300))
	cases := map[string]func(*measure.Result){
		"id":      func(r *measure.Result) { r.ID = "run 17" },
		"schema":  func(r *measure.Result) { r.Schema = "pathwise.result/9" },
		"kind":    func(r *measure.Result) { r.Kind = "" },
		"started": func(r *measure.Result) { r.Started = time.Time{} },
		"status":  func(r *measure.Result) { r.Status = "fine" },
		"source":  func(r *measure.Result) { r.Source.Name = "a\nb" },
		"target":  func(r *measure.Result) { r.Target.Name = long },
		"test":    func(r *measure.Result) { r.Test = "\x00" },
		"tool":    func(r *measure.Result) { r.Tool = "\xff" },
		"metric":  func(r *measure.Result) { r.Metrics[""] = 1 },
		"x":       func(r *measure.Result) { r.Metrics["x"] = math.NaN() },
		"result":  func(r *measure.Result) { r.Parameters["x"] = func() {} },
	}
	for field, spoil := range cases {
		good, bad := ping("a", "b", now, 1), ping("a", "b", now, 1)
		spoil(bad)
		err := a.Put(t.Context(), []*measure.Result{good, bad})
		var invalid *archive.Invalid
		if !errors.As(err, &invalid) || invalid.Field != field || !invalid.BadInput() || invalid.ID != bad.ID {
			t.Errorf("%s: error %v", field, err)
		}
		if _, err := a.Result(t.Context(), good.ID); !errors.Is(err, archive.ErrUnknown) {
			t.Errorf("%s: the good one of the call was filed: %v", field, err)
		}
	}
	if err := a.Put(t.Context(), []*measure.Result{nil}); err == nil {
		t.Error("nil was filed")
	}
	put(t, a)
	put(t, a, ping("a", "b", now, 1))
}

func TestClosed(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url)
		if _, err := archive.Open(t.Context(), url, archive.Options{}); !errors.Is(err, archive.ErrInUse) {
			t.Errorf("opened twice: %v, want ErrInUse", err)
		}
		r := ping("a", "b", now, 1)
		closeIt(t, a)
		calls := map[string]error{"Put": a.Put(t.Context(), []*measure.Result{r}), "Close": a.Close(),
			"Backup": a.Backup(t.Context(), t.TempDir()+"/b")}
		_, calls["Result"] = a.Result(t.Context(), r.ID)
		_, calls["Prune"] = a.Prune(t.Context(), now)
		for _, err := range a.Points(t.Context(), archive.Key{}, now, now) {
			calls["Points"] = err
		}
		for name, err := range calls {
			if !errors.Is(err, archive.ErrClosed) {
				t.Errorf("%s of a closed archive: %v, want ErrClosed", name, err)
			}
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	cases := []struct {
		url     string
		options archive.Options
	}{
		{"", archive.Options{}},
		{"sqlite:", archive.Options{}},
		{"mysql://host/db", archive.Options{}},
		{"postgres://user:secret@host:port/db", archive.Options{}},
		{"a.db", archive.Options{Retention: []archive.Rule{{Tool: "["}}}},
		{"a.db", archive.Options{Retention: []archive.Rule{{Points: -time.Hour}}}},
		{"a.db", archive.Options{Retention: []archive.Rule{{Metric: "rtt_*", Results: time.Hour}}}},
		{"a.db", archive.Options{MoveEvery: -1}},
	}
	for _, c := range cases {
		_, err := archive.Open(t.Context(), c.url, c.options)
		var bad interface{ BadInput() bool }
		if !errors.As(err, &bad) || !bad.BadInput() {
			t.Errorf("%q, %+v: %v, which is not the user's", c.url, c.options, err)
		}
		if err != nil && contains(err.Error(), "secret") {
			t.Errorf("the error tells the password: %v", err)
		}
	}
}

// A call waits while the archive cannot commit, as long as its context lets it; what it then gives up on is filed once.
func TestPutWaits(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url)
		put(t, a, ping("a", "b", now, 1))
		release := holdUp(t, url)
		r := ping("a", "b", now, 2)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if err := a.Put(ctx, []*measure.Result{r}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("put while another holds the tables: %v, want that the time is over", err)
		}
		release()
		put(t, a, r)
		if s := a.Stats(); s.Filed != 2 {
			t.Errorf("%+v; want 2 filed", s)
		}
	})
}
