package browser

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/web"
	"github.com/pathwise-net/pathwise/web/edit"
)

// editable is a controller of a folder of two mesh files, which its administrator anna edits.
func editable(t *testing.T) (url, folder string) {
	t.Helper()
	folder, data := t.TempDir(), t.TempDir()
	hosts, rest, _ := strings.Cut(meshText, "tools:")
	must(t, os.WriteFile(filepath.Join(folder, "hosts.yaml"), []byte(strings.TrimPrefix(hosts, "\n")), 0o600))
	must(t, os.WriteFile(filepath.Join(folder, "tests.yaml"), []byte("tools:"+rest), 0o600))
	store, err := archive.Open(t.Context(), filepath.Join(data, "archive"), archive.Options{})
	must(t, err)
	book, err := edit.Open(edit.Options{Mesh: folder, Data: data, Check: probe.Catalogue{},
		Demand: func(task measure.Task) measure.Demand { d, _ := probe.Demand(task); return d }})
	must(t, err)
	follow := func(m *config.Mesh) error { return book.Follow(m, func(*config.Mesh) error { return nil }) }
	_, url, end := serve(t, control.Config{Mesh: folder, Data: data, Hub: &hub{said: make(chan fleet.Receiver, 1)}, Archive: store, Changed: follow},
		map[string]account.Role{"anna": account.Administrator}, func(s *web.Server) http.Handler {
			s.Config = book
			return s.Handler(web.Listener{Secure: true})
		})
	t.Cleanup(func() { must(t, end()) })
	return url, folder
}

// behind is a script that puts the cursor behind a part of the text that is shown.
func behind(part string) string {
	return fmt.Sprintf("(() => { const a = document.querySelector('#text'); a.focus(); const at = a.value.indexOf(%[1]q) + %[1]q.length; a.setSelectionRange(at, at); return true; })()", part)
}

const checkedText = "document.querySelector('.configuration > [aria-busy=false]') && document.querySelector('#checked').textContent"

// An administrator writes, is led to what is wrong, mends it, sees what would come of it, saves, and brings back what was.
func TestConfiguration(t *testing.T) {
	address, folder := editable(t)
	p := open(t, desk, address+"#/sign-in?then=%23%2Fconfig")
	p.allowed = []string{"the server responded with a status of 401"}
	p.until("document.querySelector('input[name=name]')")
	p.tabTo("input[name=name]")
	p.keys("anna\t" + password + kb.Enter)
	p.until("document.querySelector('#text') && " + checkedText + ".includes('no errors')")
	p.until("document.querySelector('nav [aria-current]').textContent === 'Configuration'")
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	must(t, err)
	p.run(chromedp.Evaluate[chromedp.Void](string(axe) + ";void 0"))
	p.accessible("unchanged")

	// An error is listed with its line, the line is marked, and a link leads there.
	value[bool](p, behind("man:"))
	p.keys("x")
	p.until("document.querySelector('#errors') && document.querySelector('.lines').textContent.includes('× 4')")
	p.until("document.querySelector('.errors').textContent.includes('hosts.yaml, line 4, column')")
	p.accessible("errors")
	if ready := value[bool](p, "!document.querySelector('.save button').disabled"); ready {
		t.Error("what has errors can be saved")
	}
	p.run(chromedp.Focus(chromedp.CSS(".place")))
	p.keys(kb.Enter)
	p.until("document.activeElement.id === 'text' && document.activeElement.selectionStart === document.activeElement.selectionEnd")
	if line := value[int](p, "document.querySelector('#text').value.slice(0, document.querySelector('#text').selectionStart).split('\\n').length"); line != 4 {
		t.Errorf("the link leads to line %d", line)
	}
	value[bool](p, behind("man:x"))
	p.keys(kb.Backspace)
	p.until("!document.querySelector('#errors') && " + checkedText + ".includes('no errors')")

	// What would come of a change of the other file is told before it is saved; a click on a link does not lose it.
	p.run(chromedp.Click(chromedp.CSS("[aria-label=Files] button:nth-child(2)")))
	p.until("document.querySelector('#text').value.startsWith('tools:')")
	value[bool](p, behind("every: "))
	p.keys("1") // 120 min
	p.until("[...document.querySelectorAll('.figures tr')].some((r) => /Runs a day.*less by/.test(r.textContent)) && document.querySelector('.diff')?.textContent.includes('\\n+tests: ')")
	p.until("document.querySelector('[aria-label=Files]').textContent.includes('tests.yaml (changed)')")
	p.show("#/sign-in", phone, true)
	p.until("document.querySelector('form.form')")
	p.show("#/config", phone, true)
	p.until("document.querySelector('#text')?.value.includes('every: 120m') && document.querySelector('.diff')")
	p.accessible("changed, dark, phone")
	p.until("document.documentElement.scrollWidth <= innerWidth")
	if pictures := os.Getenv("PATHWISE_SCREENSHOTS"); pictures != "" {
		p.shoot(filepath.Join(pictures, "configuration-phone.png"))
	}
	p.show("#/config", desk, false)
	p.until("innerWidth > 1000 && " + checkedText)
	if pictures := os.Getenv("PATHWISE_SCREENSHOTS"); pictures != "" {
		p.shoot(filepath.Join(pictures, "configuration.png"))
	}

	save(p, "slower")
	expectFile(t, folder, "tests.yaml", "every: 120m")
	p.until("document.querySelectorAll('.versions li').length === 2 && document.querySelector('.versions li').textContent.includes('anna')")
	p.until("document.body.textContent.includes('What is on disk is in force.')")
	p.run(chromedp.Click(chromedp.CSS(".versions li button")))
	p.until("document.querySelector('.versions .diff')?.textContent.includes('every: 120m')")
	p.accessible("history")

	// Back to what was; meanwhile somebody changes it with an editor, which is said, and compared with.
	p.run(chromedp.Click(chromedp.CSS(".versions li:nth-child(2) button:nth-of-type(2)")))
	p.until("document.querySelector('#text').value.includes('every: 20m') && document.querySelector('.save button:not(:disabled)')")
	must(t, os.WriteFile(filepath.Join(folder, "hosts.yaml"), append(readFile(t, folder, "hosts.yaml"), "  # by hand\n"...), 0o600))
	p.run(chromedp.Click(chromedp.CSS(".configuration p.controls button")))
	p.until("document.querySelector('.configuration .failure')?.textContent.includes('Somebody else changed the file')")
	p.run(chromedp.Click(chromedp.CSS(".configuration .failure button")))
	p.until("document.querySelector('.diff')?.textContent.includes('\\n-  # by hand')")
	value[bool](p, "(document.querySelector('input[name=comment]').select(), true)")
	save(p, "as before")
	expectFile(t, folder, "tests.yaml", "every: 20m")
	p.until("document.querySelectorAll('.versions li').length === 4 && document.querySelector('.versions li:nth-child(2)').textContent.includes('with an editor')")
}

// save gives a reason and presses Enter.
func save(p *tab, comment string) {
	p.t.Helper()
	p.until("document.querySelector('.save button:not(:disabled)')")
	p.run(chromedp.Focus(chromedp.CSS("input[name=comment]")))
	p.keys(comment + kb.Enter)
	p.until("document.querySelector('#why').textContent === 'Saved.'")
}

func readFile(t *testing.T, folder, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	must(t, err)
	return text
}

func expectFile(t *testing.T, folder, name, has string) {
	t.Helper()
	if text := string(readFile(t, folder, name)); !strings.Contains(text, has) {
		t.Errorf("%s is\n%s", name, text)
	}
}

// What the page computes for itself.
func TestConfigurationUnits(t *testing.T) {
	p := open(t, desk, theMesh(t).url)
	for _, c := range []struct{ module, expression, want string }{
		{"editor", `[[1, 1], [2, 1], [2, 3], [2, 99], [9, 1], [3, 0]].map(([l, c]) => m.indexOf('ab\ncde\n', l, c)).join()`, "0,3,5,6,7,7"},
		{"editor", `m.indexOf('🦊x: 1', 1, 2)`, "2"}, // one character, two units of JavaScript
		{"editor", `m.numbers('a\nb\n', new Set([2])).replaceAll('\n', '|')`, "1|× 2|3"},
		{"outcome", `[[10, 10], [10, 15], [10, 5], [10, 30], [0, 5], [1, 100]].map(([a, b]) => m.inWords(a, b, 'count')).join('; ')`,
			"as now; more by 5; less by 5; more by 20, ×3.0; more by 5; more by 99, ×100"},
		{"outcome", `m.inWords(undefined, 5, 'count')`, ""},
		{"files", `['a.yaml', 'b.yml', 'a.txt', '../a.yaml', '.a.yaml', 'a/b.yaml', ''].map((n) => m.wrongName(n, [{name: 'b.yml', text: ''}]) ? 1 : 0).join('')`, "0111111"},
		{"draft", `JSON.stringify(m.withFile([{name: 'b', text: '1'}], 'a', '2').concat(m.withFile([{name: 'b', text: '1'}], 'b', null)))`, `[{"name":"a","text":"2"},{"name":"b","text":"1"}]`},
		{"draft", `[m.differ([{name: 'a', text: '1'}], [{name: 'a', text: '1'}]), m.differ([{name: 'a', text: '1'}], [{name: 'b', text: '1'}]), m.differ([], [{name: 'b', text: ''}])].join()`, "false,true,true"},
	} {
		if got := value[string](p, fmt.Sprintf("import('./config/%s.js').then((m) => String(%s).replaceAll('\\u00a0', ' '))", c.module, c.expression)); got != c.want {
			t.Errorf("%s: %s is %q, want %q", c.module, c.expression, got, c.want)
		}
	}
}
