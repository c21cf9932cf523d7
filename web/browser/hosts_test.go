package browser

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pathwise-net/pathwise/measure"
)

// The hosts of a mesh: how they are in words, in the order that one asks for, and as it changes; by keyboard alone.
func TestHosts(t *testing.T) {
	m := newPlayed(t)
	p := open(t, desk, m.url)
	p.withAxe()
	p.until("document.querySelector('nav a[href=\"#/hosts\"]')")
	p.tabTo("nav a[href='#/hosts']")
	p.keys(kb.Enter)
	p.until("document.querySelectorAll('.hosts tbody tr').length === 6 && document.activeElement.tagName === 'H1'")
	p.says(".controls", "6 hosts: 3 report, 1 silent, 1 only answer, 1 offline")
	const names = "[...document.querySelectorAll('.hosts tbody th')].map((e) => e.textContent).join()"
	if got := value[string](p, names); got != "ral,dl,closed,sink,cern,ucl" {
		t.Errorf("the hosts that need a look are not first: %s", got)
	}
	for row, has := range map[string]string{"ral": "never heard of", "dl": "reports, but its agent is out of date; there is trouble with raw-sockets", "ucl": "synchronised, to 400 µs", "sink": "answers only", "closed": "offline by the mesh file"} {
		p.until("[...document.querySelectorAll('.hosts tbody tr')].find((e) => e.cells[0].textContent === '" + row + "').textContent.replaceAll('\\u00a0', ' ').includes('" + has + "')")
	}
	p.accessible("hosts")
	p.picture("hosts")
	p.unharmed()
	p.tabTo(".hosts th:nth-child(10) button") // spooled
	p.keys(kb.Enter, kb.Enter)
	p.until("location.hash.includes('sort=-spooled') && document.querySelector('.hosts th:nth-child(10)').ariaSort === 'descending' && " + names + ".startsWith('dl')")
	p.tabTo("input[type=search]")
	p.keys("d", "i", "d")
	p.until(names + " === 'ral'")
	// It comes to life, and shows so by itself.
	m.hub.receiver.Heard(status("ral"))
	p.until("document.querySelector('.hosts tbody .k2') && " + names + " === 'ral'")
	p.show("#/hosts?find=d", phone, true)
	p.until("document.documentElement.scrollWidth <= innerWidth")
	p.accessible("hosts, dark, phone")
	p.picture("hosts-phone")
}

// One host in depth: what it cannot do and why, what went wrong, and whom it was measured with.
func TestHost(t *testing.T) {
	m := newPlayed(t)
	failed := ended("ping", "rtt", "dl", "cern", time.Now().Add(-time.Minute))
	failed.Fail(errors.New("socket: not permitted"))
	audit := ended("audit", "audit", "dl", "dl", time.Now().Add(-time.Minute))
	audit.Parameters["rate"], audit.Parameters["rtt"] = 1e9, 0.05
	audit.Samples.Findings = []measure.Finding{{ID: "tcp-rmem", Severity: measure.Warning, Confidence: 1, Where: "dl", Evidence: []measure.Evidence{},
		Explanation: "It is too small for " + evil, Advice: []measure.Advice{{Host: "dl", Command: "sysctl -w net.ipv4.tcp_rmem=1", Why: "RFC 7323"}}}}
	must(t, m.hub.receiver.File(context.Background(), "dl", []*measure.Result{audit}))
	missed := measure.Miss{Run: someResult, Test: "rtt@all", Tool: "rtt", Source: "dl", Target: "ucl", Start: time.Now().Add(-time.Hour), Why: evil}
	must(t, m.hub.receiver.File(context.Background(), "dl", []*measure.Result{failed}))
	must(t, m.Archive.PutMisses(context.Background(), []measure.Miss{missed}))
	p := open(t, desk, m.url+"#/hosts/dl")
	p.withAxe()
	p.until("document.querySelector('#lacks') && document.querySelector('#failures') && document.querySelector('#pairs')")
	p.until("document.querySelector('[aria-labelledby=what]').textContent.includes('the agent does not know version 2 of the messages, pathwise.result/2')")
	p.until("/^\\d+.more things$/.test(document.querySelector('[aria-labelledby=what] details summary').textContent)")
	for selector, has := range map[string]string{
		"main": "10.0.0.3", "h1": "dl", "section:has(#what)": "not synchronised", "section:has(#now)": "It ran 1 test", "section:has(#lacks)": "raw-sockets",
		"section:has(#failures)": "socket: not permitted", "section:has(#misses)": "<img", "section:has(#pairs)": "cern", "section:has(#next)": "Nothing is planned.",
		"section:has(#settings)": "1 setting to look at",
	} {
		p.says(selector, has)
	}
	p.unharmed()
	p.accessible("host")
	p.picture("host")
	p.tabTo("section:has(#failures) a[href^='#/result/']")
	p.keys(kb.Enter)
	p.says("main", "socket: not permitted")
	p.show("#/hosts/ucl", phone, true)
	p.says("section:has(#next)", "rtt")
	p.until("document.documentElement.scrollWidth <= innerWidth")
	p.accessible("host, dark, phone")
	p.picture("host-phone")
	p.run(chromedp.Click(chromedp.CSS("main a[href^='#/test?source=ucl']")))
	p.until("location.hash.startsWith('#/test')")
	p.show("#/hosts/nowhere", desk, false)
	p.says("main", "There is no host nowhere in the mesh file.")
}
