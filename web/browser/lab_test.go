package browser

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/respond"
	"github.com/pathwise-net/pathwise/web"
	"github.com/pathwise-net/pathwise/web/labs"
)

// runForLab makes this test binary be a lab's engine, or the program on a lab's host, if it was started as that.
func runForLab() {
	lab.RunEngineIfAsked()
	var err error
	switch {
	case slices.Equal(os.Args[1:min(3, len(os.Args))], []string{"lab", "measure"}):
		err = measureInLab(os.Args[3:])
	case len(os.Args) == 4 && os.Args[1] == "respond":
		err = respondInLab(os.Args[3])
	default:
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// measureInLab is lab measure KIND HOST --seconds SECONDS --port PORT.
func measureInLab(args []string) error {
	seconds, err := strconv.ParseFloat(args[3], 64)
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(args[5])
	if err != nil {
		return err
	}
	return labs.Measure(context.Background(), os.Stdout, args[0], args[1], port, time.Duration(seconds*float64(time.Second)), nil)
}

// respondInLab is respond --port PORT.
func respondInLab(port string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	o, err := respond.Kinds()[0].Open(ctx, ":"+port, respond.Limits{Tests: 1, Longest: time.Minute, Streams: 1}, nil)
	if err != nil {
		return err
	}
	fmt.Println(respond.AnsweringOn + o.Addr.String())
	return o.Serve(ctx)
}

const labText = `
hosts: {bob: {}, carol: {}, dave: {}}
routers: [denver, chicago]
links:
  - {between: [bob, denver], rate: 100mbit, delay: 5ms}
  - {between: [denver, chicago], rate: 50mbit, delay: 10ms, forward: {loss: 0.1%}}
  - {between: [denver, chicago], rate: 10mbit, delay: 30ms, jitter: 2ms}
  - {between: [chicago, carol], rate: 100mbit, delay: 5ms}
  - {between: [chicago, dave], down: true}
`

// startLab stands a lab up, and a controller that shows it to who may see or, as its owner, do everything.
func startLab(t *testing.T, text string, at web.Listener) (l *lab.Lab, url string) {
	t.Helper()
	spec, err := lab.ParseSpec("lab.yaml", []byte(text))
	must(t, err)
	l, err = lab.Start(context.Background(), spec, lab.Options{Name: fmt.Sprintf("browser-%d", os.Getpid())})
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	self, err := os.Executable()
	must(t, err)
	m := theMesh(t).server
	s := &web.Server{Control: m.Control, Archive: m.Archive, Accounts: m.Accounts, Version: m.Version, Labs: &labs.Labs{Program: self}}
	server := httptest.NewServer(s.Handler(at))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return l, server.URL + "/#/lab/" + l.Name
}

// awaits waits until a link's way says something in the lab itself.
func awaits(t *testing.T, l *lab.Lab, link int, want string) {
	t.Helper()
	var got string
	for late := time.Now().Add(patience); time.Now().Before(late); time.Sleep(50 * time.Millisecond) {
		state, err := l.State()
		must(t, err)
		if got = state.Links[link].Forward.Shape + " | " + state.Links[link].Reverse.Shape; got == want {
			return
		}
	}
	t.Fatalf("link %d is %s, want %s", link, got, want)
}

// A slider is moved by keyboard and the link follows; what was done is undone; a fault is given by name; what is wrong is said
// beside its setting.
func TestLabIsChanged(t *testing.T) {
	l, url := startLab(t, labText, web.Listener{Owner: true})
	p := open(t, desk, url)
	p.until("document.querySelectorAll('.lab-drawing .link').length === 5 && document.querySelector('nav a[aria-current]').textContent === 'Lab'")
	if text := value[string](p, "document.querySelector('[data-link=\"4\"]').getAttribute('aria-label')"); !strings.Contains(text, "chicago to dave: cut, both ways") {
		t.Errorf("the link that is down is told as %q", text)
	}
	p.tabTo(".lab-drawing .link")
	p.keys(kb.End, kb.ArrowLeft)
	p.until("location.hash.endsWith('?link=3') && document.querySelector('#link-name').textContent === 'Link chicago – carol'")
	p.tabTo("[data-key=loss]")
	for range 60 {
		p.keys(kb.ArrowRight)
	}
	p.until("document.querySelector('#set-loss').value === '0.3%'")
	awaits(t, l, 3, "{rate: 100mbit, delay: 5ms, loss: 0.3%} | {rate: 100mbit, delay: 5ms, loss: 0.3%}")
	p.until("document.querySelector('[data-link=\"3\"]').classList.contains('loses')")

	p.allowed = append(p.allowed, "422")
	p.set("#set-delay", "2 parsecs")
	p.until("document.querySelector('#set-delay-error')?.textContent.includes('2 parsecs')")
	awaits(t, l, 3, "{rate: 100mbit, delay: 5ms, loss: 0.3%} | {rate: 100mbit, delay: 5ms, loss: 0.3%}")
	p.click("[...document.querySelectorAll('.choice button')].find((b) => b.textContent === 'carol → chicago')")
	p.set("#set-delay", "70ms")
	awaits(t, l, 3, "{rate: 100mbit, delay: 5ms, loss: 0.3%} | {rate: 100mbit, delay: 70ms, loss: 0.3%}")
	p.until("document.querySelector('#undo + p button').textContent === 'Undo: delay=70ms on chicago – carol, reverse'")
	p.click("document.querySelector('#undo + p button')")
	awaits(t, l, 3, "{rate: 100mbit, delay: 5ms, loss: 0.3%} | {rate: 100mbit, delay: 5ms, loss: 0.3%}")
	p.click("[...document.querySelectorAll('.choice button')].find((b) => b.textContent === 'As it was')")
	awaits(t, l, 3, "{rate: 100mbit, delay: 5ms} | {rate: 100mbit, delay: 5ms}")

	p.until("document.querySelector('#undo + p button').disabled")
	p.set(".acts select", "burst-loss")
	p.until("document.querySelector('.acts select').parentElement.parentElement.textContent.includes('many in a row')")
	p.click("[...document.querySelectorAll('.acts button')].find((b) => b.textContent === 'Apply')")
	gilbert := "{rate: 100mbit, delay: 5ms, loss: {gilbert: {enter: 0.2%, leave: 10%, bad: 80%}}}"
	awaits(t, l, 3, "{rate: 100mbit, delay: 5ms} | "+gilbert)
	p.set("[aria-label='Seconds to cut the link for']", "0.5")
	p.click("[...document.querySelectorAll('.acts button')].find((b) => b.textContent === 'Cut for')")
	p.until("document.querySelector('#undo + p').textContent.includes('for 0.5 s')")
	awaits(t, l, 3, "{rate: 100mbit, delay: 5ms} | "+gilbert)
}

// set types a value into a field, or chooses it, and leaves the field.
func (p *tab) set(selector, text string) {
	p.t.Helper()
	value[bool](p, fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.focus(); e.value = %q;
		for (const kind of ['input', 'change']) e.dispatchEvent(new Event(kind, {bubbles: true})); return true; })()`, selector, text))
}

func (p *tab) click(element string) {
	p.t.Helper()
	p.until(element)
	value[bool](p, "("+element+").click() ?? true")
}

// A ping runs across the lab; while it does, a link becomes longer, and that shows in its round trips.
func TestLabIsTested(t *testing.T) {
	_, url := startLab(t, labText, web.Listener{Owner: true})
	p := open(t, desk, url)
	p.until("document.querySelectorAll('.lab-drawing .link').length === 5")
	p.set(".lab-test [name=to]", "carol")
	p.set(".lab-test [name=seconds]", "60")
	p.click("[...document.querySelectorAll('.lab-test button')].find((b) => b.textContent === 'Start')")
	last := "Number(document.querySelector('.lab-test [data-seconds]')?.dataset.seconds || 0)"
	p.until(last + " > 0.02") // 40 ms both ways; by the other of the parallel links more
	p.set("#set-delay", "400ms")
	p.until(last + " > 0.8")
	p.until("document.querySelectorAll('.lab-test .point').length > 2")
	p.until("[...document.querySelectorAll('.lab-links td')].some((e) => /\\dbit.s$|bit\\/s$/.test(e.textContent))")
	p.click("[...document.querySelectorAll('.lab-test button')].find((b) => b.textContent === 'Stop')")
	p.until("document.querySelector('.lab-test [role=status]').textContent.endsWith('Stopped.')")
}

// A link that loses packets is cured: what a transfer came to before and after is shown beside what a diagnosis predicted, which here is a
// played one: TestLabIsDiagnosed of cmd/pathwise makes a real one.
func TestLabIsFixed(t *testing.T) {
	l, url := startLab(t, "hosts: {bob: {}, carol: {}}\nlinks: [{between: [bob, carol], rate: 20mbit, delay: 10ms, loss: 3%}]", web.Listener{Owner: true})
	p := open(t, desk, url)
	p.says("section.fix", "It has loss.")
	value[bool](p, `(() => { const real = fetch; window.fetch = (at, o) => !String(o?.body).includes('"kind":"diagnosis"') ? real(at, o) : Promise.resolve(new Response(
		'{"diagnosis": {"verdict": "random-loss", "achieved_bits_per_second": 3e6, "findings": [{"id": "random-loss", "severity": "problem", "predicted":'
		+ ' {"throughput_bits_per_second": 1.9e7, "basis": "what the link carries"}}]}}\n')); return true; })()`)
	p.click("document.querySelector('section.fix button')")
	rate := func(n int) string {
		return fmt.Sprintf("Number(document.querySelectorAll('.fix-rates dd')[%d]?.dataset.bits || 0)", n)
	}
	p.until(rate(1) + " === 1.9e7")
	p.until("document.querySelector('section.fix [role=status]').textContent === 'Done.'")
	awaits(t, l, 0, "{rate: 20mbit, delay: 10ms} | {rate: 20mbit, delay: 10ms}")
	if before, after := value[float64](p, rate(0)), value[float64](p, rate(2)); before <= 0 || after < 1.5*before || after < 1.2e7 {
		t.Errorf("%g bit/s before the cure, %g after it; 19 Mbit/s were predicted", before, after)
	}
	p.says("section.fix", "The diagnosis: Packets are lost although the path is not busy. Predicted by what the link carries.")
	p.until("document.querySelectorAll('.fix-lines polyline').length === 2 && document.querySelector('.fix-lines .predicted')")
	p.withAxe()
	p.accessible("a link that was cured")
}

// The page is for everybody who may look: on a phone as on a wall, and without seeing it. Who may only look changes nothing.
func TestLabIsAccessible(t *testing.T) {
	_, url := startLab(t, labText, web.Listener{Owner: true})
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	must(t, err)
	p := open(t, desk, url)
	p.run(chromedp.Evaluate[chromedp.Void](string(axe) + ";void 0"))
	hash := url[strings.Index(url, "#"):]
	for _, c := range []struct {
		name string
		size [2]int64
		dark bool
	}{{"lab", desk, false}, {"lab-phone", phone, true}, {"lab-wall", wall, false}} {
		p.show(hash+"?link=1", c.size, c.dark)
		p.until("document.querySelectorAll('.lab-drawing .link').length === 5 && document.querySelector('#set-delay')")
		p.until("document.documentElement.scrollWidth <= innerWidth")
		p.accessible(c.name)
		if folder := os.Getenv("PATHWISE_SCREENSHOTS"); folder != "" {
			p.shoot(filepath.Join(folder, c.name+".png"))
		}
	}
}

// Who may only look sees the lab, and no control; a name that would be markup is text.
func TestLabIsOnlySeen(t *testing.T) {
	_, url := startLab(t, labText, web.Listener{Secure: true, Public: func() bool { return true }})
	p := open(t, desk, url)
	p.until("document.querySelectorAll('.lab-drawing .link').length === 5 && document.querySelector('#link-name')")
	if value[bool](p, "Boolean(document.querySelector('#set-delay, .acts, .lab-test, #undo'))") {
		t.Error("who may only look is offered to change something")
	}
	p.allowed = append(p.allowed, "404")
	p.show("#/lab/%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", desk, false)
	p.until("document.querySelector('h1').textContent === 'Lab <img src=x onerror=alert(1)>' && document.querySelector('[role=alert]')")
}

// Sixty hosts on a screen: none lies on another, and the same lab looks the same again.
func TestLabLayout(t *testing.T) {
	p := open(t, desk, theMesh(t).url)
	got := value[string](p, `import('./lab/layout.js').then(({layout}) => {
		const nodes = [], links = [];
		for (let i = 0; i < 8; i++) { nodes.push({name: 'r' + i, kind: 'router', addresses: []}); links.push({between: ['r' + i, 'r' + (i + 1) % 8]}); }
		for (let i = 0; i < 60; i++) { nodes.push({name: 'host-' + i, kind: 'host', addresses: []}); links.push({between: ['host-' + i, 'r' + i % 8]}); }
		const wrong = [];
		for (const width of [360, 1200]) {
			const {places, height} = layout(nodes, links, width), again = layout(nodes, links, width);
			const all = [...places.entries()];
			if (JSON.stringify(all) !== JSON.stringify([...again.places.entries()])) wrong.push('another each time');
			all.forEach(([a, p], i) => {
				if (!(p.x >= 0 && p.x <= width && p.y >= 0 && p.y <= height)) wrong.push(a + ' is outside');
				for (const [b, q] of all.slice(0, i)) if (Math.hypot(p.x - q.x, p.y - q.y) < 12) wrong.push(a + ' lies on ' + b);
			});
		}
		for (const few of [nodes.slice(0, 8), nodes.slice(0, 1), nodes.slice(8, 9), []])
			for (const p of layout(few, [], 500).places.values()) if (!Number.isFinite(p.x + p.y)) wrong.push('nowhere');
		return wrong.join('; ');
	})`)
	if got != "" {
		t.Error(got)
	}
}

// Names of a lab lie on no node and on no other name, also where routers stand before hosts.
func TestLabNames(t *testing.T) {
	p := open(t, desk, theMesh(t).url)
	got := value[string](p, `import('./lab/layout.js').then(({namesOf}) => {
		const at = (name, x, y, side, label) => [{name, label, kind: side ? 'host' : 'router', addresses: []}, {x, y, side}];
		const all = [at('bristol', 100, 50, -1), at('ucl-hep', 95, 76, 0), at('amsterdam', 300, 200, 0), at('sara', 310, 185, 1), at('#4', 500, 50, 0, 'warrington'), at('leeds', 540, 35, 0)];
		const names = namesOf(all.map(([n]) => n), new Map(all.map(([n, p]) => [n.name, p])));
		return JSON.stringify(all.map(([n]) => names.get(n.name)));
	})`)
	want := `[{"x":89,"y":50,"anchor":"end"},{"x":95,"y":92,"anchor":"middle"},{"x":300,"y":216,"anchor":"middle"},{"x":321,"y":185,"anchor":"start"},{"x":500,"y":66,"anchor":"middle"},{"x":540,"y":20,"anchor":"middle"}]`
	if got != want {
		t.Errorf("names stand at %s, want %s", got, want)
	}
}

// A slider goes from a setting's least to its most, and what it writes leads back to its place.
func TestLabScales(t *testing.T) {
	p := open(t, desk, theMesh(t).url)
	got := value[string](p, `import('./lab/scales.js').then(({scales, steps, placeOf, textAt, offAt}) => {
		const wrong = [];
		const units = {us: 1e-6, ms: 1e-3, s: 1, '%': 0.01, kbit: 1e3, mbit: 1e6, gbit: 1e9, B: 1};
		for (const s of scales) {
			if (textAt(s, offAt(s)) !== '' || placeOf(s, undefined) !== offAt(s)) wrong.push(s.key + ' has no default');
			for (let i = 1; i <= steps; i++) {
				const m = /^([0-9.]+)([a-zA-Z%]+)$/.exec(textAt(s, i));
				if (!m || !units[m[2]]) { wrong.push(s.key + ' ' + i + ' ' + textAt(s, i)); continue; }
				if (Math.abs(placeOf(s, m[1] * units[m[2]]) - i) > 1) wrong.push(s.key + ' ' + textAt(s, i) + ' at ' + i + ' is back at ' + placeOf(s, m[1] * units[m[2]]));
			}
		}
		return wrong.join('; ');
	})`)
	if got != "" {
		t.Error(got)
	}
}
