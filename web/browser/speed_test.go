package browser

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/respond"
)

// speedServer is what `pathwise respond` has on its port for browsers, with tests that last shorter.
func speedServer(t *testing.T, longest time.Duration) (url string) {
	t.Helper()
	kind, _ := respond.KindOf(measure.ResponderNDT7)
	ctx, cancel := context.WithCancel(context.Background())
	o, err := kind.Open(ctx, "127.0.0.1:0", respond.Limits{Longest: longest}, nil)
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- o.Serve(ctx) }()
	t.Cleanup(func() { cancel(); must(t, <-served) })
	return "http://" + o.Addr.String() + "/"
}

const speedDone = "document.querySelector('#status').textContent === 'Done.' && !document.querySelector('#answer').hidden"

// A test is run by keyboard, in light and dark, on a phone and a desk: both figures come, and what they mean.
func TestSpeed(t *testing.T) {
	url := speedServer(t, time.Second)
	p := open(t, phone, url)
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	must(t, err)
	p.run(chromedp.Evaluate[chromedp.Void](string(axe) + ";void 0"))
	p.accessible("before the test")
	p.until("!document.querySelector('#seen').hidden")
	if names := value[string](p, "[...document.querySelectorAll('#seen dt')].map((e) => e.textContent).join()"); names != "address,hops,MSS,window,options,marks" {
		t.Errorf("the far end saw: %s", names)
	}
	p.tabTo("#start")
	p.keys(kb.Enter)
	p.until("document.querySelector('#start').disabled")
	p.until(speedDone)
	for _, id := range []string{"#down", "#up"} {
		if text := value[string](p, "document.querySelector('"+id+"').textContent"); !strings.HasSuffix(text, "bit/s") {
			t.Errorf("%s: %q", id, text)
		}
	}
	if names := value[string](p, "[...document.querySelectorAll('#meaning dt')].map((e) => e.textContent).join('; ')"); names !=
		"Speed; Latency, and latency under load; Retransmissions; What held the download back" {
		t.Errorf("the page explains: %s", names)
	}
	if counts := value[int](p, "document.querySelectorAll('#counts tr').length"); counts != 11 {
		t.Errorf("%d counts of the kernel, want those of the specification", counts)
	}
	if focus := value[string](p, "document.activeElement.id"); focus != "answer-name" {
		t.Errorf("the focus is on %q", focus)
	}
	p.run(chromedp.Evaluate[chromedp.Void]("document.querySelector('details').open = true; void 0"))
	for _, dark := range []bool{false, true} {
		p.show("", phone, dark)
		p.until("document.documentElement.scrollWidth <= innerWidth")
		p.accessible("after the test")
		if folder := os.Getenv("PATHWISE_SCREENSHOTS"); folder != "" {
			p.shoot(folder + "/speed-" + map[bool]string{false: "light", true: "dark"}[dark] + ".png")
		}
	}
}

// Who is one too many is told so, and what to do.
func TestSpeedBusy(t *testing.T) {
	url := speedServer(t, 2*time.Second)
	p := open(t, desk, url)
	p.allowed = []string{"503"}
	p.run(chromedp.Evaluate[chromedp.Void]("new WebSocket(location.href.replace('http', 'ws') + 'ndt/v7/upload', 'net.measurementlab.ndt.v7').onopen = () => document.querySelector('#start').click(); void 0"))
	p.until("/refused the test.*Try again/.test(document.querySelector('#status.failed')?.textContent) && !document.querySelector('#start').disabled")
}

// What results mean, in words: the same for the same figures, and right for each limit.
func TestSpeedExplained(t *testing.T) {
	p := open(t, desk, speedServer(t, time.Second))
	p.run(chromedp.Evaluate[chromedp.Void]("import('/explain.js').then((m) => { window.explained = (tcp, up) => { " +
		"const told = [{ TCPInfo: { ElapsedTime: 1e7, MinRTT: 20000, RTT: 25000, BusyTime: 9.9e6, RWndLimited: 0, SndBufLimited: 0, BytesSent: 1e8, BytesRetrans: 1e4, ...tcp } }];" +
		"const { meaning, next } = m.explain({ bitsPerSecond: 94.14e6, told }, { bitsPerSecond: up, told }, 'carol'); return [...meaning.map(([n, t]) => n + ': ' + t), ...next].join('\\n'); } }); void 0"))
	p.until("window.explained")
	for call, parts := range map[string][]string{
		"explained({}, 10.5e6)": {"Data came at 94.1 Mbit/s and went at 10.5 Mbit/s", "takes about 85 s to come, and about 13 min to go.", "20.0 ms at best, 25.0 ms while data came (5.00 ms more)",
			"No long queue", "sent 0.0 % of the bytes again. That is little.", "The network between", "pathwise diagnose carol"},
		"explained({ RTT: 320000 }, 1e6)":                             {"320 ms while data came (300 ms more)", "long queue of packets", "queue management"},
		"explained({ RWndLimited: 6e6 }, 1e6)":                        {"This device: for 60 % of the time", "pathwise host"},
		"explained({ SndBufLimited: 3e6 }, 1e6)":                      {"The server: for 30 % of the time its send buffer", "whoever runs this server"},
		"explained({ BusyTime: 5e6 }, 1e6)":                           {"for 50 % of the time it had nothing to send"},
		"explained({ BytesRetrans: 3e6 }, 1e6)":                       {"sent 3.0 % of the bytes again. That is much", "by cable"},
		"explained({ BusyTime: undefined, BytesSent: undefined }, 0)": {"does not tell", "went at not known", "to come."},
	} {
		text := value[string](p, call)
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%s does not say %q:\n%s", call, part, text)
			}
		}
	}
}
