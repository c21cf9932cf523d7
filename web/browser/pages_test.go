package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// From the front page to one packet, without a pointer.
func TestKeyboardAlone(t *testing.T) {
	m := theMesh(t)
	p := open(t, desk, m.url+"#/?metric=rtt_median_seconds")
	p.until(matrixPainted)
	p.keys("\t")
	if text := value[string](p, "document.activeElement.textContent"); text != "Skip to the content" {
		t.Errorf("the first Tab leads to %q", text)
	}
	p.keys(kb.Enter)
	p.until("document.activeElement.id === 'main'")
	p.tabTo(".matrix")
	// The order of sites: nikhef, dl, ral, cern. The first cell is that of nikhef and dl.
	p.until("document.querySelector('.detail').textContent.startsWith('nikhef → dl: ')")
	p.keys(kb.ArrowRight, kb.ArrowRight, kb.ArrowDown)
	p.until("document.querySelector('.detail[aria-live]').textContent.includes('dl → cern: ')")
	p.keys(kb.ArrowLeft, kb.ArrowLeft) // over the diagonal
	p.until("/^dl → nikhef: 1\\d\\d\\sms, warning\\. nikhef → dl: \\d\\d\\.\\d\\sms, good\\./.test(document.querySelector('.detail').textContent)")
	p.keys(kb.End, kb.PageDown)
	p.until("document.querySelector('.detail').textContent.startsWith('ral → man: ')")
	p.keys("[")
	p.until("location.hash.includes('at=') && document.querySelector('.matrix')")
	p.keys("]", kb.Enter)
	p.until("location.hash.startsWith('#/pair/ral/man') && document.activeElement.tagName === 'H1'")
	if title := value[string](p, "document.title"); title != "ral → man · Pathwise" {
		t.Errorf("the title is %q", title)
	}
	p.until("document.querySelector('.plot .canvas[data-buckets]') && document.querySelector('#results') && !document.querySelector('[aria-busy=true]')")
	p.tabTo(".plot .canvas")
	p.keys(kb.End, kb.ArrowLeft)
	p.until("/ms.*1 run/.test(document.querySelector('.plot [aria-live]').textContent)")
	p.keys("+")
	p.until("location.hash.includes('to=')")
	p.keys(kb.Escape)
	p.until("!location.hash.includes('to=')")
	p.until("document.querySelector('a[href^=\"#/result/\"]')")
	p.tabTo("a[href^='#/result/']")
	p.keys(kb.Enter)
	p.until("document.querySelector('#echoes') && document.body.textContent.includes('10 packets')")
}

// order is what was asked for first since the span that is shown was chosen.
const order = `(() => {
	const from = new URLSearchParams(location.hash.split('?')[1]).get('from').slice(0, 13);
	const asked = performance.getEntriesByType('resource').filter((e) => e.name.includes('/series?') && decodeURIComponent(e.name).includes('from=' + from));
	const [a, b, ...others] = asked.sort((a, b) => a.startTime - b.startTime);
	return [a, b].map((e) => new URL(e.name).searchParams).map((q) => q.get('metric') + ' ' + q.get('gaps')).join()
		+ (others.length && others.every((e) => e.startTime >= Math.max(a.responseEnd, b.responseEnd)) ? ',then others' : '');
})()`

// A span is drawn with the pointer; the graph asks for what suits it, and both Escape and the browser lead back.
func TestZoom(t *testing.T) {
	m := theMesh(t)
	p := open(t, desk, m.url+"#/pair/ucl/cern?from=-1d")
	p.until(graphsDrawn)
	steps := "document.querySelector('output').textContent.match(/in steps of (.*?),? ?live?$|in steps of (.*)$/)[0]"
	if text := value[string](p, steps); !strings.Contains(text, "5 min") {
		t.Errorf("a day is drawn %s", text)
	}
	p.until("[...document.querySelectorAll('.plot .read')].some((e) => /\\d gaps?$/.test(e.textContent))")
	p.until("document.querySelector('.since[aria-busy=false]')")
	box := value[[]float64](p, "(() => { document.querySelector('.u-over').scrollIntoView({block: 'center'}); const r = document.querySelector('.u-over').getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()")
	x, y := func(share float64) float64 { return box[0] + box[2]*share }, box[1]+box[3]/2
	p.run(chromedp.DragAndDropXY(x(0.5), y, x(0.6), y, 8))
	p.until("location.hash.includes('to=') && !document.querySelector('[aria-busy=true]')")
	if text := value[string](p, steps); !strings.Contains(text, "30 s") {
		t.Errorf("two hours and a half are drawn %s", text)
	}
	// The line is asked for before all that costs more.
	if asked := value[string](p, order); asked != "rtt_median_seconds false,rtt_median_seconds false,then others" {
		t.Errorf("asked for, with or without gaps: %s", asked)
	}
	p.run(chromedp.NavigateBack())
	p.until("!location.hash.includes('to=') && !document.querySelector('[aria-busy=true]')")
	// Over the hour without a run, the graph says why there is nothing.
	p.until("document.querySelector('.u-over')")
	at := 1 - (8.6)/24.0
	p.run(chromedp.MouseEvent("mouseMoved", x(at), y), chromedp.MouseEvent("mouseMoved", x(at)+1, y))
	p.until("[...document.querySelectorAll('.plot .read')].some((e) => e.textContent.includes('nothing was planned'))")
	// To the second, and past the point where there is nothing.
	at1 := time.Now().Add(-2 * time.Hour)
	p.show(fmt.Sprintf("#/pair/ucl/cern?from=%s&to=%s", at1.UTC().Format(time.RFC3339), at1.Add(time.Second).UTC().Format(time.RFC3339)), desk, false)
	p.until("document.querySelector('output')?.textContent.includes('1 s in steps of 5 ms') && !document.querySelector('[aria-busy=true]')")
}

// What happens shows by itself: a host that comes, a Result that fails; and for a Result with a value, the matrix is asked for again.
func TestLive(t *testing.T) {
	m := theMesh(t)
	p := open(t, desk, m.url+"#/?metric=rtt_median_seconds")
	p.until(matrixPainted + " && document.querySelector('.live.open')")
	m.hub.Heard(fleet.Status{Host: "liv", At: time.Now(), Version: "v1"})
	p.until("document.querySelector('#news').parentElement.textContent.includes('liv is here')")
	p.until("document.querySelector('#silent').parentElement.textContent.includes('All 8')")
	failed := ended("ping", "rtt", "man", "cern", time.Now())
	failed.Fail(fmt.Errorf("socket: <b>not</b> permitted"))
	slow := ended("ping", "rtt", "ral", "dl", time.Now())
	slow.Metrics = map[measure.Metric]float64{measure.RTTMin: 9, measure.RTTMedian: 9, measure.RTTP95: 9, measure.RTTMax: 9, measure.LossRatio: 0}
	const asked = "performance.getEntriesByType('resource').filter((e) => e.name.includes('/matrix')).length"
	before := value[int](p, asked)
	must(t, m.hub.File(context.Background(), "man", []*measure.Result{failed}))
	must(t, m.hub.File(context.Background(), "ral", []*measure.Result{slow}))
	p.until("document.querySelector('#news').parentElement.textContent.includes('socket: <b>not</b> permitted')")
	p.until(fmt.Sprintf("%s > %d", asked, before)) // what it gets may be as old as the server's answers
}

// What somebody else wrote is text, wherever it is shown.
func TestNoInjection(t *testing.T) {
	m := theMesh(t)
	const evil = `<img src=x onerror="document.title='broken into'"><script>document.title='broken into'</script>`
	r := ended("ping", "rtt", "ucl", "cern", time.Now().Add(-time.Minute))
	r.Note(evil)
	r.Fail(fmt.Errorf("%s", evil))
	r.Parameters["command"] = evil
	r.Samples.Output = &measure.Output{Command: []string{evil}, Stdout: evil, Stderr: evil}
	r.Samples.Hops = []measure.Hop{{TTL: 1, Addresses: []string{evil}}}
	must(t, m.archive.Put(context.Background(), []*measure.Result{r}))
	p := open(t, desk, m.url)
	for _, hash := range []string{"#/result/" + r.ID, "#/pair/ucl/cern", "#/pair/%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E/cern", "#/?metric=%3Cimg%20src%3Dx%3E_seconds"} {
		p.show(hash, desk, false)
		p.until("document.querySelector('main') && /<img src=x|&lt;img src=x/.test(document.body.innerText + document.body.innerHTML)")
		if n := value[int](p, "document.querySelectorAll('main img, main script').length"); n > 0 || value[string](p, "document.title") == "broken into" {
			t.Errorf("%s: %d elements came in from outside", hash, n)
		}
	}
}

// instead has the page get another matrix of a metric than the controller's, and ask for it.
func (p *tab) instead(metric, response string) {
	p.t.Helper()
	p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => {
		const real = window.fetch;
		window.fetch = async (path, ...rest) => {
			const answer = await real(path, ...rest);
			if (!path.startsWith('api/v1/matrix?metric=%[1]s')) return answer;
			const doc = await answer.json();
			return new Response(%[2]s);
		};
		location.hash = '#/?metric=%[1]s';
	})()`, metric, response)))
}

// A host that is gone from the next answer may have been the one that somebody looked at. Where there is no answer, the last one
// is not shown under the name of this one.
func TestOtherAnswers(t *testing.T) {
	p := open(t, desk, theMesh(t).url)
	p.until(matrixPainted)
	p.run(chromedp.Focus(chromedp.CSS(".matrix")))
	p.keys(kb.End)
	p.until("document.querySelector('.detail').textContent.startsWith('nikhef → man: ')")
	p.instead("rtt_min_seconds", "JSON.stringify({ ...doc, hosts: doc.hosts.slice(0, 7) })")
	p.until("document.querySelector('.matrix').getAttribute('aria-label').includes('7 hosts') && /^Lower left/.test(document.querySelector('.detail').textContent)")
	p.instead("loss_ratio", "'{}', { status: 503 }")
	p.until("document.querySelector('main h1').textContent === 'Loss' && /The matrix could not be shown/.test(document.querySelector('main').textContent) && !document.querySelector('.matrix')")
}

// A page that fails says so, and leads on.
func TestFault(t *testing.T) {
	p := open(t, desk, theMesh(t).url)
	p.allowed = []string{"TypeError"}
	p.until(matrixPainted)
	p.instead("rtt_min_seconds", "JSON.stringify({ ...doc, hosts: null })")
	p.until("/This page could not be shown.*fault of the page itself/s.test(document.querySelector('main').textContent)")
	p.run(chromedp.Click(chromedp.CSS("nav a[href='#/hosts']")))
	p.until("document.querySelector('main h1')?.textContent === 'Hosts' && document.querySelector('main table')")
}

// A page whose modules cannot be had says so, and is there when they can.
func TestPageIsFetched(t *testing.T) {
	p := open(t, desk, "about:blank")
	block := func(patterns ...*network.BlockPattern) {
		_, err := chromedp.Call(p, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: patterns})
		must(t, err)
	}
	block(&network.BlockPattern{URLPattern: "*://*:*/*/hosts/page.js", Block: true})
	defer block()
	address := theMesh(t).url
	p.own, p.allowed = strings.Split(address, "/")[2], []string{"hosts/page.js"}
	p.run(chromedp.Navigate(address + "#/hosts"))
	p.until("/This page could not be shown. The controller does not answer/.test(document.querySelector('main')?.textContent) && document.title === 'Hosts · Pathwise'")
	block()
	p.run(chromedp.Click(chromedp.CSS(".failure button")))
	p.until("document.querySelector('main table')")
}

// Where there is nothing to show, the page says what to do.
func TestStates(t *testing.T) {
	m := theMesh(t)
	p := open(t, desk, m.url+"#/pair/ucl/nowhere")
	p.allowed = []string{"the server responded with a status of 4"}
	for hash, says := range map[string]string{
		"#/pair/ucl/nowhere":                            "Nothing was measured between ucl and nowhere yet.",
		"#/?metric=path_mtu_bytes":                      "No pair has a value of path MTU in this time.",
		"#/result/01KAG0000000000000000000ZZ":           "This result could not be shown.",
		"#/elsewhere":                                   "No such page",
		"#/constructor":                                 "No such page",
		"#/?at=2026-01-01T00:30:00Z":                    "2025-12-31 23:30 to 2026-01-01 00:30",
		"#/welcome":                                     "needs the whole link",
		"#/pair/ucl/cern?from=2020-01-01&to=2020-01-02": "No value in this span",
	} {
		p.show(hash, desk, false)
		p.until(fmt.Sprintf("document.querySelector('main').textContent.includes(%q)", says))
	}
	p.show("#/pair/ucl/nowhere", desk, false)
	p.until("document.querySelector('main').textContent.includes('says when it runs. Back to') && !document.querySelector('main [aria-busy=true]')")
	p.show("#/welcome?token=secret", desk, false)
	p.until("document.querySelector('form') && !location.hash.includes('secret')")
	p.tabTo("input[name=password]")
	p.keys("short\tshort" + kb.Enter)
	p.until("document.activeElement.textContent.includes('too short')")
	p.show("#/sign-in", desk, false)
	p.until("document.querySelector('input[name=name]')")
	p.tabTo("input[name=name]")
	p.keys("anna\twrong password" + kb.Enter)
	p.until("document.activeElement.textContent.includes('do not belong together')")
}

// Theme and time zone are chosen once, and kept.
func TestSettings(t *testing.T) {
	m := theMesh(t)
	p := open(t, desk, m.url)
	p.show("#/", desk, false)
	p.until(matrixPainted)
	paper := "getComputedStyle(document.documentElement).backgroundColor"
	if got := value[string](p, paper); got != "rgb(252, 252, 251)" {
		t.Errorf("light: the paper is %s", got)
	}
	p.tabTo(".tools select")
	p.keys("D")
	p.until(paper + " === 'rgb(17, 19, 21)'")
	p.run(chromedp.Reload())
	p.until(matrixPainted + " && " + paper + " === 'rgb(17, 19, 21)'")
	p.run(chromedp.Click(chromedp.CSS(".tools button")))
	p.until("JSON.parse(localStorage.getItem('pathwise')).zone === 'local'")
	p.run(chromedp.Evaluate[chromedp.Void]("localStorage.clear(); void 0")) // other tests begin anew
}
