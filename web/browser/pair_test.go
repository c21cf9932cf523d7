package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// events is what happened between qmul and nikhef in the last six hours: two other routes, then the first again; two diagnoses.
var events sync.Once

func eventfulMesh(t *testing.T) *mesh {
	t.Helper()
	m := theMesh(t)
	events.Do(func() { must(t, m.archive.Put(context.Background(), eventful(time.Now()))) })
	return m
}

// eventful is a past in which a route changed and came back, and two diagnoses were made.
func eventful(now time.Time) (all []*measure.Result) {
	for ago := 340 * time.Minute; ago > 0; ago -= 20 * time.Minute {
		r := ended("trace", "route", "qmul", "nikhef", now.Add(-ago))
		hops := []string{"10.8.0.1", "10.8.0.2", "10.8.0.3", "10.8.0.4"}
		if ago < 4*time.Hour && ago > 2*time.Hour {
			hops = []string{"10.8.0.1", "10.8.7.2", "10.8.0.3", "10.8.7.4", "10.8.7.5"}
		}
		for i, address := range hops {
			v := float64(i+1) * 2e-3
			r.Samples.Hops = append(r.Samples.Hops, measure.Hop{TTL: i + 1, Addresses: []string{address}, RTTSeconds: []*float64{&v}})
		}
		r.Samples.Hops[len(hops)-1].Reply = "port unreachable" // by the target
		r.Metrics[measure.HopCount] = float64(len(hops))
		all = append(all, r, oneWay(now.Add(-ago), float64(ago.Minutes())))
	}
	return append(all, diagnosed(now.Add(-3*time.Hour), "receive-window-limited", measure.Problem), diagnosed(now.Add(-time.Hour), "path-full", measure.Info))
}

// oneWay has delays that grow together, and a delay variation that falls meanwhile.
func oneWay(at time.Time, x float64) *measure.Result {
	r := ended("owd", "oneway", "qmul", "nikhef", at)
	for _, way := range []string{"forward", "reverse"} {
		for i, part := range []string{"min", "median", "p95", "max"} {
			r.Metrics[measure.Metric("owd_"+way+"_"+part+"_seconds")] = 5e-3 + x*1e-5 + float64(i)*1e-4
		}
		r.Metrics[measure.Metric("ipdv_"+way+"_p95_seconds")] = 0.01 - x*1e-5
	}
	r.Metrics["reordering_ratio"] = 0.01
	return r
}

func diagnosed(at time.Time, verdict string, severity measure.Severity) *measure.Result {
	r := ended("diagnosis", "diagnosis", "qmul", "nikhef", at)
	r.Parameters["verdict"] = verdict
	r.Samples.Findings = []measure.Finding{{ID: verdict, Severity: severity, Confidence: 0.9, Where: "receiver host", Explanation: "it is so"}}
	r.Metrics["achieved_bits_per_second"] = 1e8
	return r
}

const pairStands = "document.querySelectorAll('.plot .canvas[data-buckets]').length >= 10 && document.querySelectorAll('.event').length && !document.querySelector('[aria-busy=true]') && document.querySelector('#results')"

// What happened stands above the graphs and in them, is reached by keyboard, told in words, and leads to what it was.
func TestEventsOnTheTimeLine(t *testing.T) {
	p := open(t, desk, eventfulMesh(t).url+"#/pair/qmul/nikhef?from=-6h")
	p.until(pairStands)
	if n := value[int](p, "document.querySelectorAll('.event').length"); n != 4 {
		t.Errorf("%d marks, want those of two routes and two diagnoses", n)
	}
	if letters := value[string](p, "[...document.querySelectorAll('.event text')].map((e) => e.textContent).join('')"); letters != "RFRF" {
		t.Errorf("the marks are %s", letters)
	}
	p.until("/Last diagnosis: The path carries what its narrowest link can/.test(document.querySelector('.ends').textContent)")
	p.until("document.querySelector('a[href=\"#/test?source=qmul&target=nikhef\"]')")
	p.tabTo(".event")
	p.until("/finding qmul → nikhef: .*The path carries what its narrowest link can/.test(document.querySelector('.told').textContent)")
	p.keys(kb.ArrowLeft)
	p.until("/route change qmul → nikhef: hop 2: 10\\.8\\.7\\.2 is now 10\\.8\\.0\\.2, 2 hops from 4 to 5 differ, too, one hop fewer/.test(document.querySelector('.told').textContent)")
	p.keys(kb.Home, kb.ArrowRight)
	p.until("/finding.*, problem: .*The receiver's window is too small/.test(document.activeElement.getAttribute('aria-label')) && document.activeElement.matches('.event.problem')")
	p.keys(kb.Enter)
	p.until("document.activeElement.matches('.lane tr') && document.activeElement.textContent.includes('window is too small')")
	p.tabTo(".lane tr a[href^='#/result/']")
	// A graph says at the cursor what happened there.
	p.tabTo(".plot .canvas")
	p.keys(kb.Home)
	walked := false
	for range 80 {
		if walked = value[bool](p, "/; (route change|finding) qmul → nikhef/.test(document.activeElement.parentElement.querySelector('[aria-live]').textContent)"); walked {
			break
		}
		p.keys(kb.ArrowRight)
	}
	if !walked {
		t.Error("no graph tells of a change")
	}
	p.run(chromedp.Click(chromedp.CSS(".lane .event.problem")))
	p.until("document.activeElement.matches('.lane tr')")
	p.run(chromedp.Click(chromedp.CSS(".lane tr:focus a:not([href^='#/result'])")))
	p.until("/from=.*to=/.test(location.hash) && document.querySelectorAll('.event').length === 1 && !document.querySelector('[aria-busy=true]')")
}

// Which routes there were, by which routers with their names, what they differ in, and when each held; only once somebody comes near.
func TestRouteOverTime(t *testing.T) {
	p := open(t, desk, eventfulMesh(t).url+"#/pair/qmul/nikhef?from=-6h")
	p.until(pairStands + " && document.querySelector('.later')")
	const asked = "performance.getEntriesByType('resource').filter((e) => e.name.includes('/routes?')).length"
	if n := value[int](p, asked); n > 0 {
		t.Errorf("%d questions for routes before anybody went there", n)
	}
	p.until("(document.querySelector('.later')?.scrollIntoView(), document.querySelector('.routes'))")
	heads := value[string](p, "[...document.querySelectorAll('.routes thead th b')].map((e) => e.textContent).join('')")
	text := value[string](p, "document.querySelector('#routes').parentElement.innerText")
	if heads != "ABA" {
		t.Errorf("newest first, the routes are %s", heads)
	}
	for _, part := range []string{"2 routes, 2 changes", "hop 2: 10.8.0.2 is now 10.8.7.2", "hop 5: 10.8.7.5 is new", "hop 5: 10.8.7.5 is gone", "the first of this span", "≠ south4.example.net (10.8.7.4)", "[AS64500] Example University, CH"} {
		if !strings.Contains(text, part) {
			t.Errorf("the section does not say %q: %s", part, text)
		}
	}
	if label := value[string](p, "document.querySelector('.strip').getAttribute('aria-label')"); strings.Count(label, "A from") != 2 || strings.Count(label, "B from") != 1 {
		t.Errorf("the strip says %q", label)
	}
	// The picture has a row for each hop, in which another router has another colour, and a mark for each change.
	const row = "[...document.querySelectorAll('.lattice .row')].find((r) => r.firstChild.textContent === '2')"
	colours := value[string](p, "[...("+row+").querySelectorAll('.cells span')].map((c) => c.className + ' ' + c.title.slice('hop 2: '.length)).join('; ')")
	if colours != "r0 10.8.0.2; r1 10.8.7.2, [AS64500]  Example University, CH; r0 10.8.0.2" {
		t.Errorf("hop 2 is drawn as %s", colours)
	}
	if marks := value[int](p, "document.querySelectorAll('.lattice .marks i').length"); marks != 2 {
		t.Errorf("%d marks of changes", marks)
	}
	if !strings.Contains(text, "hop 2: 10.8.0.2 is now 10.8.7.2, 2 hops from 4 to 5 differ, too, one hop more, round trip 8.00 ms before, 10.0 ms after: 2.00 ms more") {
		t.Errorf("the step of the round trip is not told: %s", text)
	}
	p.run(chromedp.Click(chromedp.CSS("#routes button:last-child")))
	p.until("location.hash.includes('way=back') && document.querySelector('#routes').parentElement.textContent.includes('probe: trace')")
}

// Another series lies over each graph, is told beside its own, and is in the URL; and the span is still drawn with the pointer.
func TestCompare(t *testing.T) {
	m := eventfulMesh(t)
	var marked []*measure.Result
	for ago := time.Minute; ago < time.Hour; ago += time.Minute {
		r := ended("ping", "rtt-ef", "ral", "qmul", time.Now().Add(-ago))
		r.Metrics = map[measure.Metric]float64{measure.RTTMedian: 0.077}
		marked = append(marked, r)
	}
	must(t, m.hub.File(context.Background(), "ral", marked))
	p := open(t, desk, m.url+"#/pair/ucl/cern?from=-1d")
	p.until(graphsDrawn)
	p.tabTo(".fold summary")
	p.keys(kb.Enter)
	p.tabTo("select[name=with]")
	p.keys("the o") // as one types to choose
	p.until("location.hash.includes('with=reverse') && document.querySelector('.legend').textContent.includes('the other direction') && !document.querySelector('[aria-busy=true]')")
	tells := func(pattern string) { // at some of the newest values: where the mesh just missed a run there is none
		t.Helper()
		p.keys(kb.End)
		for range 12 {
			p.keys(kb.ArrowLeft)
			if value[bool](p, fmt.Sprintf("/%s/.test(document.querySelector('.plot [aria-live]').textContent)", pattern)) {
				return
			}
		}
		t.Errorf("no value is told with %s", pattern)
	}
	p.tabTo(".plot .canvas")
	tells("[\\d.]+\\sms.*, the other direction [\\d.]+\\sms")
	for _, c := range []struct{ query, name string }{
		{"with=ucl/man", "ucl → man"}, {"with=reverse&shift=-1d", "the other direction, a day before"}, {"with=tool:bulk", "tool bulk"},
	} {
		p.show("#/pair/ucl/cern?from=-6h&"+c.query, desk, false)
		p.until(fmt.Sprintf("document.querySelector('.legend')?.textContent.includes(%q)", c.name) + " && " + graphsDrawn)
		p.run(chromedp.Focus(chromedp.CSS(".plot .canvas")))
		if c.name != "tool bulk" { // which measures no delay
			tells(", " + c.name + " ")
		}
	}
	for _, with := range []string{"tool:rtt-ef", "test:rtt-ef@all"} { // as the same is measured with another DSCP
		p.show("#/pair/ral/qmul?from=-6h&with="+with, desk, false)
		name := strings.Replace(with, ":", " ", 1)
		p.until(fmt.Sprintf("document.querySelector('.legend')?.textContent.includes(%q)", name) + " && document.querySelector('.plot .canvas[data-buckets]') && !document.querySelector('[aria-busy=true]')")
		p.run(chromedp.Focus(chromedp.CSS(".plot .canvas")))
		tells(", " + name + " 77[\\d.]*\\sms")
	}
	p.show("#/pair/ucl/cern?from=-1d&with=reverse", desk, false)
	p.until(graphsDrawn + " && document.querySelectorAll('.event').length && document.querySelector('.since[aria-busy=false]')")
	box := value[[]float64](p, "(() => { document.querySelector('.u-over').scrollIntoView({block: 'center'}); const r = document.querySelector('.u-over').getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()")
	p.run(chromedp.DragAndDropXY(box[0]+box[2]*0.3, box[1]+box[3]/2, box[0]+box[2]*0.6, box[1]+box[3]/2, 8))
	p.until("location.hash.includes('to=') && location.hash.includes('with=reverse') && !document.querySelector('[aria-busy=true]')")
	p.run(chromedp.Focus(chromedp.CSS("input[name=other]")))
	p.keys("nonsense" + kb.Enter)
	p.until("document.querySelector('#other-wrong').textContent.includes('ucl/cern')")
}

// A route that changed stands among the newest changes, and leads to the routes of the pair at that time. The mesh is the test's own: in
// the shared one the other tests bring newer changes.
func TestRouteChangesOfTheMesh(t *testing.T) {
	folder := t.TempDir()
	store, err := archive.Open(context.Background(), filepath.Join(folder, "archive"), archive.Options{})
	must(t, err)
	must(t, store.Put(context.Background(), eventful(time.Now())))
	m, end := serveMesh(t, folder, store, meshText)
	t.Cleanup(func() { must(t, end()) })
	p := open(t, desk, m.url)
	const change = "[...document.querySelectorAll('.news a')].find((a) => a.textContent.startsWith('qmul → nikhef, route: hop 2: 10.8.7.2 is now 10.8.0.2, 2 hops from 4 to 5 differ, too, one hop fewer'))"
	p.until(matrixPainted + " && " + change)
	p.run(chromedp.Evaluate[chromedp.Void](change + ".click()"))
	p.until("location.hash.startsWith('#/pair/qmul/nikhef?from=') && document.querySelector('.routes')")
	p.until("(() => { const r = document.querySelector('#routes').getBoundingClientRect(); return r.top >= 0 && r.top < innerHeight; })()") // nobody scrolled there
	if text := value[string](p, "document.querySelector('#routes').parentElement.innerText"); !strings.Contains(text, "2 routes, 1 change") {
		t.Errorf("the routes about the change: %s", text)
	}
}

// Two metrics against each other, in a picture, numbers and words.
func TestScatter(t *testing.T) {
	p := open(t, desk, eventfulMesh(t).url+"#/pair/qmul/nikhef?from=-6h&x=owd_forward_median_seconds&y=ipdv_reverse_p95_seconds")
	p.until(pairStands)
	p.until("(document.querySelector('.later')?.scrollIntoView(), document.querySelector('.verdict'))")
	const verdict = "document.querySelector('.verdict').textContent"
	p.until("/^17\\spoints \\(n\\): Pearson’s r −1\\.00, Spearman’s ρ −1\\.00: a very close relation: one falls as the other rises\\.$/.test(" + verdict + ") && document.querySelectorAll('.scatter circle').length === 17")
	p.run(chromedp.Evaluate[chromedp.Void](`(() => { const s = document.querySelector('select[name=y]'); s.value = 'reordering_ratio'; s.dispatchEvent(new Event('change', {bubbles: true})); })()`))
	p.until("location.hash.includes('y=reordering_ratio') && " + verdict + ".includes('one of both never changes')")
}

// All of it is there for who does not see it, on a phone too.
func TestPairAccessible(t *testing.T) {
	p := open(t, desk, eventfulMesh(t).url)
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	must(t, err)
	p.run(chromedp.Evaluate[chromedp.Void](string(axe) + ";void 0"))
	for _, c := range []struct {
		size [2]int64
		dark bool
	}{{phone, false}, {wall, true}} {
		p.show("#/pair/qmul/nikhef?from=-6h&with=reverse&shift=-1d", c.size, c.dark)
		p.until(pairStands)
		p.until("(document.querySelector('.later')?.scrollIntoView(), document.querySelector('.routes') && document.querySelector('.verdict') && document.querySelector('#tools') && !document.querySelector('[aria-busy=true]'))")
		p.run(chromedp.Evaluate[chromedp.Void]("document.querySelectorAll('details').forEach((d) => { d.open = true; }); void 0"))
		p.until("document.querySelector('.lane table')")
		p.accessible("pair")
		p.until("document.documentElement.scrollWidth <= innerWidth")
		p.show("#/", c.size, c.dark)
	}
}

// What the page of a pair computes, as TestUnits has it for the others.
func TestPairUnits(t *testing.T) {
	p := open(t, desk, theMesh(t).url)
	const routes = `[['a', 'b'], ['a', 'c', 'd'], ['a', ''], ['a', 'b']].map((r, i) => ({first: new Date(i * 1e3).toISOString(), last: new Date(i * 1e3 + 500).toISOString(),
		hops: r.map((a, k) => ({ttl: k + 1, addresses: a ? [a] : null})), changed: [[], [3, 2], [3], []][i]}))`
	const changes = `[['route', 0, 'info'], ['finding', 10, 'problem'], ['route', 11, 'info'], ['configuration', 90, 'warning']].map(([kind, t, severity]) => ({kind, t, severity, way: kind === 'configuration' ? null : 0, text: 'x', at: String(t)}))`
	for _, c := range []struct{ module, expression, want string }{
		{"relation.js", `[pearson([1, 2, 3], [2, 4, 6]), pearson([1, 2, 3], [3, 2, 1]), pearson([1, 2, 3, 4], [1, -1, -1, 1]), pearson([1, 2], [5, 5]), pearson([], []), pearson([0.1, 0.1, 0.1], [1, 2, 3])].join()`, "1,-1,0,,,"},
		{"relation.js", `pearson([43, 21, 25, 42, 57, 59], [99, 65, 79, 75, 87, 81]).toFixed(4)`, "0.5298"},
		{"relation.js", `[ranks([10, 30, 20]).join(), ranks([5, 1, 5, 5]).join(), ranks([]).join()].join(' ')`, "1,3,2 3,1,3,3 "},
		{"relation.js", `[spearman([1, 2, 3, 4], [1, 10, 100, 1000]), spearman([1, 2, 3], [9, 4, 1]), spearman([106, 100, 86, 101, 99, 103, 97, 113, 112, 110], [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]).toFixed(4)].join()`, "1,-1,-0.1758"},
		{"tools.js", `[deviation(0.05), deviation(-0.25), deviation(0), deviation(null)].join(', ').replaceAll('\u00a0', ' ')`, "+5 %, −25 %, +0 %, not known"},
		{"relation.js", `inWords(0.9, 0.9, 5)`, "too few points to say: there must be 8"},
		{"relation.js", `inWords(null, null, 50)`, "one of both never changes, so nothing can be said"},
		{"relation.js", `inWords(0.1, 0.1, 1000)`, "no relation to speak of"},
		{"relation.js", `inWords(0.5, 0.5, 10)`, "no relation to speak of"}, // chance does that
		{"relation.js", `inWords(0.5, 0.5, 50)`, "a clear relation: both rise together"},
		{"relation.js", `inWords(-0.9, -0.95, 50)`, "a very close relation: one falls as the other rises"},
		{"relation.js", `inWords(0.9, 0.1, 50)`, "no relation to speak of; a few far points make the straight line look better than it is"},
		{"relation.js", `inWords(0.3, 0.9, 50)`, "a very close relation: both rise together; the line is bent, or a few far points hide it"},
		{"relation.js", `JSON.stringify(joined({buckets: [{start: '1970-01-01T00:00:01Z', mean: 3}, {start: '1970-01-01T00:00:02Z', mean: 4}]}, {buckets: [{start: '1970-01-01T00:00:02.000Z', mean: 5}, {start: '1970-01-01T00:00:03Z', mean: 5}]}, (b) => b.mean, (b) => b.mean))`, `[{"at":2000,"x":4,"y":5}]`},

		{"hops.js", `(() => { const r = ` + routes + `; return [told(differences(r[0], r[1])), told(differences(r[1], r[2])), differences(undefined, r[0]).length, differences(r[2], r[3]).length].join(' | '); })()`,
			"hop 2: b is now c; hop 3: d is new | hop 3: d is gone | 0 | 0"},
		{"hops.js", `letters(` + routes + `).join('')`, "ABAA"},
		{"hops.js", `letters(Array.from({length: 28}, (_, i) => ({hops: [{ttl: 1, addresses: [String(i)]}]}))).slice(-3).join()`, "Z,A2,B2"},
		{"hops.js", `held(` + routes + `, {from: 500, to: 4500}).map((h) => h.begin + '-' + h.end).join(' ')`, "0-0.125 0.125-0.375 0.375-0.625 0.625-0.75"},
		{"hops.js", `told(Array.from({length: 6}, (_, i) => ({ttl: i, kind: 'new', before: '', after: 'x'})))`, "hop 0: x is new; hop 1: x is new; hop 2: x is new; hop 3: x is new; and 2 more"},

		{"lattice.js", `cells(` + routes + `, {from: 0, to: 4000}).map((r) => r.ttl + ': ' + r.cells.map((c) => c.who + c.colour).join()).join(' | ')`, "1: a0 | 2: b0,c1,-1,b0 | 3: d0"},
		{"lattice.js", `JSON.stringify(lineOf([{at: '1970-01-01T00:00:01Z', seconds: 1}, {at: '1970-01-01T00:00:02Z', seconds: 0.55}], {from: 0, to: 4000}))`, `{"high":1.1,"points":"250.0,9.1 500.0,50.0"}`},
		{"happened.js", `grouped(` + changes + `, {from: 0, to: 100}, 20).map((g) => letterOf(g) + g.at + g.worst.severity).join()`, "R0info,F+10problem,C90warning"},
		{"happened.js", `grouped(` + changes + `, {from: 5, to: 50}, 4).map((g) => letterOf(g) + g.changes.length).join()`, "F+2"},
		{"happened.js", `sentence({...` + changes + `[1], by: 'anna'}, ['a', 'b'])`, "finding a → b, problem: x, by anna"},
		{"happened.js", `merged([{changes: [{at: '2026-11-22T02:00:00Z', kind: 'configuration', text: 'c'}, {at: '2026-11-22T01:00:00Z', kind: 'route', text: 'r'}]}, {changes: [{at: '2026-11-22T02:00:00Z', kind: 'configuration', text: 'c'}, {at: '2026-11-22T03:00:00Z', kind: 'route', text: 'r'}]}, null]).map((c) => c.kind + c.way).join()`, "route0,configurationnull,route1"},

		{"compare.js", `[['a/b', null], ['reverse', '-7d'], ['tool:rtt ef', null], [null, '-1d'], ['-2h', null], ['nonsense', '-1d'], ['a/b/c', null], ['', '']].map(([w, s]) => comparedOf(w, s)?.name ?? '-').join('; ')`,
			"a → b; the other direction, a week before; tool rtt ef; a day before; 2h before; -; -; -"},
		{"compare.js", `[comparedOf('reverse'), comparedOf('x/y'), comparedOf('-1d')].map((c) => pairOf(c, ['a', 'b'], false).join('') + pairOf(c, ['b', 'a'], true).join('')).join()`, "baab,xyyx,abba"},
		{"compare.js", `['a/b', ' a → b ', 'a b', 'a>b', 'a', ''].map(pairText).join()`, "a/b,a/b,a/b,a/b,,"},

		{"../metrics.js", `['sent_packets', 'sent_bytes', 'sent_bits_per_second', 'rtt_p99_seconds', 'hop_count', 'odd'].map(labelOf).join('; ')`, "Packets sent; Bytes sent; Rate of sending; Round-trip delay, 99th percentile; Hops; Odd"},
		{"../metrics.js", `['odd_seconds', 'sent_packets', 'bad_seconds', 'rtt_max_seconds', 'rtt_median_seconds'].sort(inOrder).join()`, "rtt_median_seconds,rtt_max_seconds,sent_packets,bad_seconds,odd_seconds"},
		{"../metrics.js", `grouped(['odd_seconds', 'jitter_seconds', 'sent_bytes', 'rtt_max_seconds', 'odd_seconds', 'rtt_median_seconds', 'good_bytes_per_second']).map((g) => g.group + ': ' + g.metrics.map((m) => m.label).join('; ')).join(' | ')`,
			"Delay: Round-trip delay, median; Round-trip delay, maximum | Variation: Jitter | Transfer: Bytes sent | Other: Good rate, bytes/s; Odd, seconds"},
		{"rows.js", `(() => { const k = (tool, role, metric = 'm') => ({tool, role, metric}); const r = (tool, role, runs, metric = 'm') => ({tool, role, metric, runs});
			const keys = [k('a', 'planned'), k('b', 'planned'), k('b', 'planned'), k('c', 'planned'), k('d', 'demand'), k('e', 'planned', 'n')];
			return [toolsOf(keys, 'm', []), toolsOf(keys, 'm', [r('a', 'planned', 5), r('b', 'planned', 2), r('b', 'planned', 2), r('c', 'planned', 1), r('c', 'demand', 99), r('d', 'demand', 999), r('c', 'planned', 99, 'n')])].join(' '); })()`,
			"a,b,c,d a,b,c,d"},
		{"rows.js", `(() => { const keys = ['a', 'b', 'c'].flatMap((tool) => ['planned', 'demand'].map((role) => ({tool, role, metric: 'm'})));
			return toolsOf(keys, 'm', [['a', 'planned', 1], ['b', 'planned', 2], ['b', 'planned', 1], ['c', 'planned', 2], ['c', 'demand', 9]].map(([tool, role, runs]) => ({tool, role, metric: 'm', runs}))).join(); })()`, "b,c,a"},
		{"rows.js", `toolsOf([['a', 'generated a'], ['b', 'rtt@all'], ['c', 'generated c'], ['c', 'rtt@all']].map(([tool, test]) => ({tool, test, role: 'planned', metric: 'm'})), 'm', ['a', 'b', 'c'].map((tool, i) => ({tool, role: 'planned', metric: 'm', runs: 9 - i}))).join()`, "b,c,a"},
		{"controls.js", `rivals([['a', 'm'], ['b', 'm'], ['b', 'n'], ['c', 'o'], ['', 'm']].map(([tool, metric]) => ({tool, metric})), (k) => k.tool).join()`, "a,b"},
		{"scatter.js", `(() => { const axes = axesOf([[{metric: 'm_seconds', tool: 'x'}, {metric: 'm_seconds', tool: 'y'}, {metric: 'n_ratio', tool: 'x', test: 'one'}, {metric: 'n_ratio', tool: 'x', test: 'two'}], [{metric: 'n_ratio', tool: 'x'}]]);
			const c = chosenOf(axes, 'm_seconds@y', 'back:n_ratio'); return axes.map((a) => a.id).join() + ' ' + c.x.id + ' ' + c.y.id; })()`, "m_seconds@x,m_seconds@y,n_ratio,back:n_ratio m_seconds@y back:n_ratio"},
		{"rows.js", `(() => { const b = {start: '2026-11-22T00:00:00Z', count: 2, value: 3, mean: 1, quantiles: [1, 2, 3, 4, 5]}; const doc = {step_seconds: 60, buckets: [b], gaps: null};
			const p = pictureOf({metrics: ['rtt_median_seconds'], draw: 'line'}, [doc], {doc, later: 0, name: 'other'}); return p.columns.length + ' ' + p.series.length + ' ' + p.columns.slice(-3).join() + p.told(0).replace(/.*runs/, ''); })()`, "8 8 2,4,3, other 3.00 s"},
		{"rows.js", `['runs', 'samples'].map((of) => { const b = {start: '2026-11-22T00:00:00Z', count: 1, value: 3, mean: 1, quantiles: [1, 2, 3, 4, 5], quantiles_of: of}; const doc = {step_seconds: 60, buckets: [b], gaps: null};
			const p = pictureOf({metrics: ['rtt_median_seconds'], draw: 'line'}, [doc], {doc, later: 0, name: 'other'}); return p.columns.slice(-3).join() + p.told(0).replace(/.*?: /, ' '); }).join('; ')`,
			",,3 3.00 s, 1 run, other 3.00 s; 2,4,3 3.00 s, half within 2.00 s to 4.00 s, 1 run, other 3.00 s"},
	} {
		got := value[string](p, fmt.Sprintf("import('./pair/%s').then((m) => { for (const k in m) globalThis[k] = m[k]; return String(%s).replaceAll('\u00a0', ' '); })", c.module, c.expression))
		if got != c.want {
			t.Errorf("%s: %s is %q, want %q", c.module, c.expression, got, c.want)
		}
	}
}
