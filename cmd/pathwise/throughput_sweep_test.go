package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// Over windows the throughput of a path of 100 Mbit/s and 10 ms grows with what the window allows, up to what the path carries: gridnm's
// Figure 9. PATHWISE_SWEEPS=all measures eight windows, and holds each to 10 %.
func TestThroughputSweepWindow(t *testing.T) {
	carrying(t)
	within, arguments := 0.15, []string{"--sweep", "window=32k,512k", "--sweep-within", "20%", "-t", "0.5", "--budget", "20s"}
	if allSweeps() {
		within, arguments = 0.10, []string{"--sweep", "window=32k..2M", "-t", "2", "--budget", "100s"}
	}
	spec, err := lab.ParseSpec(t.Name(), []byte("hosts: {bob: {}, carol: {}}\nlinks: [{between: [bob, carol], rate: 100mbit, overhead: none, delay: 5ms, queue: 500p}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	l := startLab(t, spec)
	readyOnCarol(t, l, lab.Command{Argv: []string{lab.Self(), "respond"}, Env: append(os.Environ(), actAsPathwise+"=1")})
	wrong := []string{"not tried"}
	for range sweepTries {
		var out bytes.Buffer
		onHost(t, l, "bob", &out, append([]string{lab.Self(), "throughput", "carol", "--json", "--cc", "cubic"}, arguments...)...)
		var r measure.Result
		if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Samples.Sweep == nil {
			t.Fatalf("no sweep, %v: %s", err, out.Bytes())
		}
		if wrong = judgeWindows(t, r.Samples.Sweep.Points, within); len(wrong) == 0 {
			return
		}
	}
	t.Error(strings.Join(wrong, "\n"))
}

// sweepTries is how often the windows are measured: a machine with other things to do does not always carry 100 Mbit/s.
const sweepTries = 3

// judgeWindows says what is wrong with points over windows, of which the first is below and the last above what the path holds.
func judgeWindows(t *testing.T, points []measure.SweepPoint, within float64) (wrong []string) {
	t.Helper()
	const carries = 100e6 * 1448 / 1500 // bit/s of payload
	for i, p := range points {
		if p.N == 0 || p.Window == nil {
			return append(wrong, fmt.Sprintf("%v: %q, window %v", p.Values, p.Failure, p.Window))
		}
		want := min(carries, p.Window.AllowsBitsPerSecond)
		t.Logf("window %v: usable %.0f, %d runs, %.3g bit/s (%.3g to %.3g) of %.3g", p.Values, p.Window.UsableBytes, p.N, p.Mean, p.Low, p.High, want)
		if math.Abs(p.Mean-want) > within*want {
			wrong = append(wrong, fmt.Sprintf("window %v: %.3g bit/s, want %.3g", p.Values, p.Mean, want))
		}
		if linear := 8*p.Window.UsableBytes/0.010 < carries; i == 0 && !linear || i == len(points)-1 && linear {
			wrong = append(wrong, fmt.Sprintf("window %v leaves %.0f bytes to use", p.Values, p.Window.UsableBytes))
		}
	}
	return wrong
}
