package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

// demoSoon is how soon the first page of the demonstration is to name what is wrong and why, by docs/demo.md; demoLate is that of a machine
// that does much else.
const demoSoon, demoLate = 90 * time.Second, 3 * time.Minute

// sickOnes is what the first page says of the hosts that are ill, one a line: a name, and what a diagnosis found of it, if there is one.
const sickOnes = `[...document.querySelectorAll('.troubles li')].map((li) =>
	li.querySelector('b').textContent + ': ' + (li.querySelector('a[href^="#/result/"]')?.textContent ?? '')).join('\n')`

// expectNamed looks at the first page without a click until it names the three sick hosts, and of two of them why; one click shows all of it.
func (d *keptDemo) expectNamed(began time.Time) {
	d.t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		d.t.Log("there is no chromium to look at the first page")
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has none for root
	}
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	defer end()
	tab, end := chromedp.NewContext(allocator)
	defer end()
	tab, end = context.WithDeadline(tab, began.Add(demoLate))
	defer end()
	if err := chromedp.Do(tab, chromedp.Navigate(d.page)); err != nil {
		d.t.Fatal(err)
	}
	shown := ""
	for !namesSick(shown) {
		time.Sleep(200 * ms) // the page draws what the controller finds
		if shown, err = chromedp.Run(tab, chromedp.Evaluate[string](sickOnes)); err != nil {
			d.t.Fatalf("the first page shows %q: %v", shown, err)
		}
	}
	took := time.Since(began)
	if d.t.Logf("after %v the first page shows\n%s", took.Round(ms), shown); took > demoSoon {
		d.t.Logf("want that within %v on a machine that does nothing else", demoSoon)
	}
	if err := chromedp.Do(tab, chromedp.Click(chromedp.CSS(".troubles a[href^='#/result/']"))); err != nil {
		d.t.Fatal(err)
	}
	for verdict := ""; verdict == ""; time.Sleep(200 * ms) {
		if verdict, err = chromedp.Run(tab, chromedp.Evaluate[string](diagnosisShown)); err != nil {
			d.t.Fatalf("one click shows no diagnosis: %v", err)
		}
	}
}

// diagnosisShown is the heading of the diagnosis that a page shows in full; "" if it shows none, or no evidence.
const diagnosisShown = `document.querySelector('.diagnosis .finding, .diagnosis #verdict') && location.hash.startsWith('#/result/')
	? document.querySelector('.diagnosis').innerText : ''`

// namesSick says whether lines name the three sick hosts, and for two of them why.
func namesSick(shown string) bool {
	why := map[string]string{"cern": "window", "lyon": "Packets are lost", "warwick": "The path carries"}
	named, known := 0, 0
	for line := range strings.Lines(shown) {
		who, title, _ := strings.Cut(line, ": ") // "lyon", or "what cern receives"
		for host, cause := range why {
			if !strings.Contains(who, host) {
				continue
			}
			if named++; strings.Contains(title, cause) {
				known++
			}
		}
	}
	return named == len(why) && known >= 2
}
