package browser

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

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
	mux.HandleFunc("GET /api/v1/status", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{"hosts": []any{}, "missed": []any{}, "warnings": []any{}})
	})
	mux.HandleFunc("GET /api/v1/changes", func(w http.ResponseWriter, _ *http.Request) { reply(w, map[string]any{"changes": []any{}}) })
	mux.HandleFunc("GET /api/v1/me", func(w http.ResponseWriter, _ *http.Request) { reply(w, map[string]any{"public": true}) })
	mux.HandleFunc("GET /api/v1/events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.Handle("/", page.Handler())
	return mux
}

// scrolling is how long frames took while the matrix was scrolled through, in milliseconds: median, worst, and the median of
// what its own code took of them.
const scrolling = `(async () => {
	const box = document.querySelector('.matrix');
	const frames = [], own = [];
	const real = window.requestAnimationFrame;
	window.requestAnimationFrame = (f) => real((t) => { const s = performance.now(); f(t); own.push(performance.now() - s); });
	let last = await new Promise(real);
	for (let i = 0; i < 60; i++) {
		box.scrollBy(12, 9);
		const now = await new Promise(real);
		frames.push(now - last);
		last = now;
	}
	window.requestAnimationFrame = real;
	frames.sort((a, b) => a - b); own.sort((a, b) => a - b);
	return [frames[30], frames[59], own[own.length >> 1] ?? 0, box.scrollLeft + box.scrollTop];
})()`

// All pairs of 200 hosts paint and scroll, with cells too small for marks and with cells that show numbers.
func TestLargeMatrix(t *testing.T) {
	server := httptest.NewServer(largeMesh())
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	p := open(t, desk, server.URL)
	p.until(matrixPainted)
	t.Logf("40,000 directions: first paint after %.0f ms", value[float64](p, "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1"))
	for size, what := range map[int]string{0: "as fits", 9: "small", 48: "with numbers"} {
		t.Run(what, func(t *testing.T) {
			p := p.in(t)
			p.show(fmt.Sprintf("#/?size=%d", size), desk, false)
			p.until(fmt.Sprintf("document.querySelector('.matrix canvas')?.dataset.size >= %d", size))
			frames := value[[]float64](p, scrolling)
			t.Logf("scrolled: a frame every %.1f ms (median; worst %.1f), of which %.1f ms are the page's own", frames[0], frames[1], frames[2])
			if frames[3] < 100 && size > 0 {
				t.Error("it did not scroll")
			}
			if frames[0] > 1000 {
				t.Errorf("a frame takes %v ms", frames[0])
			}
			p.run(chromedp.Focus(chromedp.CSS(".matrix")))
			p.keys(kb.Home, kb.PageUp, kb.End) // the last cell of the first row
			p.until("document.querySelector('.detail').textContent.startsWith('host000 → host199: ')")
		})
	}
}
