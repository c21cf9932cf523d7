package browser

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// accessible runs axe-core over what a tab shows: no finding may be serious.
func (p *tab) accessible(what string) {
	p.t.Helper()
	for _, found := range value[[]string](p, `axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations
		.filter((v) => v.impact === 'serious' || v.impact === 'critical')
		.map((v) => v.id + ': ' + v.help + ': ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 150) + ' ' + n.failureSummary).join(' | ')))`) {
		p.t.Errorf("%s: axe: %s", what, strings.ReplaceAll(found, "\n", " "))
	}
}

// Every page, in light and dark, on a phone, a desk and a wall, is there for who does not see it or sees it otherwise; and
// nothing is wider than its screen.
func TestAccessible(t *testing.T) {
	p := open(t, desk, theMesh(t).url)
	p.allowed = []string{"the server responded with a status of 410"} // the invitation is none
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	must(t, err)
	p.run(chromedp.Evaluate[chromedp.Void](string(axe) + ";void 0"))
	for _, c := range []struct {
		name, hash, ready string
		size              [2]int64
		dark              bool
	}{
		{"overview", "#/", matrixPainted, desk, false},
		{"overview of a metric", "#/?metric=rtt_median_seconds", matrixPainted, desk, true},
		{"overview by past, dark, phone", "#/?colour=past", matrixPainted, phone, true},
		{"table, dark, wall", "#/?view=table&metric=loss_ratio", "document.querySelector('.table tr') && document.querySelector('#silent')", wall, true},
		{"pair, phone", "#/pair/ucl/cern", allDrawn, phone, false},
		{"pair, dark, wall", "#/pair/ucl/cern?compare=cern/ucl", allDrawn, wall, true},
		{"sign in, dark", "#/sign-in", "document.querySelector('form')", desk, true},
		{"result, phone", "#/result/" + someResult, "document.querySelector('#echoes')", phone, false},
		{"welcome", "#/welcome?token=x", "document.querySelector('form')", phone, false},
		{"nothing there", "#/elsewhere", "document.querySelector('main a')", desk, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := p.in(t)
			p.show(c.hash, c.size, c.dark)
			p.until(c.ready)
			p.accessible(c.name)
			p.until("document.documentElement.scrollWidth <= innerWidth") // graphs have followed the screen's width
			if c.name == "overview" {
				p.keys("?")
				p.until("document.querySelector('dialog[open]')")
				p.accessible("help")
				p.keys(kb.Escape)
				p.until("!document.querySelector('dialog')")
			}
		})
	}
}
