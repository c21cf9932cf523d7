package browser

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// answered is that a formula has been worked out and drawn.
const answered = "document.querySelector('.working li') && document.querySelector('.curves svg circle') && !document.querySelector('.busy')"

// From the list to an answer by keyboard alone, as one types; the URL has all of it.
func TestCalculator(t *testing.T) {
	p := open(t, desk, theMesh(t).url+"#/calc")
	p.allowed = []string{"the server responded with a status of 422"}
	p.until("document.querySelectorAll('.formulas a').length >= 8")
	p.tabTo("a[href='#/calc/mathis']")
	p.keys(kb.Enter)
	p.until("document.activeElement.tagName === 'H1' && location.hash.startsWith('#/calc/mathis?') && " + answered)
	p.until("document.querySelector('.working').textContent.includes('16,217,600 bit/s (16.2 Mbit/s)')")
	p.until("document.querySelector('.curves svg').ariaLabel.replace(/\\s/g, ' ').includes('Asked for: loss 0.01 %, rate 16.2 Mbit/s')")
	p.tabTo("#in-rtt")
	p.keys(kb.End, kb.Backspace, "x")
	p.until("document.querySelector('#in-rtt-wrong')?.textContent.startsWith('\"50mx\": want a duration') && document.querySelector('#in-rtt').ariaInvalid === 'true'")
	p.keys(kb.Backspace, kb.Backspace, kb.Backspace, kb.Backspace, "0.1")
	p.until("document.querySelector('.working')?.textContent.includes('8,108,800 bit/s')")
	p.until("location.hash === '#/calc/mathis?mss=1448&rtt=0.1&loss=0.01%25&c=0.7' && document.querySelector('[role=status].hidden').textContent.includes('8,108,800')")
	p.until("document.activeElement.id === 'in-rtt' && !document.querySelector('.wrong')")
	p.tabTo(".curves summary")
	p.keys(kb.Enter)
	p.until("document.querySelectorAll('.curves table tbody tr').length === 13")
	p.run(chromedp.NavigateBack())
	p.until("location.hash === '#/calc'")
}

// Every formula has an answer and a drawing under its own URL, on a phone too; where inputs are wrong, it says which.
func TestEveryCalculator(t *testing.T) {
	p := open(t, phone, theMesh(t).url+"#/calc")
	p.allowed = []string{"the server responded with a status of 4"}
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	must(t, err)
	p.run(chromedp.Evaluate[chromedp.Void](string(axe) + ";void 0"))
	for i, c := range []struct{ hash, answer string }{
		{"bdp?rate=100mbit&rtt=50ms", "625,000 B"},
		{"window?window=4MiB&rtt=155ms&rate=570mbit", "11,043,750 B"},
		{"lossbudget?rate=500mbit&rtt=76ms&mss=8948", "0.00017388"},
		{"slowstart?rtt=40ms&size=100kB", "120 ms"},
		{"recovery?rate=1gbit&rtt=70ms&mss=1500", "3.4 min"},
		{"overhead?mtu=9000&ip=6&framing=42", "98.7392 %"},
		{"transfer", "4.52 s"},
	} {
		name, _, _ := strings.Cut(c.hash, "?")
		p.show("#/calc/"+c.hash, phone, i%2 == 0)
		p.until(fmt.Sprintf("document.querySelector('[data-of=%s]') && document.querySelector('.working')?.textContent.includes(%q) && %s", name, c.answer, answered))
		p.until("document.documentElement.scrollWidth <= innerWidth")
		p.until("[...document.querySelectorAll('.curves polyline')].every((e) => !/NaN|Infinity/.test(e.getAttribute('points')))")
		p.accessible(c.hash)
	}
	p.show("#/calc/slowstart?rtt=50ms", phone, false)
	p.until("document.querySelectorAll('.field.wrong').length === 3")
	p.accessible("slowstart without inputs")
	p.show("#/calc/nothing", phone, false)
	p.until("document.querySelector('h1').textContent === 'No such formula'")
	p.show("#/calc", desk, true)
	p.until("document.querySelectorAll('.formulas a').length >= 8")
	p.accessible("calc")
}

// Ticks are where people expect them, and places stay on the axis.
func TestScale(t *testing.T) {
	p := open(t, desk, theMesh(t).url+"#/calc")
	const show = `((s) => s.label + ': ' + s.ticks.map((t) => t.text + '@' + s.place(t.at).toFixed(2)).join(' '))`
	for expression, want := range map[string]string{
		`scaleFor({label: 'time', unit: 'seconds', log: false}, [0, 0.1])`:           "time, ms: 0@0.00 20@0.20 40@0.40 60@0.60 80@0.80 100@1.00",
		`scaleFor({label: 'rounds', unit: '', log: false}, [0, 8])`:                  "rounds: 0@0.00 2@0.25 4@0.50 6@0.75 8@1.00",
		`scaleFor({label: 'time', unit: 'seconds', log: false}, [-50, 100])`:         "time, s: −50@0.00 0@0.33 50@0.67 100@1.00",
		`scaleFor({label: 'loss', unit: 'ratio', log: true}, [1e-6, 1e-2])`:          "loss: 0.0001 %@0.00 0.001 %@0.25 0.01 %@0.50 0.1 %@0.75 1 %@1.00",
		`scaleFor({label: 'rate', unit: 'bits_per_second', log: true}, [1e6, 1e8])`:  "rate: 1 Mbit/s@0.00 3 Mbit/s@0.24 10 Mbit/s@0.50 30 Mbit/s@0.74 100 Mbit/s@1.00",
		`scaleFor({label: 'share', unit: 'ratio', log: false}, [0, 1])`:              "share, %: 0@0.00 20@0.20 40@0.40 60@0.60 80@0.80 100@1.00",
		`scaleFor({label: 'x', unit: 'bytes', log: false}, [0, 0])`:                  "x, B: 0@0.00 0.2@0.20 0.4@0.40 0.6@0.60 0.8@0.80 1@1.00",
		`scaleFor({label: 'window', unit: 'bytes', log: true}, [32768, 131072])`:     "window: 50 kB@0.30 70 kB@0.55 100 kB@0.80",
		`scaleFor({label: 'x', unit: 'bits_per_second', log: true}, [1e-300, 1e99])`: "x: ",
	} {
		got := value[string](p, fmt.Sprintf("import('./calc/scale.js').then(({scaleFor}) => %s(%s).replace(/\\s/g, ' '))", show, expression))
		if got != want && !(want == "x: " && strings.HasPrefix(got, want) && strings.Count(got, "@") < 9) {
			t.Errorf("%s:\ngot  %s\nwant %s", expression, got, want)
		}
	}
}

// A word leads to what it means, by keyboard alone; entries lead to each other, to calculators and back.
func TestKnowledge(t *testing.T) {
	p := open(t, desk, theMesh(t).url+"#/knowledge")
	p.until("document.querySelectorAll('.entries li').length > 150")
	p.tabTo("input[type=search]")
	p.keys("round trip ")
	p.until("location.hash === '#/knowledge?q=round+trip' && document.querySelector('[role=status]').textContent.length > 0")
	p.keys("window")
	p.until("location.hash === '#/knowledge?q=round+trip+window' && document.querySelector('.entries a[href=\"#/knowledge/window\"]')")
	p.keys(kb.Backspace, kb.Backspace, kb.Backspace, kb.Backspace, kb.Backspace, kb.Backspace, "xyzzy")
	p.until("document.querySelector('main [role=status]').textContent === 'Nothing has all these words.'")
	p.show("#/knowledge?q=receive-window", desk, false)
	p.until("document.querySelector('input[type=search]').value === 'receive-window' && document.querySelector('.entries a').getAttribute('href') === '#/knowledge/receive-window'")
	p.tabTo("a[href='#/knowledge/receive-window-limited']")
	p.keys(kb.Enter)
	p.until("document.activeElement.tagName === 'H1' && document.title.startsWith('receive-window-limited') && document.querySelector('.entry')?.textContent.includes('tcp_rmem')")
	p.tabTo("a[href='#/knowledge/window']")
	p.keys(kb.Enter)
	p.until("document.querySelector('a.button[href=\"#/calc/window\"]')")
	p.tabTo("a[href='#/calc/window']")
	p.keys(kb.Enter)
	p.until("location.hash.startsWith('#/calc/window?') && " + answered)
	p.tabTo("a[href='#/knowledge/window']")
	p.show("#/knowledge/slow-start", desk, false)
	p.until("document.querySelectorAll('.entry .curves polyline').length === 1 && document.querySelector('.entry .curves .legend').textContent.includes('the path is full')")
	p.until("document.querySelector('.entry .curves svg').ariaLabel.replace(/\\s/g, ' ').includes('The path is full: round trips 6, bytes 625 kB')")
	p.show("#/knowledge/retransmitt", desk, false)
	p.until("document.querySelector('h1').textContent === 'No such entry'")
}

func TestKnowledgeIsAccessible(t *testing.T) {
	p := open(t, phone, theMesh(t).url+"#/knowledge")
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	must(t, err)
	p.run(chromedp.Evaluate[chromedp.Void](string(axe) + ";void 0"))
	for i, hash := range []string{"#/knowledge", "#/knowledge?q=loss", "#/knowledge/fault-duplex-mismatch", "#/knowledge/host_tcp_receive_buffer_max_bytes", "#/knowledge/nagle", "#/knowledge/packet-pair"} {
		p.show(hash, phone, i%2 == 0)
		p.until("document.querySelector('.entries a')")
		p.until("document.documentElement.scrollWidth <= innerWidth")
		p.accessible(hash)
	}
}

// The search finds entries that have all words, names before texts, and whole names first.
func TestKnowledgeSearch(t *testing.T) {
	p := open(t, desk, theMesh(t).url+"#/knowledge")
	const entries = `[{id: 'a', title: 'A window', text: 'Says more of loss.', see: ['b']}, {id: 'loss_ratio', title: 'Loss', text: 'A share.', see: []},
		{id: 'b', title: 'Floss', text: 'x', see: ['nowhere'], also: ['ABC']}, {id: 'c', title: 'None', text: 'y', see: ['a']}].map((e) => ({kind: 'metric', shows: '', cure: '', ...e}))`
	for expression, want := range map[string]string{
		`search(all, 'loss')`:            "loss_ratio b a",
		`search(all, 'Loss window')`:     "a",
		`search(all, 'loss-ratio')`:      "loss_ratio",
		`search(all, 'loss ratio none')`: "",
		`search(all, 'abc')`:             "b",
		`search(all, ' ')`:               "a loss_ratio b c",
		`related(all, all[0])`:           "b c",
	} {
		got := value[string](p, fmt.Sprintf("import('./knowledge/search.js').then(({search, related}) => { const all = %s; return %s.map((e) => e.id).join(' '); })", entries, expression))
		if got != want {
			t.Errorf("%s: %q, want %q", expression, got, want)
		}
	}
}
