package generated_test

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/archive/generated"
	"github.com/pathwise-net/pathwise/measure"
)

var end = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) // a Friday

// drawer keeps copies of what is put: what was put is made into something else later.
type drawer struct {
	mutex sync.Mutex
	all   map[string]measure.Result // by what makes it the same one
	ids   map[string]bool
	full  error
}

func (d *drawer) Put(_ context.Context, results []*measure.Result) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.full != nil {
		return d.full
	}
	for _, r := range results {
		one := *r
		one.Metrics, one.ID = maps.Clone(r.Metrics), ""
		d.all[r.Test+r.Source.Name+r.Target.Name+r.Started.String()] = one
		d.ids[r.ID] = true
	}
	return nil
}

func draw(t *testing.T, h generated.History) *drawer {
	t.Helper()
	d := &drawer{all: map[string]measure.Result{}, ids: map[string]bool{}}
	if err := h.Fill(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if len(d.ids) != h.Results() || len(d.all) != h.Results() {
		t.Fatalf("%d IDs of %d Results, want %d", len(d.ids), len(d.all), h.Results())
	}
	return d
}

// Whatever is generated says so, lies in its span, and is the same the next time.
func TestFill(t *testing.T) {
	h := generated.Day(generated.Scattered("h", 5, 1), end, 7)
	first := draw(t, h)
	values := 0
	for key, r := range first.all {
		if !slices.Contains(r.Notes, generated.Note) || !strings.HasPrefix(r.Test, generated.Label+" ") {
			t.Fatalf("%s does not say that it is generated: notes %q, test %q", key, r.Notes, r.Test)
		}
		if r.Started.Before(h.Start) || !r.Started.Before(h.End) {
			t.Fatalf("%s began outside of %v to %v", key, h.Start, h.End)
		}
		values += len(r.Metrics)
	}
	if want := 20 * (288 + 12 + 48); h.Results() != want {
		t.Errorf("a day of 5 hosts has %d Results, want %d", h.Results(), want)
	}
	if least := h.Values() * 99 / 100; values > h.Values() || values < least { // what is lost has no delay
		t.Errorf("%d values, want %d to %d", values, least, h.Values())
	}
	again := draw(t, h)
	if diff := cmp.Diff(len(first.all), len(again.all)); diff != "" {
		t.Error(diff)
	}
	for key, r := range first.all {
		if diff := cmp.Diff(r, again.all[key]); diff != "" {
			t.Fatalf("%s is another one the next time:\n%s", key, diff)
		}
	}
}

// Delays rise and fall with the day, some days have bursts of loss, and routes change in steps.
func TestShapes(t *testing.T) {
	h := generated.History{Hosts: generated.Scattered("h", 4, 1), Start: end.Add(-60 * 24 * time.Hour), End: end, Seed: 3,
		Tests: []generated.Test{{Tool: generated.Ping, Every: time.Hour}, {Tool: generated.Trace, Every: 6 * time.Hour},
			{Tool: generated.Throughput, Every: 12 * time.Hour}}}
	var night, noon, lossy, pings float64
	hops, rates := map[string]map[float64]bool{}, 0
	for _, r := range draw(t, h).all {
		pair := r.Source.Name + r.Target.Name
		if spread, ok := r.Get(measure.RTTStddev); ok {
			pings++
			switch hour := r.Started.Hour(); {
			case hour >= 3 && hour < 6:
				night += spread
			case hour >= 15 && hour < 18:
				noon += spread
			}
		}
		if loss, ok := r.Get(measure.LossRatio); ok && loss > 0 {
			lossy++
		}
		if n, ok := r.Get(measure.HopCount); ok {
			if hops[pair] == nil {
				hops[pair] = map[float64]bool{}
			}
			hops[pair][n] = true
		}
		if rate, ok := r.Get(measure.Throughput); ok && rate > 1e5 && rate <= 9.4e9 {
			rates++
		}
	}
	if noon < 3*night {
		t.Errorf("queues are %.3g s in the afternoon and %.3g s at night", noon, night)
	}
	if lossy == 0 || lossy > pings/20 {
		t.Errorf("%v of %v pings lost something", lossy, pings)
	}
	changed := 0
	for _, of := range hops {
		if len(of) > 1 && len(of) < 8 {
			changed++
		}
	}
	if changed < 6 {
		t.Errorf("%d of %d pairs changed their route", changed, len(hops))
	}
	if want := 12 * 120; rates != want {
		t.Errorf("%d rates that can be, want %d", rates, want)
	}
}

// What a History makes an archive takes, and a list of series shows that it is generated.
func TestIntoArchive(t *testing.T) {
	a, err := archive.Open(t.Context(), filepath.Join(t.TempDir(), "archive.db"), archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	h := generated.Day(generated.Scattered("h", 3, 1), time.Now(), 7)
	if err := h.Fill(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	keys, err := a.Keys(t.Context(), archive.Match{Source: "h1", Target: "h2"})
	if err != nil || len(keys) != 12+2+1 {
		t.Errorf("error %v, %d series of a pair", err, len(keys))
	}
	for _, k := range keys {
		if !strings.HasPrefix(k.Test, generated.Label+" ") {
			t.Errorf("%+v does not say that it is generated", k)
		}
	}
	if filed := a.Stats().Filed; filed != int64(h.Results()) {
		t.Errorf("%d of %d filed", filed, h.Results())
	}
}

func TestFillEnds(t *testing.T) {
	full := errors.New("full")
	d := &drawer{full: full}
	h := generated.Day(generated.Scattered("h", 9, 1), end, 7)
	if err := h.Fill(t.Context(), d); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
	h.Hosts = h.Hosts[:1]
	if err := h.Fill(t.Context(), d); err != nil || h.Results() != 0 {
		t.Errorf("one host alone: %d results, error %v", h.Results(), err)
	}
}
