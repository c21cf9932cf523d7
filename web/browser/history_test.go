package browser

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// What changed within the span stands above the graphs, in the words of the API, and its time is marked; of the way back, to which nothing
// happened, one calm line says so. A detour, which may always have been, is told behind it.
func TestSinceWhen(t *testing.T) {
	folder := t.TempDir()
	store, err := archive.Open(context.Background(), filepath.Join(folder, "archive"), archive.Options{})
	must(t, err)
	dice, now := rand.New(rand.NewPCG(1, 1)), time.Now()
	var all []*measure.Result
	for ago := 9 * 24 * time.Hour; ago > 0; ago -= 20 * time.Minute {
		for _, way := range [][2]string{{"ucl", "cern"}, {"cern", "ucl"}} {
			r := ended("ping", "rtt", way[0], way[1], now.Add(-ago))
			least := 0.020 + 1e-4*dice.ExpFloat64()
			if way[0] == "ucl" && ago < 9*time.Hour {
				least += 0.015
			}
			r.Metrics[measure.RTTMin], r.Metrics[measure.RTTMedian] = least, least+1e-4
			all = append(all, r)
		}
	}
	must(t, store.Put(context.Background(), all))
	m, end := serveMesh(t, folder, store, meshText)
	t.Cleanup(func() { must(t, end()) })
	p := open(t, desk, m.url+"#/pair/ucl/cern?from=-1d")
	p.until(`/^Since 20.* UTC a round trip from ucl to cern takes 35.* ms, before 20.*The one other pair did not change with it\.$/.test(document.querySelector('.since p.is-partial')?.innerText)`)
	p.until("document.querySelectorAll('.event.warning').length === 1 && document.querySelector('.event text').textContent === 'S'")
	p.tabTo(".event")
	p.until("/change ucl → cern, warning: Since/.test(document.querySelector('.told').textContent)")
	back := open(t, desk, m.url+"#/pair/cern/ucl?from=-1d")
	back.until("document.querySelectorAll('.plot .canvas[data-buckets]').length && document.querySelector('#results')")
	back.until("document.querySelector('.since[aria-busy=false]')")
	back.until(`/^Round-trip delay 20\.\d.ms\. Nothing is known to have begun or ended in this span\.$/.test(document.querySelector('.since').textContent.trim())`)
	all = nil
	for way, least := range map[[2]string]float64{{"nikhef", "liv"}: 0.03, {"nikhef", "man"}: 0.01, {"man", "liv"}: 0.002} {
		for ago := range 5 {
			r := ended("ping", "rtt", way[0], way[1], now.Add(-time.Duration(ago+1)*20*time.Minute))
			r.Metrics[measure.RTTMin], r.Metrics[measure.RTTMedian] = least, least+1e-4
			all = append(all, r)
		}
	}
	must(t, store.Put(context.Background(), all))
	round := open(t, desk, m.url+"#/pair/nikhef/liv?from=-1d")
	round.until(`/^A round trip from nikhef to liv takes 30.* By way of man it would take 12.* Packets go a detour, there or back\.$/.test(document.querySelector('.since p.is-partial')?.innerText)`)
}
