package browser

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/archive"
)

// largeArchive names the file that `bench -only pages -keep DIR` leaves: a year of 12 hosts, a month of 200.
const largeArchive = "PATHWISE_LARGE_ARCHIVE"

// manyHosts is a mesh file of the 200 hosts.
func manyHosts() string {
	var text, names strings.Builder
	text.WriteString("hosts:\n")
	for i := range 200 {
		fmt.Fprintf(&text, "  many%d: {address: 10.%d.%d.1, site: S%d}\n", i+1, i/250, i%250, i/10)
		fmt.Fprintf(&names, "many%d, ", i+1)
	}
	fmt.Fprintf(&text, "tools: {rtt: {probe: ping, parameters: {count: 2}}}\ngroups: {all: {mesh: [%s]}}\n", strings.TrimSuffix(names.String(), ", "))
	text.WriteString("tests: [{tool: rtt, group: all, schedule: {every: 24h}}]\n")
	return text.String()
}

// How long the pages take over a large archive: the figures of docs/pages.md.
func TestLargeArchive(t *testing.T) {
	file := os.Getenv(largeArchive)
	if file == "" {
		t.Skipf("%s names no archive: `go run ./cmd/bench -only pages -keep DIR` makes one", largeArchive)
	}
	store, err := archive.Open(t.Context(), file, archive.Options{})
	must(t, err)
	m, end := serveMesh(t, t.TempDir(), store, manyHosts())
	t.Cleanup(func() { must(t, end()) })
	newest := newestOf(t, store)
	at := "at=" + newest.UTC().Format(time.RFC3339)
	p := open(t, desk, "about:blank")
	p.own = strings.TrimPrefix(strings.Split(m.url, "/sub")[0], "http://")
	took := func(what, hash, ready string) {
		t.Helper()
		began := time.Now()
		p.show(hash, desk, false)
		p.until(ready)
		t.Logf("%-40s %5d ms", what, time.Since(began).Milliseconds())
	}
	for _, what := range []string{"overview, first time", "overview again"} {
		p.show("", desk, false)
		began := time.Now()
		value[bool](p, fmt.Sprintf("(location.href = %q, true)", m.url+"?"+fmt.Sprint(began.UnixNano())+"#/?"+at))
		p.until(matrixPainted)
		t.Logf("%-40s %5d ms until the matrix stands; first paint %.0f", what, time.Since(began).Milliseconds(),
			value[float64](p, "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1"))
	}
	took("overview, by each pair's past", "#/?colour=past&"+at, matrixPainted)
	const first = "document.querySelector('.plot .canvas[data-buckets]')"
	const idle = first + " && !document.querySelector('[aria-busy=true]')"
	span := func(d time.Duration) string {
		return "#/pair/few1/few2?from=" + newest.Add(-d).UTC().Format(time.RFC3339) + "&to=" + newest.UTC().Format(time.RFC3339)
	}
	took("pair, a year: first graph", span(365*24*time.Hour), first)
	p.until(idle)
	for _, z := range []struct {
		what string
		span time.Duration
	}{{"a month", 30 * 24 * time.Hour}, {"a day", 24 * time.Hour}, {"an hour", time.Hour}, {"a year", 365 * 24 * time.Hour}} {
		took("zoom to "+z.what+": the first graph", span(z.span), "document.querySelector('section.row').getAttribute('aria-busy') === 'false'")
		p.until(idle)
	}
	viewers(t, m.url, newest)
}

func newestOf(t *testing.T, store archive.Archive) time.Time {
	t.Helper()
	page, err := store.Results(t.Context(), archive.ResultQuery{Limit: 1})
	must(t, err)
	if len(page.Results) == 0 {
		t.Fatal("there is nothing in the archive")
	}
	return page.Results[0].Started
}

// viewers are 50 people, half of them at the overview, half at pairs, who look at something else every two seconds.
func viewers(t *testing.T, url string, newest time.Time) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var mu sync.Mutex
	var took []time.Duration
	of := map[string][]time.Duration{}
	var group sync.WaitGroup
	stamp := func(d time.Duration) string { return newest.Add(-d).UTC().Format(time.RFC3339) }
	for v := range 50 {
		group.Go(func() {
			spans := []time.Duration{time.Hour, 24 * time.Hour, 30 * 24 * time.Hour, 365 * 24 * time.Hour}
			select { // people do not look in step
			case <-time.After(time.Duration(v) * 40 * time.Millisecond):
			case <-ctx.Done():
			}
			pause := time.NewTicker(2 * time.Second)
			defer pause.Stop()
			for n := v; ctx.Err() == nil; n++ {
				calls := []string{"matrix?metric=rtt_median_seconds&baseline=7d&at=" + stamp(0), "status"}
				if v%2 == 1 {
					pair := fmt.Sprintf("pairs/few%d/few%d/series?quantiles=0.5&step=12h&metric=", n%12+1, (n+5)%12+1)
					from := "&to=" + stamp(0) + "&from=" + stamp(spans[n%4])
					calls = []string{pair + "rtt_median_seconds" + from, pair + "loss_ratio&gaps=false" + from}
				}
				for _, c := range calls {
					began := time.Now()
					request, _ := http.NewRequestWithContext(ctx, http.MethodGet, url+"api/v1/"+c, nil)
					answer, err := http.DefaultClient.Do(request)
					if err != nil {
						return // the time is over
					}
					if _, err := io.Copy(io.Discard, answer.Body); answer.StatusCode != http.StatusOK {
						t.Errorf("%s: %s, %v", c, answer.Status, err)
					}
					_ = answer.Body.Close()
					mu.Lock()
					took = append(took, time.Since(began))
					kind, _, _ := strings.Cut(c, "?")
					if strings.HasPrefix(kind, "pairs") {
						kind = fmt.Sprintf("series of %v, gaps: %v", spans[n%4], !strings.Contains(c, "gaps=false"))
					}
					of[kind] = append(of[kind], time.Since(began))
					mu.Unlock()
				}
				select {
				case <-pause.C:
				case <-ctx.Done():
				}
			}
		})
	}
	group.Wait()
	for _, kind := range slices.Sorted(maps.Keys(of)) {
		all := of[kind]
		slices.Sort(all)
		t.Logf("  %-34s %4d answers, p50 %v, p95 %v", kind, len(all), all[len(all)/2], all[len(all)*95/100])
	}
	slices.Sort(took)
	t.Logf("50 viewers: %d answers over HTTP; p50 %v, p95 %v, longest %v", len(took), took[len(took)/2], took[len(took)*95/100], took[len(took)-1])
}
