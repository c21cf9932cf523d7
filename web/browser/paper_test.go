package browser

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pathwise-net/pathwise/measure"
)

// onPaper is how many sheets of A4 a page is printed on. With PATHWISE_SCREENSHOTS they are kept, as a PDF.
func (p *tab) onPaper(name string) int {
	p.t.Helper()
	printed, err := chromedp.Call(p, page.PrintToPDF, page.PrintToPDFParams{PaperWidth: 8.27, PaperHeight: 11.69, PrintBackground: new(true)})
	must(p.t, err)
	file := printed.Data
	if folder := os.Getenv("PATHWISE_SCREENSHOTS"); folder != "" {
		must(p.t, os.WriteFile(filepath.Join(folder, name+".pdf"), file, 0o644))
		p.asOnPaper(filepath.Join(folder, name+".png"))
	}
	if !bytes.HasPrefix(file, []byte("%PDF")) {
		p.t.Fatalf("%s: that is no PDF: %.20q", name, file)
	}
	return len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(file, -1))
}

// asOnPaper keeps a picture of a page as it is on paper, but for where a sheet ends.
func (p *tab) asOnPaper(path string) {
	p.t.Helper()
	media := func(name, theme string) {
		_, err := chromedp.Call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: name,
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}})
		must(p.t, err)
	}
	media("print", "light")
	p.run(chromedp.EmulateViewport(718, 1000)) // A4 without its margins, in pixels of 1/96 inch
	p.until("!document.querySelector('[aria-busy=true]')")
	p.shoot(path)
	media("", "dark")
	p.run(chromedp.EmulateViewport(desk[0], desk[1]))
}

// diagnosisOnPaper files a diagnosis with a cause, its evidence and its cure, and is its ID.
func diagnosisOnPaper(t *testing.T) string {
	t.Helper()
	r := ended("diagnosis", "diagnosis", "ucl", "cern", time.Now().Add(-time.Minute))
	r.Parameters = map[string]any{"verdict": "receive-window-limited", "results": []any{someResult}}
	r.Metrics["achieved_bits_per_second"], r.Metrics["expected_bits_per_second"] = 1e7, 5e7
	r.Samples.Findings = []measure.Finding{{ID: "receive-window-limited", Severity: measure.Problem, Confidence: 0.97, Where: "receiver cern", Explanation: "It is too small.",
		Evidence:  []measure.Evidence{{Metric: "rwnd_limited_ratio", Value: 0.97, Unit: "ratio", Means: "share of the time"}},
		Advice:    []measure.Advice{{Host: "cern", Command: "sysctl -w net.ipv4.tcp_rmem=x", Why: "it lets the buffer grow"}},
		Predicted: &measure.Predicted{BitsPerSecond: 5e7, Basis: "the next limit"}}}
	must(t, theMesh(t).archive.Put(context.Background(), []*measure.Result{r}))
	return r.ID
}

// A pair's page and a diagnosis are two sheets of paper at most, in the colours of paper whatever the screen has, without what one presses.
func TestPaper(t *testing.T) {
	p := open(t, desk, eventfulMesh(t).url)
	for _, c := range []struct{ name, hash, ready string }{
		{"pair-printed", "#/pair/ucl/cern", graphsDrawn},
		{"diagnosis-printed", "#/result/" + diagnosisOnPaper(t), "document.querySelector('.diagnosis .predicted')"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := p.in(t)
			p.show(c.hash, desk, true)
			p.until(c.ready)
			p.run(chromedp.Evaluate[chromedp.Void](`addEventListener('beforeprint', () => { globalThis.themeOnPaper = document.documentElement.dataset.theme; }, {once: true}); void 0`))
			if n := p.onPaper(c.name); n < 1 || n > 2 {
				t.Errorf("%d sheets, want two at most", n)
			}
			if theme := value[string](p, "globalThis.themeOnPaper ?? 'none'"); theme != "light" {
				t.Errorf("the theme on paper is %s", theme)
			}
			if value[bool](p, "document.documentElement.dataset.theme === 'light'") {
				t.Error("the page stays light after it was printed")
			}
		})
	}
}

// On a wall one view follows another without anything to press; Space holds it, and Escape leads back.
func TestWall(t *testing.T) {
	p := open(t, wall, theMesh(t).url+"#/wall?every=2")
	p.withAxe()
	const view = "document.querySelector('.wall').dataset.view"
	p.until("document.querySelector('.wall') && " + matrixPainted)
	p.accessible("wall")
	if n := value[int](p, "[...document.querySelectorAll('main button, main select, main input, header')].filter((e) => e.offsetParent).length"); n > 0 {
		t.Errorf("%d controls on a wall", n)
	}
	first := value[string](p, view)
	p.until(view + " !== '" + first + "' && document.querySelector('.matrix canvas')?.dataset.painted")
	p.keys(" ")
	p.until("/^Held/.test(document.querySelector('.wall > p').textContent)")
	p.until("document.documentElement.scrollWidth <= innerWidth")
	p.keys(kb.Escape)
	p.until("location.hash === '#/' && document.querySelector('header')")
}

// The page of a pair opens on one sentence and the graph of the delay, which are whole on the first screen; what is seldom used is folded.
func TestPairOpensOnItsGraph(t *testing.T) {
	p := open(t, desk, theMesh(t).url)
	for _, size := range [][2]int64{desk, half, phone} {
		p.show("#/", size, false)
		p.show("#/pair/ucl/cern", size, false)
		p.until(graphsDrawn)
		p.until("document.querySelector('.since[aria-busy=false]')")
		p.until("document.documentElement.scrollWidth <= innerWidth")
		foot := "document.querySelector('.plot .canvas').getBoundingClientRect().bottom"
		if got := value[float64](p, foot); got > float64(size[1]) {
			t.Errorf("at %d by %d the first graph ends at %.0f", size[0], size[1], got)
		}
		if value[bool](p, "document.querySelector('.fold').open") {
			t.Errorf("at %d by %d what is seldom used is not folded", size[0], size[1])
		}
	}
}
