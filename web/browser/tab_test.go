package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is for a machine that does much else.
const patience = 45 * time.Second

// chromium is one browser with one tab for all tests: starting either takes seconds.
var chromium = struct {
	sync.Once
	context.Context
	end []context.CancelFunc
	err error
}{}

func TestMain(m *testing.M) {
	runForLab()
	code := m.Run()
	if chromium.Context != nil {
		_ = chromedp.Cancel(chromium.Context)
	}
	for _, end := range chromium.end {
		end()
	}
	if shared.end != nil {
		if err := shared.end(); err != nil && code == 0 {
			fmt.Fprintln(os.Stderr, "the controller ended with", err)
			code = 1
		}
	}
	os.Exit(code)
}

func startChromium() {
	path, err := exec.LookPath("chromium")
	if chromium.err = err; err != nil {
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has none for root
	}
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	browser, end2 := chromedp.NewContext(allocator)
	chromium.Context, chromium.end = browser, []context.CancelFunc{end2, end}
	chromium.err = chromedp.Listen(browser, func(event any) {
		if _, ok := event.(*page.EventJavascriptDialogOpening); ok { // nobody is there to be asked, and the tab does nothing until it is answered
			go func() {
				_, _ = chromedp.Call(browser, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
			}()
		}
		if p := watched.Load(); p != nil {
			p.watch(event)
		}
	})
	if chromium.err == nil {
		_, chromium.err = chromedp.Call(browser, network.Enable, network.EnableParams{})
	}
}

// needChromium starts Chromium, or skips the test.
func needChromium(t *testing.T) {
	t.Helper()
	if chromium.Do(startChromium); errors.Is(chromium.err, exec.ErrNotFound) {
		t.Skip("there is no chromium to try the pages in")
	}
	must(t, chromium.err)
}

// tab is the page of Chromium as one test sees it. It is watched: for errors on its console, and for what it asks of whom.
type tab struct {
	context.Context
	t       *testing.T
	own     string // the host that may be asked
	mu      sync.Mutex
	wrong   []string
	leaving bool     // the test is over: what was not saved is given up
	allowed []string // parts of errors that a test provokes; of its own goroutine
}

// watched is the test that has the tab now.
var watched atomic.Pointer[tab]

// open shows a URL on a screen of a size, as if nothing had been shown before. When the test ends, nothing may have gone wrong
// in it.
func open(t *testing.T, size [2]int64, address string) *tab {
	t.Helper()
	needChromium(t)
	own, err := url.Parse(address)
	must(t, err)
	ctx, end := context.WithTimeout(chromium.Context, 4*patience)
	p := &tab{Context: ctx, t: t, own: own.Host}
	t.Cleanup(func() {
		defer end()
		if t.Failed() {
			p.keepPicture()
		}
		p.leave()
		watched.Store(nil)
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, wrong := range p.wrong {
			if !slices.ContainsFunc(p.allowed, func(part string) bool { return strings.Contains(wrong, part) }) {
				t.Errorf("in the browser: %s", wrong)
			}
		}
	})
	watched.Store(p)
	p.run(chromedp.EmulateViewport(size[0], size[1]), chromedp.Navigate(address))
	return p
}

// leave closes the page, so that the next test finds none.
func (p *tab) leave() {
	p.mu.Lock()
	p.leaving = true
	p.mu.Unlock()
	ctx, end := context.WithTimeout(chromium.Context, patience) // p's own may have ended
	defer end()
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		p.t.Errorf("leave the page: %v", err)
	}
}

func (p *tab) keepPicture() {
	ctx, end := context.WithTimeout(chromium.Context, patience) // p's own may have ended
	defer end()
	if picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot()); err == nil {
		path := filepath.Join(os.TempDir(), "pathwise-"+strings.ReplaceAll(p.t.Name(), "/", "-")+".png")
		_ = os.WriteFile(path, picture, 0o600)
		p.t.Log("how it looked: " + path)
	}
}

func (p *tab) watch(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	wrong := func(text string) { p.wrong = append(p.wrong, text) }
	switch e := event.(type) {
	case *page.EventJavascriptDialogOpening:
		if !p.leaving || e.Type != page.DialogTypeBeforeunload {
			wrong("a dialog: " + string(e.Type) + " " + e.Message)
		}
	case *network.EventRequestWillBeSent:
		u, err := url.Parse(e.Request.URL)
		if err != nil || u.Host != p.own && u.Scheme != "data" && u.Scheme != "about" {
			wrong("a request to " + e.Request.URL)
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" || e.Type == "assert" {
			var text []string
			for _, a := range e.Args {
				text = append(text, string(a.Value)+a.Description)
			}
			wrong("console: " + strings.Join(text, " "))
		}
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		wrong("exception: " + text)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			wrong("log: " + e.Entry.Text + " " + e.Entry.URL)
		}
	}
}

// step is something to be done in a tab.
type step = chromedp.Action[chromedp.Void]

func (p *tab) run(steps ...step) {
	p.t.Helper()
	must(p.t, chromedp.Do(p, steps...))
}

// until waits for an expression of JavaScript to be true.
func (p *tab) until(expression string) {
	p.t.Helper()
	for late := time.Now().Add(patience); !value[bool](p, "Boolean("+expression+")"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(late) {
			p.t.Fatalf("not within %v: %s; the page says: %s", patience, expression, value[string](p, "document.body.innerText.slice(0, 600)"))
		}
	}
}

// value is what an expression, or a promise, comes to.
func value[T any](p *tab, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

func (p *tab) keys(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		p.run(chromedp.KeyEvent(k))
	}
}

// tabTo presses Tab until what has the focus matches a selector.
func (p *tab) tabTo(selector string) {
	p.t.Helper()
	for range 120 {
		p.keys("\t")
		if value[bool](p, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			return
		}
	}
	p.t.Fatalf("120 times Tab do not lead to %s", selector)
}

// in is the same tab for a test within another, whose failures are its own.
func (p *tab) in(t *testing.T) *tab { return &tab{Context: p.Context, t: t, own: p.own} }

// show goes to a route on a screen, in a theme.
func (p *tab) show(hash string, size [2]int64, dark bool) {
	p.t.Helper()
	theme := "light"
	if dark {
		theme = "dark"
	}
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}
	_, err := chromedp.Call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
	must(p.t, err)
	p.run(chromedp.EmulateViewport(size[0], size[1]))
	// What was there before is not to be taken for what is asked for: two frames later it is gone, or marked as busy.
	value[bool](p, fmt.Sprintf("(location.hash = %q, new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))", hash))
}

func (p *tab) shoot(path string) {
	p.t.Helper()
	picture, err := chromedp.Run(p, chromedp.FullScreenshot(100))
	must(p.t, err)
	must(p.t, os.WriteFile(path, picture, 0o644))
}
