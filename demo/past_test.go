package demo

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/archive/generated"
	"github.com/pathwise-net/pathwise/measure"
)

// pingChecker is a generated.Filer that looks at the distribution of each ping.
type pingChecker struct {
	t     *testing.T
	least float64 // round trip, in s

	mu    sync.Mutex
	pings int
	lossy int
}

func (c *pingChecker) Put(_ context.Context, results []*measure.Result) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range results {
		received := r.Metrics[measure.ReceivedPackets]
		if r.Kind != "ping" || received == 0 {
			continue
		}
		c.pings++
		if r.Metrics[measure.LostPackets] > 0 {
			c.lossy++
		}
		s, err := r.Distributions[measure.RTTs].Sketch()
		if err != nil {
			return err
		}
		if float64(s.Count()) != received || s.Min() < c.least || s.Max() > 1.05*r.Metrics[measure.RTTMax] {
			c.t.Errorf("%.0f answers of %g to %g s have %d samples of %g to %g s", received, r.Metrics[measure.RTTMin],
				r.Metrics[measure.RTTMax], s.Count(), s.Min(), s.Max())
		}
	}
	return nil
}

// The samples of the made-up past have the distances of its lab, as the metrics have: what a day's median is made of.
func TestPastSamples(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	past := generated.Day([]generated.Host{{Name: lossy, Address: "10.0.0.1"}, {Name: "cern", Address: "10.0.0.2"}}, now, 1)
	past.Tests = []generated.Test{{Tool: generated.Ping, Every: 5 * time.Minute}}
	c := &pingChecker{t: t, least: 0.05}
	way := route{rtt: 0.05, rate: 1e8, hops: 3}
	err := past.Fill(t.Context(), &fitter{to: c, until: now, ways: map[[2]string]route{{lossy, "cern"}: way, {"cern", lossy}: way}})
	if err != nil || c.pings == 0 || c.lossy == 0 {
		t.Errorf("%d pings, %d of them with losses: %v", c.pings, c.lossy, err)
	}
}
