package diagnose

import (
	"math"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// A kernel's least round trip that is far below all pings, which took as long, and below all smoothed round trips of its connection, is no path's. Where
// others' queues vary the pings, or smoothed round trips come near it, it is.
func TestPlausibleLeast(t *testing.T) {
	for _, c := range []struct {
		name                      string
		ping, usual, least, trips float64
		want                      float64
	}{
		{"as the pings", 0.02, 0.02, 0.0198, 0.025, 0.0198},
		{"below, and nothing else is", 0.02, 0.0201, 0.0135, 0.025, 0.02},
		{"below, as smoothed ones are", 0.02, 0.0201, 0.0135, 0.014, 0.0135},
		{"below pings that vary", 0.02, 0.025, 0.0135, 0.025, 0.0135},
		{"by less than hosts' own delays", 0.00002, 0.00002, 0.000005, 0.00005, 0.000005},
	} {
		p := with(func(p *path) { p.rtt, p.usual, p.loaded = c.ping, c.usual, c.trips })
		results := p.results()
		for _, r := range results {
			for _, one := range r.Samples.TCPInfo {
				one.Values["min_rtt_seconds"] = c.least
			}
		}
		if got := gather(results).ways[measure.Forward].Value(EmptyRoundTrip); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v s, want %v s", c.name, got, c.want)
		}
	}
}
