package browser

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pathwise-net/pathwise/web/page"
)

// largeMesh answers for 200 hosts of 40 sites, from dice: it is the page that is tried, not the archive.
func largeMesh() http.Handler {
	const n = 200
	dice := rand.New(rand.NewPCG(1, 2))
	var hosts []map[string]string
	values, counts := make([]*float64, n*n), make([]int, n*n)
	for i := range n {
		hosts = append(hosts, map[string]string{"name": fmt.Sprintf("host%03d", i), "site": fmt.Sprintf("Site %02d", i/5)})
		for j := range n {
			if v := 0.01 + dice.ExpFloat64()*0.04; i != j && dice.IntN(50) > 0 {
				values[i*n+j], counts[i*n+j] = &v, 60
			}
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/matrix", func(w http.ResponseWriter, _ *http.Request) {
		to := time.Now()
		reply(w, map[string]any{"metric": "rtt_median_seconds", "unit": "seconds", "better": "low", "from": to.Add(-time.Hour), "to": to,
			"hosts": hosts, "values": values, "counts": counts, "baseline": nil})
	})
	mux.HandleFunc("GET /api/v1/summary", func(w http.ResponseWriter, _ *http.Request) {
		classes := make([]int, len(values))
		for i := range classes {
			classes[i] = 2 + i%17/15 + i%19/18
		}
		reply(w, map[string]any{"at": time.Now(), "troubles": []any{}, "more": 0, "hosts": hosts, "classes": classes, "pairs": []any{},
			"looked": len(values), "unknown": 0, "runs": len(values), "newest": nil,
			"unasked": map[string]any{"hourly": 4, "made": 0, "next": nil}})
	})
	mux.HandleFunc("GET /api/v1/status", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{"hosts": []any{}, "missed": []any{}, "warnings": []any{}})
	})
	mux.HandleFunc("GET /api/v1/changes", func(w http.ResponseWriter, _ *http.Request) { reply(w, map[string]any{"changes": []any{}}) })
	mux.HandleFunc("GET /api/v1/measured", func(w http.ResponseWriter, _ *http.Request) { reply(w, map[string]any{"measured": []any{}}) })
	mux.HandleFunc("GET /api/v1/since", func(w http.ResponseWriter, _ *http.Request) { reply(w, map[string]any{"since": []any{}}) })
	mux.HandleFunc("GET /api/v1/me", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{"public": true, "scopes": []string{"read"}})
	})
	mux.HandleFunc("GET /api/v1/events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.Handle("/", page.Handler())
	return mux
}

// scrolled is how many frames the matrix is scrolled through.
const scrolled = 60

// scrolling scrolls through the matrix, and returns how far, and the median time between two frames in milliseconds.
var scrolling = fmt.Sprintf(`(async () => {
	const box = document.querySelector('.matrix');
	const frames = [];
	let last = await new Promise(requestAnimationFrame);
	for (let i = 0; i < %d; i++) {
		box.scrollBy(12, 9);
		const now = await new Promise(requestAnimationFrame);
		frames.push(now - last);
		last = now;
	}
	frames.sort((a, b) => a - b);
	return [box.scrollLeft + box.scrollTop, frames[frames.length >> 1]];
})()`, scrolled)

// mostFrame is the processor time that the page's thread may take for a frame: a twentieth of a second is where scrolling begins to
// look like a row of pictures. It is processor time, since a busy machine makes all else longer.
const mostFrame = 50 * time.Millisecond

// worked is the processor time that the page's thread has taken so far for its tasks: script, layout, painting.
func (p *tab) worked() time.Duration {
	p.t.Helper()
	all, err := chromedp.Call(p, performance.GetMetrics, cdp.Empty{})
	must(p.t, err)
	for _, m := range all.Metrics {
		if m.Name == "TaskDuration" {
			return time.Duration(m.Value * float64(time.Second))
		}
	}
	p.t.Fatal("the browser does not say what a page's tasks take")
	return 0
}

// All pairs of 200 hosts paint and scroll, with cells too small for marks and with cells that show numbers.
func TestLargeMatrix(t *testing.T) {
	server := httptest.NewServer(largeMesh())
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	p := open(t, desk, server.URL)
	p.until(matrixPainted) // of health
	p.show("#/?metric=rtt_median_seconds", desk, false)
	p.until("document.querySelector('.timeline') && " + matrixPainted)
	_, err := chromedp.Call(p, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
	must(t, err)
	t.Cleanup(func() {
		_, err := chromedp.Call(chromium.Context, performance.Disable, cdp.Empty{})
		must(t, err)
	})
	t.Logf("40,000 directions: first paint after %.0f ms", value[float64](p, "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1"))
	for size, what := range map[int]string{0: "as fits", 9: "small", 48: "with numbers"} {
		t.Run(what, func(t *testing.T) {
			p := p.in(t)
			p.show(fmt.Sprintf("#/?size=%d", size), desk, false)
			p.until(fmt.Sprintf("document.querySelector('.matrix canvas')?.dataset.size >= %d", size))
			before := p.worked()
			way := value[[]float64](p, scrolling)
			each := (p.worked() - before) / scrolled
			t.Logf("scrolled: a frame every %.1f ms (median), for which the page's thread worked %v", way[1], each.Round(10*time.Microsecond))
			if way[0] < 100 && size > 0 {
				t.Error("it did not scroll")
			}
			if each > mostFrame || each < 10*time.Microsecond {
				t.Errorf("a frame takes %v of the processor, want at most %v", each, mostFrame)
			}
			p.run(chromedp.Focus(chromedp.CSS(".matrix")))
			p.keys(kb.Home, kb.PageUp, kb.End) // the last cell of the first row
			p.until("document.querySelector('.detail').textContent.startsWith('host000 → host199: ')")
		})
	}
}
