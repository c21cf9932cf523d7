package diagnose

import (
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// What makes packets small tells from what the connection began with: a clamp on the way, which it began with; a black hole, of which no first packet came
// through; a router that says what its link takes; or the kernel's own search, which begins with small packets.
func TestWhatMakesPacketsSmall(t *testing.T) {
	for _, c := range []struct {
		name         string
		opening, mss float64
		pmtu         float64
		acked        float64 // bytes, when the kernel went over to other packets
		want         string  // the finding
		lowered      bool    // it says that something on the way lowers the size
	}{
		{"a clamp", 548, 548, 1500, 0, "small-mss", true},
		{"a black hole", 1448, 1024, 1500, 38, "pmtu-blackhole", false},
		{"a link further on, later", 1448, 1024, 1500, 1e6, "small-mss", false},
		{"a router says so", 1448, 548, 600, 38, "small-mss", false},
		{"the kernel's search, at its beginning", 1024, 1024, 1500, 0, "small-mss", false},
		{"the kernel's search, on its way up", 512, 1100, 1500, 0, "small-mss", false},
		{"options", 1448, 1436, 1500, 38, "", false},
	} {
		p := with(func(p *path) { p.mss = c.mss })
		results := p.results()
		for _, r := range results {
			for i, one := range r.Samples.TCPInfo {
				one.Values["pmtu_bytes"], one.Values["advmss_bytes"] = c.pmtu, 1448
				if i == 0 {
					one.Values["snd_mss_bytes"] = c.opening
				}
				one.Values["bytes_acked"] += c.acked
			}
			if all := r.Samples.TCPInfo; len(all) > 0 {
				asked := all[len(all)-1]
				asked.End = measure.Receiver
				r.Samples.TCPInfo = append(all, asked)
			}
		}
		results[len(results)-1].Samples.TCPInfo[1].Values["bytes_acked"] = c.acked
		d := Diagnose(results)
		for _, id := range []string{"small-mss", "pmtu-blackhole"} {
			if gives(d, id) != (c.want == id) {
				t.Errorf("%s: %s found %v, want %q", c.name, id, gives(d, id), c.want)
			}
		}
		for _, f := range d.Findings {
			if says := strings.Contains(f.Explanation, "something on the way lowers"); f.ID == "small-mss" && says != c.lowered {
				t.Errorf("%s: a clamp is blamed %v: %s", c.name, says, f.Explanation)
			}
		}
	}
}
