package browser

import (
	"context"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// What one may choose from is what was measured, what nobody knows by its name and unit; and a graph opens with the tool that ran
// most often, not with the alphabet's first.
func TestMeasuredIsOffered(t *testing.T) {
	m := theMesh(t)
	odd := ended("ping", "aaa", "man", "dl", time.Now().Add(-time.Hour)) // once, where rtt measures all day
	odd.Metrics = map[measure.Metric]float64{measure.RTTMedian: 0.005, "oddity_bytes_per_second": 5}
	itself := ended("host", "state", "man", "man", time.Now().Add(-time.Hour))
	itself.Metrics = map[measure.Metric]float64{measure.HostCPU: 0.1}
	must(t, m.archive.Put(context.Background(), []*measure.Result{odd, itself}))
	p := open(t, desk, m.url)
	const offered = "Object.fromEntries([...document.querySelectorAll('.controls optgroup')].flatMap((g) => [...g.querySelectorAll('option')].map((o) => [o.value, g.label + ': ' + o.textContent])))"
	p.until(offered + ".oddity_bytes_per_second")
	list := value[map[string]string](p, offered)
	for metric, want := range map[string]string{
		"rtt_median_seconds": "Delay: Round-trip delay, median", "loss_ratio": "Loss and order: Loss", "hop_count": "Path: Hops",
		"sent_packets": "Loss and order: Packets sent", "oddity_bytes_per_second": "Other: Oddity rate, bytes/s",
		"available_bits_per_second": "", "path_mtu_bytes": "", "host_cpu_ratio": "",
	} {
		if list[metric] != want {
			t.Errorf("%s is offered as %q, want %q", metric, list[metric], want)
		}
	}
	p.show("#/?metric=path_mtu_bytes", desk, false) // what was chosen is among them, measured or not
	p.until("document.querySelector('.controls select').value === 'path_mtu_bytes' && " + offered + ".oddity_bytes_per_second")

	p.show("#/pair/man/dl?from=-6h", desk, false)
	p.until("document.querySelector('.row h2 select') && document.querySelector('.plot .canvas[data-buckets]')")
	const tools = "(document.querySelector('.row h2 select')?.value ?? '') + ': ' + [...document.querySelectorAll('.row h2 select')[0]?.options ?? []].map((o) => o.value).join()"
	if got := value[string](p, tools); got != "rtt: rtt,aaa" {
		t.Errorf("the graph opens with %q, want rtt, then aaa", got)
	}
}
