package browser

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// crossing are traces between four hosts, of which two pairs were moved to another link an hour ago.
func crossing(now time.Time) (all []*measure.Result) {
	routes := map[[2]string][]string{
		{"ucl", "dl"}:     {"10.1.0.2", "10.1.1.2", "10.1.2.2", "10.0.0.6"},
		{"dl", "ucl"}:     {"10.1.3.1", "10.1.2.1", "10.1.1.1", "10.0.0.1"},
		{"ucl", "nikhef"}: {"10.1.0.2", "10.1.4.2", "10.0.0.7"},
		{"qmul", "dl"}:    {"10.1.5.2", "10.1.1.2", "10.1.2.2", "10.0.0.6"},
	}
	for pair, hops := range routes {
		for ago := 3 * time.Hour; ago > 0; ago -= 10 * time.Minute {
			r := ended("trace", "route", pair[0], pair[1], now.Add(-ago))
			for i, address := range hops {
				if pair[1] == "dl" && ago <= time.Hour {
					address = strings.NewReplacer("10.1.1.2", "10.1.7.2", "10.1.2.2", "10.1.8.2").Replace(address)
				}
				v := float64(i+1) * 2e-3
				r.Samples.Hops = append(r.Samples.Hops, measure.Hop{TTL: i + 1, Addresses: []string{address}, RTTSeconds: []*float64{&v}})
			}
			r.Samples.Hops[len(hops)-1].Reply = "port unreachable"
			all = append(all, r)
		}
	}
	return all
}

// The routes of all pairs are one graph, in which links are as thick as pairs use them, and those that changed stand out, in the drawing and in words.
func TestRouteGraph(t *testing.T) {
	folder := t.TempDir()
	store, err := archive.Open(context.Background(), filepath.Join(folder, "archive"), archive.Options{})
	must(t, err)
	must(t, store.Put(context.Background(), crossing(time.Now())))
	m, end := serveMesh(t, folder, store, meshText)
	t.Cleanup(func() { must(t, end()) })
	p := open(t, desk, m.url+"#/routes")
	p.until("document.querySelectorAll('.route-graph .host').length === 4 && document.querySelector('#changed')")
	got := value[string](p, `[document.querySelectorAll('.route-graph .router').length, document.querySelectorAll('.route-graph .link').length,
		document.querySelectorAll('.route-graph .link.new').length, document.querySelectorAll('.route-graph .link.left').length].join()`)
	if got != "6,10,3,3" {
		t.Errorf("routers, links, new links, left links: %s", got)
	}
	p.until("/4 pairs, 6 routers, 10 links, of which 6 changed/.test(document.querySelector('main').innerText.replaceAll('\u00a0', ' '))")
	p.until("/10\\.1\\.1\\.2.*1 pair, left since/.test([...document.querySelectorAll('.route-links tr')].map((e) => e.innerText.replace(/\\s+/g, ' ')).join('; '))")
	p.until("/10\\.1\\.0\\.2.*\\[AS64500\\]  Example University, CH/.test([...document.querySelectorAll('.route-graph .router title')].map((e) => e.textContent).join('; '))")
	widths := value[float64](p, "Math.max(...[...document.querySelectorAll('.route-graph .link')].map((e) => +e.getAttribute('stroke-width'))) - Math.min(...[...document.querySelectorAll('.route-graph .link')].map((e) => +e.getAttribute('stroke-width')))")
	if widths < 4 {
		t.Errorf("links differ in thickness by %v pixels", widths)
	}
	p.run(chromedp.Click(chromedp.CSS(".choice button:first-child")))
	p.until("location.hash.includes('from=-6h') && document.querySelector('.route-graph svg')")
	p.withAxe()
	p.accessible("routes")
	p.show("#/routes", phone, true)
	p.until("document.querySelector('.route-graph svg') && document.documentElement.scrollWidth <= innerWidth")
	p.accessible("routes on a phone")
	p.show("#/routes", desk, false)
	p.until("document.querySelector('.route-graph svg')")
	p.picture("routes")
}
