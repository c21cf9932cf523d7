package browser

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/pathwise-net/pathwise/measure"
)

// diagnose follows the one-button path from a page that is open, to the verdict: two hosts, one button.
func (p *tab) diagnose(source, target string) {
	p.t.Helper()
	p.until("document.querySelector('nav a[href=\"#/test\"]')")
	p.run(chromedp.Click(chromedp.CSS("nav a[href='#/test']")))
	p.until("document.querySelector('.ask')")
	p.choose("source", source)
	p.choose("target", target)
	p.run(chromedp.Click(chromedp.CSS("button[value=diagnose]")))
}

// A diagnosis shows its plan as it runs, then cause, evidence and cure; and the Result that it is filed as shows the same.
func TestDiagnoseNow(t *testing.T) {
	m := newPlayed(t, "olga")
	p := open(t, desk, m.url+"#/sign-in")
	p.withAxe()
	p.signIn("olga", password)
	goOn := m.hub.pause("throughput")
	p.diagnose("ucl", "cern")
	p.says(".steps .running", "transfer")
	p.until("document.querySelectorAll('.steps .running .bar').length === 6 && document.querySelectorAll('.steps .done').length >= 3")
	p.accessible("diagnosis under way")
	p.picture("diagnosis-under-way")
	goOn()
	p.says(".diagnosis h2", "The receiver's window is too small for the distance")
	whole := value[string](p, "document.querySelector('.diagnosis').textContent")
	for _, has := range []string{"net.ipv4.tcp_rmem", "On cern", "Evidence", "Then expect", "Achieved", "share of the time that the receiver's window held the sender"} {
		if !strings.Contains(whole, has) {
			t.Errorf("the diagnosis does not say %q: %s", has, whole)
		}
	}
	const note = "document.querySelector('.diagnosis .note')?.textContent.startsWith('capacity, reverse: left out, for 20.0 Mbit/s were measured')"
	p.until(note)
	p.until("document.querySelector('.diagnosis a[href=\"#/knowledge/receive-window-limited\"]')")
	p.until("document.querySelector('.diagnosis a[href^=\"#/calc/window?window=\"]')?.href.includes('&rtt=')") // the calculator, filled in
	p.until("document.querySelectorAll('.diagnosis .measured a').length === 10 && document.querySelector('.measured').textContent.includes('Mbit/s')")
	p.accessible("diagnosis")
	p.picture("diagnosis")
	p.run(chromedp.Click(chromedp.CSS(".diagnosis .command button")))
	p.until("/Copied|Selected/.test(document.querySelector('.diagnosis .command [role=status]').textContent)")
	p.run(chromedp.Click(chromedp.CSS(".diagnosis + p a[href^='#/result/']")))
	p.until("location.hash.startsWith('#/result/') && document.querySelector('.diagnosis') && document.querySelector('#what')")
	p.until(fmt.Sprintf("document.querySelector('.diagnosis .command code').textContent && %s.length === 10", "document.querySelectorAll('.diagnosis .measured a')"))
	p.until(note + " && document.querySelectorAll('.note').length === 1")
	p.accessible("result of a diagnosis")
	p.picture("diagnosis-result")

	// A link to a diagnosis begins none: it leads to the button.
	p.show("#/test?source=cern&target=ucl&do=diagnose", phone, false)
	p.until("document.activeElement.value === 'diagnose'")
	p.until("document.documentElement.scrollWidth <= innerWidth")
	if value[bool](p, underWay) {
		t.Error("a link began a diagnosis")
	}
}

// The page of a diagnosis that was filed shows the parts of the path, with what each leaves to the whole, and which one is to blame; a name that
// somebody else chose is text.
func TestPartsOfDiagnosis(t *testing.T) {
	m := theMesh(t)
	const evil = `<img src=x onerror="document.title='broken into'">`
	r := ended("diagnosis", "diagnosis", "ucl", "cern", time.Now().Add(-time.Minute))
	leaves := func(v float64) map[string]any { return map[string]any{"value": v, "low": v / 2, "high": v} }
	r.Parameters = map[string]any{"verdict": "random-loss", "results": []any{}, "segments": map[string]any{
		"way": "reverse", "says": "ral - cern holds the path back: it loses.", "verdict": "one", "blamed": []any{"ral - cern"}, "rtt_seconds": 0.04,
		"achieved_bits_per_second": 7e6, "needed_bits_per_second": 14e6, "results": []any{someResult},
		"points": []any{map[string]any{"name": evil, "state": "off-route", "means": "it is far away"}},
		"segments": []any{
			map[string]any{"from": "ucl", "to": "ral", "outcome": "pass", "means": "it carries", "rtt_seconds": 0.02, "could_reach_bits_per_second": leaves(50e6),
				"loss_ratio": leaves(0), "throughput_bits_per_second": 56e6},
			map[string]any{"from": "ral", "to": "cern", "outcome": "fail", "means": "it loses", "could_reach_bits_per_second": nil},
		}}}
	must(t, m.archive.Put(context.Background(), []*measure.Result{r}))
	p := open(t, desk, m.url)
	p.withAxe()
	p.show("#/result/"+r.ID, desk, false)
	p.until("document.querySelectorAll('.diagnosis table.parts tbody tr').length === 2 && document.querySelectorAll('.diagnosis .part-bar').length === 2")
	p.until(fmt.Sprintf("document.querySelectorAll('.diagnosis .measured a[href=\"#/result/%s\"]').length === 1", someResult))
	shown := value[string](p, "document.querySelector('.diagnosis').innerText")
	for _, has := range []string{"By its parts, on the way back", "ral - cern holds the path back: it loses.", "ral – cern", "50.0 Mbit/s", "it is far away", evil} {
		if !strings.Contains(shown, has) {
			t.Errorf("the page does not say %q: %s", has, shown)
		}
	}
	if value[bool](p, "[...document.querySelectorAll('#asked ~ dl dt')].some((e) => e.textContent === 'segments')") || value[string](p, "document.title") == "broken into" {
		t.Error("the parts are shown as a parameter, or a name is markup")
	}
	p.accessible("parts of a diagnosis")
	p.picture("diagnosis-parts")
}

// TestDiagnoseAnywhere follows the one-button path on the pages of a mesh that runs elsewhere, such as `make demo KEEP=1` leaves.
func TestDiagnoseAnywhere(t *testing.T) {
	page, who, pair := os.Getenv("PATHWISE_PAGE"), os.Getenv("PATHWISE_PAGE_ACCOUNT"), os.Getenv("PATHWISE_PAGE_PAIR")
	name, secret, _ := strings.Cut(who, ":")
	source, target, _ := strings.Cut(pair, "/")
	if page == "" || secret == "" || target == "" {
		t.Skip("PATHWISE_PAGE, PATHWISE_PAGE_ACCOUNT (NAME:PASSWORD) and PATHWISE_PAGE_PAIR (SOURCE/TARGET) name no mesh to try")
	}
	p := open(t, desk, strings.TrimSuffix(page, "/")+"/#/sign-in")
	p.signIn(name, secret)
	begin := time.Now()
	p.diagnose(source, target)
	p.until("document.querySelector('.steps li')")
	for late := time.Now().Add(2 * patience); value[bool](p, underWay) && time.Now().Before(late); time.Sleep(200 * time.Millisecond) {
	}
	p.until("document.querySelector('.diagnosis #verdict')")
	t.Logf("after %v: %s", time.Since(begin).Round(100*time.Millisecond), value[string](p, "document.querySelector('.diagnosis').innerText"))
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("it took %v, want less than a minute", took)
	}
}
