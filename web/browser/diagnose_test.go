package browser

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
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
	p.says(".diagnosis h2", "The receiver’s window holds the transfer back")
	whole := value[string](p, "document.querySelector('.diagnosis').textContent")
	for _, has := range []string{"net.ipv4.tcp_rmem", "On cern", "Evidence", "Then expect", "Achieved", "share of the time that the receiver's window held the sender"} {
		if !strings.Contains(whole, has) {
			t.Errorf("the diagnosis does not say %q: %s", has, whole)
		}
	}
	const note = "document.querySelector('.diagnosis .note')?.textContent.startsWith('capacity, reverse: left out, for 20.0 Mbit/s were measured')"
	p.until(note)
	p.until("document.querySelector('.diagnosis a[href=\"#/knowledge/receive-window-limited\"]')")
	p.until("document.querySelectorAll('.diagnosis .measured a').length === 8 && document.querySelector('.measured').textContent.includes('Mbit/s')")
	p.accessible("diagnosis")
	p.picture("diagnosis")
	p.run(chromedp.Click(chromedp.CSS(".diagnosis .command button")))
	p.until("/Copied|Selected/.test(document.querySelector('.diagnosis .command [role=status]').textContent)")
	p.run(chromedp.Click(chromedp.CSS(".diagnosis + p a[href^='#/result/']")))
	p.until("location.hash.startsWith('#/result/') && document.querySelector('.diagnosis') && document.querySelector('#what')")
	p.until(fmt.Sprintf("document.querySelector('.diagnosis .command code').textContent && %s.length === 8", "document.querySelectorAll('.diagnosis .measured a')"))
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
