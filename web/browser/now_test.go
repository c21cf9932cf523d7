package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pathwise-net/pathwise/measure"
)

// signIn lets somebody in where a page asks for it, without a pointer, and takes them out when the test ends: cookies are of a
// host, whatever its port.
func (p *tab) signIn(name, secret string) {
	p.t.Helper()
	p.until("document.querySelector('input[name=password]')")
	p.t.Cleanup(func() { value[int](p, "fetch('api/v1/session', {method: 'DELETE'}).then((a) => a.status)") })
	p.tabTo("input[name=name]")
	p.keys(strings.Split(name, "")...)
	p.keys("\t")
	p.keys(strings.Split(secret, "")...)
	p.keys(kb.Enter)
	p.until("!document.querySelector('input[name=password]')")
}

// choose takes an option of a list by keyboard, as its first letters.
func (p *tab) choose(field, option string) {
	p.t.Helper()
	p.run(chromedp.Focus(chromedp.CSS("select[name=" + field + "]")))
	p.keys(strings.Split(option, "")...)
	p.until(fmt.Sprintf("document.querySelector('select[name=%s]').value === %q", field, option))
}

func (p *tab) says(selector, text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("document.querySelector(%q)?.textContent.replaceAll('\\u00a0', ' ').includes(%q)", selector, text))
}

// unharmed checks that what others wrote came in as text.
func (p *tab) unharmed() {
	p.t.Helper()
	if n := value[int](p, "document.querySelectorAll('main img, main script').length"); n > 0 || value[string](p, "document.title") == "broken into" {
		p.t.Errorf("%s: %d elements came in from outside", value[string](p, "location.hash"), n)
	}
}

// picture keeps how a page looks, for the docs: see TestScreens.
func (p *tab) picture(name string) {
	p.t.Helper()
	if folder := os.Getenv("PATHWISE_SCREENSHOTS"); folder != "" {
		p.shoot(filepath.Join(folder, name+".png"))
	}
}

// openResult opens the page of a Result, in a mesh that was played, ready for accessible.
func openResult(t *testing.T, r *measure.Result, more ...*measure.Result) *tab {
	t.Helper()
	m := newPlayed(t)
	must(t, m.Archive.Put(t.Context(), append(more, r)))
	p := open(t, desk, m.url+"#/result/"+r.ID)
	p.withAxe()
	return p
}

// withAxe makes a page ready for accessible.
func (p *tab) withAxe() {
	p.t.Helper()
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	must(p.t, err)
	p.run(chromedp.Evaluate[chromedp.Void](string(axe) + ";void 0"))
}

const underWay = "document.querySelector('.live-run h2 button')?.textContent === 'Stop'"

// From a link to a test that runs, shows, ends and can be found again; by who signs in on the way, without a pointer.
func TestNow(t *testing.T) {
	m := newPlayed(t, "olga")
	p := open(t, desk, m.url+"#/test?source=ucl&target=cern")
	p.withAxe()
	p.says("main", "Sign in to start tests.")
	p.accessible("test, signed out")
	p.until("![...document.querySelectorAll('nav a')].some((a) => a.textContent === 'Test')")
	p.tabTo("main a.button")
	p.keys(kb.Enter)
	p.signIn("olga", password)
	p.until("location.hash.startsWith('#/test?source=ucl&target=cern') && document.querySelector('.ask')")
	p.until("[...document.querySelectorAll('nav a')].some((a) => a.textContent === 'Test' && a.ariaCurrent === 'page')")
	if began := value[bool](p, underWay); began {
		t.Error("a link began a test")
	}
	p.until("[...document.querySelectorAll('.ask option:disabled')].map((o) => o.parentElement.name + ' ' + o.text).join('; ') === " +
		"'source closed (offline by the mesh file); source ral (never heard of); source sink (answers only); target closed (offline by the mesh file); target ral (never heard of)'")
	goOn := m.hub.pause("ping")
	p.tabTo("button[value=test]")
	p.keys(kb.Enter)
	p.says(".live-run", "5 packets, 1 lost, median round trip 40.0 ms")
	if n := value[int](p, "document.querySelectorAll('.live-run .point').length"); n != 4 {
		t.Errorf("%d echoes are drawn, want 4", n)
	}
	p.accessible("test under way")
	p.picture("test")
	// It goes on while one looks elsewhere.
	p.show("#/hosts/ucl", desk, false)
	p.says("h1", "ucl")
	p.show("#/test?source=ucl&target=cern", phone, true)
	p.until(underWay)
	p.until("document.documentElement.scrollWidth <= innerWidth")
	goOn()
	p.says(".live-run [role=status]", "Done.")
	p.says(".live-run", "Round-trip delay, median")
	p.accessible("test, done, dark, phone")
	p.picture("test-phone")
	p.tabTo(".live-run a[href^='#/result/']")
	p.keys(kb.Enter)
	p.until("document.querySelector('#echoes') && document.body.textContent.includes('5 packets')")
}

// What is stopped is called back, and what cannot be says what to do.
func TestNowStopped(t *testing.T) {
	m := newPlayed(t, "olga")
	p := open(t, desk, m.url+"#/sign-in?then=%23/test?source=ucl%26tool=throughput")
	p.allowed = []string{"the server responded with a status of 4"}
	p.signIn("olga", password)
	p.until("document.querySelector('.ask')")
	p.run(chromedp.Click(chromedp.CSS("button[value=test]")))
	p.says(".ask [role=alert]", "Choose the host that the test goes to.")
	p.until("document.activeElement.name === 'target'")
	p.choose("target", "cern")
	defer m.hub.pause("throughput")()
	p.run(chromedp.Click(chromedp.CSS("button[value=test]")))
	p.says(".live-run", "forward: now 10.4 Mbit/s, mean 10.4 Mbit/s")
	p.until("document.querySelectorAll('.live-run .bar').length === 6") // they come one by one
	p.run(chromedp.Click(chromedp.CSS("button[value=diagnose]")))
	p.says(".ask [role=alert]", "A test is under way.")
	p.run(chromedp.Click(chromedp.CSS(".live-run h2 button")))
	p.says(".live-run [role=status]", "Stopped")
	p.until("document.activeElement.id === 'work'")
	m.hub.calledBack(t)
	p.until("document.querySelector('.ask[aria-busy=false]')")
	p.run(chromedp.Click(chromedp.CSS("button[value=diagnose]")))
	p.says(".steps .running", "transfer")
	p.run(chromedp.Click(chromedp.CSS(".live-run h2 button")))
	p.says(".steps .stopped", "transfer")
	m.hub.calledBack(t)

	for hash, says := range map[string]string{
		"#/test?source=dl&target=cern&tool=rtt":                "its owner says <img",
		"#/test?source=ucl&target=cern&tool=ping&p.count=-1":   "give a whole number from 1 to",
		"#/test?source=ral&target=cern&tool=ping":              "",
		"#/test?source=ucl&target=ucl&tool=state":              "Done.",
		"#/test?source=ucl&target=nowhere&tool=ping":           "want a host of the mesh file",
		"#/test?source=ucl&target=cern&tool=%3Cimg%20src=x%3E": "Done.", // there is none of that name: ping
	} {
		p.show(hash, desk, false)
		p.until("document.querySelector('.ask[aria-busy=false]')")
		p.run(chromedp.Click(chromedp.CSS("button[value=test]")))
		if says == "" { // ral is away in truth, but these hubs reach it
			p.says(".live-run h2", "ral")
			says = "Done."
		}
		p.says(".live-run", says)
		p.until("document.querySelector('.ask[aria-busy=false]')")
		p.unharmed()
	}
}

// Who may only look is told who may do more.
func TestNowForViewers(t *testing.T) {
	m := newPlayed(t, "vic")
	p := open(t, desk, m.url+"#/sign-in?then=%23/test")
	p.signIn("vic", password)
	p.says("main", "vic may look, but not start tests.")
	if value[int](p, "document.querySelectorAll('main button, main .ask').length") != 0 {
		t.Error("there is a button all the same")
	}
}

// The lines of an answer are whole, however they are cut on the way.
func TestLinesOfARun(t *testing.T) {
	p := open(t, desk, theMesh(t).url)
	text, err := json.Marshal("{\"run\":\"x\",\"begins\":\"2026-11-22T00:00:00Z\"}\n\n{\"progress\":{\"echo\":{\"seq\":1,\"sent_seconds\":0,\"rtt_seconds\":0.1}}}\n{\"error\":\"é\"}\n")
	must(t, err)
	whole := value[string](p, fmt.Sprintf(`import('./test/run.js').then(({begun, splitter, told}) => {
		const text = %s, seen = new Set();
		for (let i = 1; i < text.length; i++) {
			const split = splitter();
			let w = begun({what: 'test', seconds: 2, parameters: {}});
			for (const piece of [text.slice(0, i), text.slice(i)]) for (const line of split(piece)) w = told(w, line);
			seen.add([w.state, w.id, w.run.echoes.length, w.error, w.run.state].join());
		}
		return [...seen].join('|');
	})`, text))
	if want := "failed,x,1,é,failed"; whole != want {
		t.Errorf("%s, want %s", whole, want)
	}
}

// What these pages compute, as TestUnits has it for the others.
func TestUnitsOfNow(t *testing.T) {
	p := open(t, desk, theMesh(t).url)
	const host = `({name, state: 'here', reach: 'agent', address: '', heard: '2026-11-22T00:00:00Z', clock_behind_seconds: 0, ...more, status: {running: [], spooled: 0, lacks: [], clock: {synchronized: true, error_seconds: 1e-4}, ...more?.status}})`
	for _, c := range []struct{ module, expression, want string }{
		{"test/run.js", `JSON.stringify(ratesOf([1, 2].map((stream) => ({stream, direction: 'forward', end: 'sender', start_seconds: 0, end_seconds: 1, bits_per_second: 5}))))`,
			`[{"direction":"forward","points":[{"x":1,"y":10,"width":1}]}]`},
		{"test/run.js", `ratesOf([0, 1].flatMap((stream) => ['sender', 'receiver'].map((end) => ({stream, direction: 'reverse', end, start_seconds: 0, end_seconds: 1, bits_per_second: end.length + stream})))).map((r) => r.direction + r.points.map((p) => p.y)).join()`, "reverse8"},
		{"test/run.js", `[meanOf([{y: 10, width: 1}, {y: 10, width: 1}, {y: 100, width: 0.1}]).toFixed(3), meanOf([{y: 4, width: 0}, {y: 6, width: 0}]), meanOf([])].join()`, "14.286,5,0"},
		{"test/run.js", `(() => { let w = begun({what: 'diagnose', seconds: 0, parameters: {}}); for (const l of [{plan: [{step: 'a', seconds: 1}]}, {step: 'a', state: 'running'}, {step: 'a', progress: {echo: {}}}, {plan: [{step: 'a', seconds: 1}, {step: 'b', seconds: 2}]}]) w = told(w, l); w = ended(w, 'stopped'); return w.steps.map((s) => [s.step, s.state, s.echoes.length].join(' ')).join(); })()`, "a stopped 1,b asked 0"},
		{"test/live.js", `[['', 401], ['x', 429], ['both ends are not free', 503], ['dl refused: no', 0], ['start at a: away: not connected', 0], ['odd', 500]].map(([e, s]) => advice(e, s).split(' ').slice(0, 2).join(' ')).join()`,
			"Your session,Your share,Let it,The owner,A host,Try again;"},
		{"result/diagnosis.js", `['forward', 'reverse', 'both', '', undefined].map((way) => whereOf({where: 'path', way})).join('; ')`,
			"path, on the way there; path, on the way back; path, both ways; path; path"},
		{"result/diagnosis.js", `[evidenceValue({value: 1.2e6, unit: 'bit/s'}), evidenceValue({value: 3, unit: 'packets'}), evidenceValue({value: 1, unit: 'packets'}), evidenceValue({value: 7, unit: 'count'}), evidenceValue({value: 0.02, unit: 's'})].join()`,
			"1.20 Mbit/s,3 packets,1 packet,7,20.0 ms"},
		{"result/asked.js", `[asked(0.1, 'time'), asked(2e6, 'rate'), asked(168, 'size'), asked(5, 'whole number'), asked(0.1), asked(false, 'yes or no'), asked('icmp', 'text'), asked({a: 1})].join('; ')`,
			`100 ms; 2.00 Mbit/s; 168 B; 5; 0.1; no; icmp; {"a":1}`},
		{"result/titles.js", `[headline({'random-loss': 'Packets are lost'}, 'random-loss'), headline({}, 'some-new-thing'), headline(null, 'random-loss')].join()`, "Packets are lost,Some new thing,…"},
		{"result/unasked.js", `['host dl', 'from b', 'to b', 'pair a → b', 'router 10.0.0.1', '', undefined].map(unaskedWords).join('; ')`,
			"made by the controller itself, because of dl; made by the controller itself, because of what b sends; made by the controller itself, because of what b receives; " +
				"made by the controller itself, because of a → b; made by the controller itself, because of router 10.0.0.1; ; "},
		{"overview/words.js", `[1, 4].map((made) => spentWords({at: '2026-11-22T00:00:00Z', unasked: {hourly: 1, made, next: '2026-11-22T00:20:00Z'}})).concat(spentWords({unasked: {next: null}})).join('; ')`,
			"The controller made 1 diagnosis by itself in the last hour, as many as the mesh file lets there be; the next may begin at 00:20.; " +
				"The controller made 4 diagnoses by itself in the last hour, as many as the mesh file lets there be; the next may begin at 00:20.; "},
		{"hosts/model.js", `(() => { const of = (name, more) => ` + host + `; const all = [of('b', {status: {spooled: 3}}), of('a'), of('c', {clock_behind_seconds: -5}), of('d', {state: 'away', status: {lacks: [{what: 'disk'}]}})]; return [sorted(all, 'state', 0), sorted(all, '-spooled', 0), sorted(all, 'odd', 0), found(all, 'C')].map((l) => l.map((h) => h.name).join('')).join() + ' ' + stateOf(all[2], 0).text + ', ' + clockOf(all[2]); })()`,
			"dcab,bacd,abcd,c reports, but its clock is off by 5.00 s, synchronised, to 100 µs; 5.00 s ahead"},
	} {
		got := value[string](p, fmt.Sprintf("import('./%s').then((m) => { for (const k in m) globalThis[k] = m[k]; return String(%s).replaceAll('\\u00a0', ' ').replaceAll('\\u202f', ' '); })", c.module, c.expression))
		if got != c.want {
			t.Errorf("%s: %s is %q, want %q", c.module, c.expression, got, c.want)
		}
	}
}
