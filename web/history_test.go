package web

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/archive/postgrestest"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
)

// pastOf makes up nine days of pings between four hosts, each way, with a wave by day; each Result is then changed by what happened.
func pastOf(now time.Time, happened func(r *measure.Result, ago time.Duration)) (all []*measure.Result) {
	random := rand.New(rand.NewPCG(1, 2))
	hosts := []string{"a", "b", "gone", "strict"}
	for ago := 9 * 24 * time.Hour; ago > 0; ago -= 20 * time.Minute {
		at := now.Add(-ago)
		wave := max(0, math.Sin(2*math.Pi*float64(at.Unix()%86400)/86400))
		for i, source := range hosts {
			for _, target := range hosts {
				if source == target {
					continue
				}
				started := at.Add(time.Duration(i) * time.Second)
				r := resultOf(ulid.MustNew(ulid.Timestamp(started), ulid.DefaultEntropy()).String(), started)
				r.Source.Name, r.Target.Name = source, target
				least := 0.040 + 2e-4*random.ExpFloat64()
				r.Metrics = map[measure.Metric]float64{measure.RTTMin: least, measure.RTTMedian: least + 0.003*wave*random.ExpFloat64(),
					measure.SentPackets: 20, measure.LostPackets: 0, measure.LossRatio: 0}
				happened(r, ago)
				all = append(all, r)
			}
		}
	}
	return all
}

// longer adds to the delays of a Result.
func longer(r *measure.Result, by float64) {
	r.Metrics[measure.RTTMin] += by
	r.Metrics[measure.RTTMedian] += by
}

// A history says when each thing began, from what to what, the route that changed then, and what the pairs have in common that changed
// with it.
func TestHistory(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { testHistory(t, newBench(t)) })
	t.Run("postgres", func(t *testing.T) {
		server, err := postgrestest.Start(t.Context(), "fsync=off")
		if errors.Is(err, postgrestest.ErrNone) {
			t.Skip(err)
		} else if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := server.Stop(); err != nil {
				t.Error(err)
			}
		})
		url, err := server.Create(t.Context(), "history")
		if err != nil {
			t.Fatal(err)
		}
		store, err := archive.Open(t.Context(), url, archive.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		})
		b := newBench(t)
		b.Archive = store
		testHistory(t, b)
	})
}

func testHistory(t *testing.T, b *bench) {
	b.serve(b.Handler(owner))
	now := time.Now().UTC().Truncate(time.Minute)
	random := rand.New(rand.NewPCG(3, 4))
	const day = 24 * time.Hour
	all := pastOf(now, func(r *measure.Result, ago time.Duration) {
		if ago <= 20*time.Hour && (r.Source.Name == "a" || r.Target.Name == "a") {
			longer(r, 0.020)
		}
		if r.Source.Name == "b" && r.Target.Name == "strict" && ago <= 3*day && ago > 2*day {
			for range 20 {
				if random.Float64() < 0.05 {
					r.Metrics[measure.LostPackets]++
				}
			}
			r.Metrics[measure.LossRatio] = r.Metrics[measure.LostPackets] / 20
		}
	})
	for ago := 40 * time.Hour; ago > 0; ago -= time.Hour {
		by := []string{"north"}
		if ago <= 20*time.Hour {
			by = []string{"south"}
		}
		at := now.Add(-ago)
		r := traceOf(ulid.MustNew(ulid.Timestamp(at), ulid.DefaultEntropy()).String(), at, []string{"west"}, by, []string{"z"})
		r.Test = "route@all"
		all = append(all, r)
	}
	if err := b.Archive.Put(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	d := read[diagnose.Diagnosis](b, "/api/v1/pairs/a/b/history?from=-7d")
	if d.Verdict != "path-change" || len(d.Findings) != 1 || len(d.History.Events) != 1 {
		t.Fatalf("verdict %s of %+v", d.Verdict, d.History)
	}
	e := d.History.Events[0]
	if began := now.Add(-20 * time.Hour); e.After.Before(began.Add(-21*time.Minute)) || e.Until.After(began.Add(time.Minute)) || e.Ended != nil {
		t.Errorf("from %v to %v until %v, want about %v", e.After, e.Until, e.Ended, began)
	}
	want := []analysis.Shared{{Part: analysis.Part{Kind: analysis.AtHost, Name: "a"}, Changed: 6, All: 6}}
	if diff := cmp.Diff(want, e.Shared); diff != "" || len(e.Pairs) != 5 || e.Looked != 11 {
		t.Errorf("%d of %d pairs changed with it; in common (-want +got):\n%s", len(e.Pairs), e.Looked, diff)
	}
	for _, says := range []string{"UTC traffic from a to b takes another route: hop 2: north is now south", "The round trip is 60.", "before 40.",
		"5 of 11 other pairs changed with it, and have in common the host a (6 of its 6 pairs)."} {
		if !strings.Contains(e.Sentence, says) {
			t.Errorf("%q does not say %q", e.Sentence, says)
		}
	}
	for _, evidence := range d.Findings[0].Evidence {
		if evidence.Result == "" {
			t.Errorf("evidence without a Result: %+v", evidence)
		}
	}

	lost := read[diagnose.Diagnosis](b, "/api/v1/pairs/b/strict/history?from=-7d")
	if lost.Verdict != diagnose.Unchanged || len(lost.History.Events) != 2 || lost.History.Events[1].Ended == nil {
		t.Fatalf("verdict %s of %+v", lost.Verdict, lost.History)
	}
	if text := lost.History.Events[1].Sentence; !strings.HasPrefix(text, "From ") || !strings.Contains(text, " of all packets from b to strict were lost, before 0 %") ||
		!strings.Contains(text, "None of 11 other pairs changed at that time.") {
		t.Errorf("of the loss that is over: %q", text)
	}

	if calm := read[diagnose.Diagnosis](b, "/api/v1/pairs/strict/gone/history"); calm.Verdict != diagnose.Unchanged || len(calm.History.Series) != 3 ||
		len(calm.Findings) != 0 {
		t.Errorf("of a pair to which nothing happened: %+v", calm)
	}
	if none := read[diagnose.Diagnosis](b, "/api/v1/pairs/a/nobody/history"); none.Verdict != diagnose.Unknown {
		t.Errorf("of a pair that was never measured: %+v", none)
	}
	b.expect(http.MethodGet, "/api/v1/pairs/a/b/history?from=-9999d", "", http.StatusUnprocessableEntity, "at most 400 days")
	b.expect(http.MethodGet, fmt.Sprintf("/api/v1/pairs/a/b/history?from=%s&to=-1h", now.Format(time.RFC3339)), "", http.StatusUnprocessableEntity, "a time before to")
}

// asked is an archive that notes until when round trips by way of other hosts were asked for.
type asked struct {
	archive.Archive
	until []time.Time
}

func (a *asked) Matrix(ctx context.Context, q archive.MatrixQuery) ([]archive.Cell, error) {
	if q.Match.Metric == string(measure.RTTMin) {
		a.until = append(a.until, q.To)
	}
	return a.Archive.Matrix(ctx, q)
}

// Who loads the history of a pair again soon has the archive ask for the same times.
func TestHistoryAsksForTheSameTimes(t *testing.T) {
	b := newBench(t)
	a := &asked{Archive: b.Archive}
	b.Archive = a
	b.serve(b.Handler(owner))
	read[diagnose.Diagnosis](b, "/api/v1/pairs/a/b/history?others=false")
	if len(a.until) == 0 {
		t.Error("nobody was asked for round trips")
	}
	for _, until := range a.until {
		if until != until.Truncate(viaEvery) || time.Since(until) > viaEvery+time.Minute {
			t.Errorf("round trips until %v", until)
		}
	}
}
