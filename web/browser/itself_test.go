package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pathwise-net/pathwise/diagnose/knowledge"
	"github.com/pathwise-net/pathwise/measure"
)

// ofItself are Results of the last day in which a host measured itself, each half hour: all metrics that there are of a host.
func ofItself(host string) (all []*measure.Result) {
	now := time.Now()
	for ago := 24 * time.Hour; ago > 0; ago -= 30 * time.Minute {
		r := ended("host", "state", host, host, now.Add(-ago))
		for _, m := range hostMetrics() {
			r.Metrics[m] = 0.25 + ago.Hours()/100
		}
		all = append(all, r)
	}
	return all
}

func hostMetrics() (all []measure.Metric) {
	for _, e := range knowledge.Entries() { // one of each metric
		if strings.HasPrefix(e.ID, "host_") {
			all = append(all, measure.Metric(e.ID))
		}
	}
	return all
}

const itselfStands = "document.querySelectorAll('.plot .canvas[data-buckets]').length >= 10 && !document.querySelector('main [aria-busy=true]')"

// What a host measures of itself is drawn on its page, over any span, as pairs are: each metric is a graph, or can be made one.
func TestHostItself(t *testing.T) {
	m := newPlayed(t)
	must(t, m.hub.receiver.File(context.Background(), "ucl", ofItself("ucl")))
	p := open(t, desk, m.url+"#/hosts/ucl")
	p.withAxe()
	p.until(itselfStands)
	shown := value[string](p, "[...document.querySelectorAll('.row')].map((e) => e.getAttribute('aria-labelledby').replace('row-', '')).concat([...document.querySelectorAll('select[name=metric] option')].map((o) => o.value)).join(' ')") + " "
	for _, metric := range hostMetrics() {
		if !strings.Contains(shown, string(metric)+" ") {
			t.Errorf("%s is neither drawn nor offered: %s", metric, shown)
		}
	}
	p.says(".row", "Processor use")
	p.says(".row .read", "25.5 % to 49 %")
	if n := value[int](p, "document.querySelectorAll('.row:first-of-type .canvas').length"); n != 1 {
		t.Errorf("%d graphs of one metric of a host", n)
	}
	p.accessible("host by itself")
	p.picture("host-itself")
	p.run(chromedp.Click(chromedp.CSS("[aria-label=Span] button:nth-child(2)"))) // six hours
	p.until("location.hash.startsWith('#/hosts/ucl?from=-6h') && " + itselfStands + " && /to 3[01][.\\d]*\\s%/.test(document.querySelector('.row .read').textContent)")
	p.run(chromedp.Focus(chromedp.CSS(".plot .canvas")))
	p.keys(kb.End, "+")
	p.until("location.hash.includes('to=') && " + itselfStands)
	p.show("#/pair/ucl/ucl", phone, true)
	p.until(itselfStands)
	p.says("h1", "ucl, by itself")
	p.until("document.querySelector('main a[href=\"#/hosts/ucl\"]') && document.documentElement.scrollWidth <= innerWidth")
	p.accessible("pair of one host, dark, phone")
	p.show("#/hosts/cern", desk, false)
	p.says(".itself", "cern has measured nothing of itself yet.")
	p.says(".itself", "probe: host")
}

// What is called live goes on: from nothing to the first planned run, whatever its tool is called, then to a metric that was never
// measured, and past a diagnosis, whose tools come before it in the alphabet.
func TestLiveGoesOn(t *testing.T) {
	m := newPlayed(t)
	at := time.Now()
	file := func(tool string, metrics map[measure.Metric]float64) {
		t.Helper()
		r := ended("ping", tool, "ucl", "cern", at)
		r.Metrics = metrics
		must(t, m.hub.receiver.File(context.Background(), "ucl", []*measure.Result{r}))
	}
	p := open(t, desk, m.url+"#/pair/ucl/cern?from=-1h")
	p.until("document.querySelector('.live.open')")
	p.says("main", "Nothing was measured between ucl and cern yet.")
	file("zz-odd", map[measure.Metric]float64{measure.RTTMedian: 0.04})
	p.says(".row .read", "last 40.0 ms")
	p.says(".row h2", "by zz-odd")
	file("zz-odd", map[measure.Metric]float64{measure.RTTMedian: 0.042, measure.Jitter: 0.001})
	p.until("document.querySelector('#row-jitter_seconds')")
	step := ended("ping", "ping", "ucl", "cern", time.Now())
	step.Test, step.Role = "", measure.DiagnosisRole(someResult, "ping")
	step.Metrics = map[measure.Metric]float64{measure.RTTMedian: 0.05}
	must(t, m.hub.receiver.File(context.Background(), "ucl", []*measure.Result{step}))
	must(t, m.hub.receiver.File(context.Background(), "ucl", []*measure.Result{diagnosedBetween("ucl", "cern", time.Now())}))
	p.show("#/", desk, false)
	p.show("#/pair/ucl/cern?from=-1h", desk, false)
	p.says(".row h2", "by zz-odd")
	p.until("document.querySelector('output').textContent.endsWith(', live')")
	at = at.Add(-10 * time.Minute) // beside what is there
	file("zz-odd", map[measure.Metric]float64{measure.RTTMedian: 0.4})
	p.says(".row .read", " to 400 ms")
}

func diagnosedBetween(source, target string, at time.Time) *measure.Result {
	r := ended("diagnosis", "diagnosis", source, target, at)
	r.Parameters["verdict"] = "path-full"
	return r
}

// What was measured on demand or for a diagnosis is drawn beside the plan, told with why it was, and can be switched off; the graph
// is of what is planned.
func TestBesidesThePlan(t *testing.T) {
	m := newPlayed(t)
	now := time.Now()
	var all []*measure.Result
	file := func(role measure.Role, tool string, ago time.Duration, metrics map[measure.Metric]float64) {
		r := ended("ping", tool, "ucl", "cern", now.Add(-ago))
		r.Role, r.Metrics = role, metrics
		if role != measure.RolePlanned {
			r.Test = ""
		}
		all = append(all, r)
	}
	for ago := time.Minute; ago < time.Hour; ago += time.Minute {
		file(measure.RolePlanned, "rtt", ago, map[measure.Metric]float64{measure.RTTMedian: 0.04})
	}
	file(measure.RoleDemand, "rtt", 20*time.Minute, map[measure.Metric]float64{measure.RTTMedian: 0.06})
	file(measure.DiagnosisRole(someResult, "ping"), "ping", 40*time.Minute, map[measure.Metric]float64{measure.RTTMedian: 0.07, measure.Jitter: 0.002})
	must(t, m.Archive.Put(context.Background(), all))
	p := open(t, desk, m.url+"#/pair/ucl/cern?from=-1h")
	p.withAxe()
	p.until("document.querySelectorAll('.plot .canvas[data-buckets]').length >= 2 && !document.querySelector('main [aria-busy=true]') && document.querySelector('button.besides')")
	p.says(".row .read", "40.0 ms to 40.0 ms, last 40.0 ms")
	p.says(".row .read", ", 2 besides the plan")
	p.click("document.querySelector('button.besides')")
	p.says("section[aria-labelledby=row-jitter_seconds] .read", "No planned value in this span, 1 besides the plan")
	p.says("section[aria-labelledby=row-jitter_seconds] h2", "besides the plan")
	if gaps := value[bool](p, "document.querySelector('section[aria-labelledby=row-jitter_seconds]').textContent.includes('lost')"); gaps {
		t.Error("what no planned test measures is told as lost")
	}
	p.until("(document.querySelector('.later')?.scrollIntoView(), !document.querySelector('.later') && !document.querySelector('main [aria-busy=true]'))")
	p.accessible("besides the plan")
	p.picture("besides")
	p.run(chromedp.Focus(chromedp.CSS(".plot .canvas")))
	p.keys(kb.End)
	heard := ""
	for range 70 {
		p.keys(kb.ArrowLeft)
		heard += value[string](p, "document.querySelector('.plot [aria-live]').textContent.replaceAll('\\u00a0', ' ')")
	}
	for _, text := range []string{"; on demand 60.0 ms", "; by a diagnosis 70.0 ms"} {
		if !strings.Contains(heard, text) {
			t.Errorf("nobody is told%s: %.300s", text, heard)
		}
	}
	p.run(chromedp.Click(chromedp.CSS(".legend input[type=checkbox]")))
	p.until("location.hash.includes('besides=no') && !document.querySelector('main [aria-busy=true]') && !document.querySelector('.row .read').textContent.includes('besides') && !document.querySelector('#row-jitter_seconds')")
}

// ink is how many pixels of the graph of a row have the colour of its line.
func ink(p *tab, row, colour string) int {
	p.t.Helper()
	return value[int](p, fmt.Sprintf(`(() => {
		const canvas = document.querySelector('section[aria-labelledby=row-%s] .canvas canvas');
		const probe = document.createElement('i');
		document.body.append(probe);
		probe.style.color = 'var(--%s)';
		const [r, g, b] = getComputedStyle(probe).color.match(/\d+/g).map(Number);
		probe.remove();
		const {data} = canvas.getContext('2d', {willReadFrequently: true}).getImageData(0, 0, canvas.width, canvas.height);
		let n = 0;
		for (let i = 0; i < data.length; i += 4) if (data[i] === r && data[i + 1] === g && data[i + 2] === b && data[i + 3] === 255) n++;
		return n;
	})()`, row, colour))
}

// A value can be seen that has none beside it: alone in its graph, or between gaps, whatever form the graph has; and so can the
// one interval of a short transfer.
func TestSingleValues(t *testing.T) {
	m := newPlayed(t)
	now := time.Now()
	var all []*measure.Result
	one := func(at time.Time) {
		r := ended("ping", "rtt", "ucl", "cern", at)
		r.Metrics = map[measure.Metric]float64{measure.RTTMedian: 0.04, measure.Jitter: 0.001, measure.HopCount: 7, measure.Throughput: 1e8, measure.LossRatio: 0}
		all = append(all, r)
	}
	failed := func(at time.Time) {
		r := ended("ping", "rtt", "ucl", "cern", at)
		r.Fail(context.DeadlineExceeded)
		all = append(all, r)
	}
	// On 2 days: a value alone, and one between two failures among many failures.
	one(now.Add(-50 * 24 * time.Hour))
	for i := range 90 {
		at := now.Add(-40*24*time.Hour + time.Duration(i)*5*time.Minute)
		if failed(at); i%2 == 0 {
			one(at.Add(150 * time.Second))
		}
	}
	short := ended("throughput", "bulk", "ucl", "cern", now)
	short.Metrics[measure.Throughput] = 1e8
	short.Samples.Intervals = []measure.Interval{{Direction: measure.Forward, End: measure.Receiver, EndSeconds: 0.5, BitsPerSecond: 1e8}}
	all = append(all, short)
	must(t, m.Archive.Put(context.Background(), all))
	p := open(t, desk, m.url)
	p.allowed = []string{"willReadFrequently"} // which this test does
	for what, at := range map[string]time.Time{"alone": now.Add(-50 * 24 * time.Hour), "between gaps": now.Add(-40*24*time.Hour + 4*time.Hour)} {
		span := "from=" + at.Add(-4*time.Hour).UTC().Format(time.RFC3339) + "&to=" + at.Add(4*time.Hour).UTC().Format(time.RFC3339)
		p.show("#/pair/ucl/cern?"+span+"&tool=rtt", desk, false)
		p.until("document.querySelectorAll('.plot .canvas[data-buckets]').length >= 5 && !document.querySelector('main [aria-busy=true]')")
		for row, colour := range map[string]string{"rtt": "loss-0", "jitter_seconds": "series", "loss_ratio": "series", "throughput_bits_per_second": "series", "hop_count": "series"} {
			if n := ink(p, row, colour); n < 8 {
				t.Errorf("%s: %s has %d pixels of its line", what, row, n)
			}
		}
	}
	p.show("#/result/"+short.ID, desk, false)
	p.until("document.querySelector('#intervals')?.parentElement.querySelector('polyline')?.getBoundingClientRect().width > 100")
}
