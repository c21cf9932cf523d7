package diagnose

import (
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// Trains of small packets tell a box from a link, and are no capacity. They are asked for where a full path has a rate of no Ethernet.
func TestSlowFirewall(t *testing.T) {
	at := func(rate float64) path {
		return with(func(p *path) { fullPath(p); p.capacity, p.goodput = rate, .96*rate })
	}
	trains := func(results []*measure.Result, length, capacity float64) []*measure.Result {
		r := measure.NewResult("capacity", testStart.Add(time.Minute))
		r.Parameters = map[string]any{"reverse": false, "size": length}
		r.Metrics[measure.Capacity] = capacity
		return append(results, r)
	}
	firewall, link := at(46.2e6).results(), at(46.2e6).results()
	for _, results := range [][]*measure.Result{firewall, link} {
		results[1].Parameters["size"] = 1480.0
	}
	firewall = trains(firewall, 128, 128*8*4000)
	link = trains(link, 128, 37e6)
	for name, c := range map[string]struct {
		results []*measure.Result
		want    bool
	}{"a box": {firewall, true}, "a link": {link, false}} {
		d := Diagnose(c.results)
		checkFindings(t, d)
		if gives(d, "slow-firewall") != c.want || d.Verdict != Healthy || *d.ExpectedBitsPerSecond < 40e6 {
			t.Errorf("%s: %s, %+v", name, d.Verdict, d.Findings)
		}
	}
	plan := Plan(time.Second, measure.Forward)
	for rate, want := range map[float64]bool{97.5e6: false, 9.7e6: false, 46.2e6: true, 19.5e6: true, 975e6: false, 450e6: false, 1e6: false} {
		if asked := len(Extend(plan, len(plan), at(rate).results())) > len(plan); asked != want {
			t.Errorf("%v bit/s: asked %v, want %v", rate, asked, want)
		}
	}
}
