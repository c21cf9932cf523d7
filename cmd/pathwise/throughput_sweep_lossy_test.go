package main

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// Over a path of 622 Mbit/s and 20 ms that loses packets at random, windows above 1 MiB cost nothing with today's kernel, where gridnm saw
// throughput level off and fall.
func TestThroughputSweepLossy(t *testing.T) {
	onlyLong(t)
	carrying(t)
	spec, err := lab.ParseSpec(t.Name(), []byte("hosts: {bob: {}, carol: {}}\nlinks: [{between: [bob, carol], rate: 622mbit, delay: 10ms, queue: 2000p, forward: {loss: 0.0009%}}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	l := startLab(t, spec)
	readyOnCarol(t, l, lab.Command{Argv: []string{lab.Self(), "respond"}, Env: append(os.Environ(), actAsPathwise+"=1")})
	var out bytes.Buffer
	onHost(t, l, "bob", &out, lab.Self(), "throughput", "carol", "--json", "--sweep", "cc=reno,cubic", "--sweep", "window=256k..8M", "-t", "4", "--budget", "150s")
	var r measure.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Samples.Sweep == nil {
		t.Fatalf("no sweep, %v: %s", err, out.Bytes())
	}
	at := map[[2]any]float64{} // means, by congestion control and window
	for _, p := range r.Samples.Sweep.Points {
		t.Logf("%v: %d runs, %.3g bit/s (%.3g to %.3g)", p.Values, p.N, p.Mean, p.Low, p.High)
		at[[2]any{p.Values[0], p.Values[1]}] = p.Mean
	}
	const mib = 1 << 20
	for _, cc := range []string{"reno", "cubic"} {
		knee := at[[2]any{cc, 1. * mib}]
		for _, window := range []float64{2 * mib, 4 * mib, 8 * mib} {
			if v := at[[2]any{cc, window}]; knee == 0 || v < 0.7*knee {
				t.Errorf("%s: %.3g bit/s with a window of %.0f MiB, %.3g with 1 MiB", cc, v, window/mib, knee)
			}
		}
	}
}
