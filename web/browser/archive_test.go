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

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

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

// sight tells, in every page, when the first graph was last painted: what is drawn in a frame is on the screen after it.
const sight = `new MutationObserver((seen) => seen.some((s) => s.target === document.querySelector('.plot .canvas')) &&
	requestAnimationFrame(() => setTimeout(() => { globalThis.painted = performance.now(); })))
	.observe(document, {subtree: true, attributes: true, attributeFilter: ['data-buckets']})`

// What issue 5 asks of the pages.
const (
	mostFirstPaint = time.Second
	mostPair       = time.Second
	mostZoom       = 200 * time.Millisecond
	mostViewers    = 300 * time.Millisecond // for 95 of 100 answers, with 50 people at once
)

// How long the pages take over a large archive: the figures of docs/pages.md. Each is the median of several, none of which asks
// what was asked before.
func TestLargeArchive(t *testing.T) {
	file := os.Getenv(largeArchive)
	if file == "" {
		t.Skipf("%s names no archive: `go -C bench run . -only pages -keep DIR` makes one", largeArchive)
	}
	store, err := archive.Open(t.Context(), file, archive.Options{})
	must(t, err)
	m, end := serveMesh(t, t.TempDir(), store, manyHosts())
	t.Cleanup(func() { must(t, end()) })
	newest := newestOf(t, store)
	p := open(t, desk, "about:blank")
	p.own = strings.TrimPrefix(strings.Split(m.url, "/sub")[0], "http://")
	script, err := chromedp.Call(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: sight})
	must(t, err)
	t.Cleanup(func() {
		_, _ = chromedp.Call(p, page.RemoveScriptToEvaluateOnNewDocument, page.RemoveScriptToEvaluateOnNewDocumentParams(script))
	})
	tell := func(what string, took []float64, most time.Duration) {
		t.Helper()
		slices.Sort(took)
		median := took[len(took)/2]
		t.Logf("%-42s %5.0f ms, %.0f to %.0f in %d times", what, median, took[0], took[len(took)-1], len(took))
		if limit := float64(most.Milliseconds()); most > 0 && median > limit {
			t.Errorf("%s: %.0f ms, want at most %.0f", what, median, limit)
		}
	}
	// afresh loads a page as a browser does that is given its address, and comes to when ready was so.
	afresh := func(hash, ready string) float64 {
		p.run(chromedp.Navigate(fmt.Sprintf("%s?%d%s", m.url, time.Now().UnixNano(), hash)))
		p.until(ready)
		return value[float64](p, "globalThis.painted ?? performance.now()")
	}
	at := "#/?at=" + newest.UTC().Format(time.RFC3339)
	var first, stands []float64
	for range 5 {
		stands = append(stands, afresh(at, matrixPainted))
		first = append(first, value[float64](p, "performance.getEntriesByName('first-contentful-paint')[0].startTime"))
		if len(first) == 1 {
			tell("overview: first paint, the first time", slices.Clone(first), mostFirstPaint)
			tell("overview: the matrix, the first time", slices.Clone(stands), 0)
		}
	}
	tell("overview: first paint", first[1:], mostFirstPaint)
	tell("overview: the matrix", stands[1:], 0)
	// span is the route of a pair, over a time that ends a little earlier for each n.
	span := func(pair int, d time.Duration, n int) string {
		to := newest.Add(-time.Duration(n) * d / 50)
		return fmt.Sprintf("#/pair/few%d/few%d?from=%s&to=%s", pair, pair+1, to.Add(-d).UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339))
	}
	const year = 365 * 24 * time.Hour
	var pair, there []float64
	for n := range 5 {
		pair = append(pair, afresh(span(2*n+2, year, 0), "globalThis.painted"))
		afresh(at, matrixPainted)
		there = append(there, value[float64](p, fmt.Sprintf(action, span(2*n+3, year, 0))))
	}
	tell("pair, a year, by its address: first graph", pair, mostPair)
	tell("pair, a year, from the overview: first graph", there, mostPair)
	const idle = "document.querySelector('#results') && !document.querySelector('[aria-busy=true]')"
	for _, z := range []struct {
		what string
		span time.Duration
	}{{"a month", 30 * 24 * time.Hour}, {"a day", 24 * time.Hour}, {"an hour", time.Hour}, {"a year", year}} {
		var took, whole []float64
		for n := range 7 {
			p.until(idle)
			took = append(took, value[float64](p, fmt.Sprintf(action, span(11, z.span, n))))
			p.until("document.querySelector('section.row').getAttribute('aria-busy') === 'false'")
			whole = append(whole, value[float64](p, "new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(painted - began))))"))
		}
		tell("zoom to "+z.what+": first graph", took, mostZoom)
		tell("    with its shades and gaps", whole, 0)
	}
	viewers(t, m.url, newest)
}

// action goes to a route, and comes to how many milliseconds it takes until the first graph is painted for it.
const action = `new Promise((done) => {
	globalThis.painted = undefined;
	globalThis.began = performance.now();
	location.hash = %q;
	const timer = setInterval(() => painted && (clearInterval(timer), done(painted - began)));
})`

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
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 50}} // a browser keeps its connections
	defer client.CloseIdleConnections()
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
					pair := fmt.Sprintf("pairs/few%d/few%d/series?quantiles=0.5&to=%s&from=%s", n%12+1, (n+5)%12+1, stamp(0), stamp(spans[n%4]))
					values := fmt.Sprintf("&gaps=false&step=%s&metric=", []string{"15s", "5m", "3h", "48h"}[n%4])
					calls = []string{pair + values + "rtt_median_seconds", pair + values + "loss_ratio",
						pair + fmt.Sprintf("&metric=rtt_median_seconds&least_gap=%dms", spans[n%4].Milliseconds()/400)}
				}
				for _, c := range calls {
					began := time.Now()
					request, _ := http.NewRequestWithContext(ctx, http.MethodGet, url+"api/v1/"+c, nil)
					answer, err := client.Do(request)
					if err == nil {
						_, err = io.Copy(io.Discard, answer.Body)
						_ = answer.Body.Close()
					}
					if ctx.Err() != nil {
						return // the time is over
					}
					if err != nil || answer.StatusCode != http.StatusOK {
						t.Errorf("%s: %v, %v", c, answer, err)
						return
					}
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
	if len(took) == 0 {
		t.Fatal("50 viewers: no answer")
	}
	slices.Sort(took)
	if p95 := took[len(took)*95/100]; p95 > mostViewers {
		t.Errorf("50 viewers: p95 %v, want at most %v", p95, mostViewers)
	}
	t.Logf("50 viewers: %d answers over HTTP; p50 %v, p95 %v, longest %v", len(took), took[len(took)/2], took[len(took)*95/100], took[len(took)-1])
}
