package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/analysis/window"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// windowPath is a path between hosts of its own, with what the windows of it shall say.
type windowPath struct {
	link, window string
	shape, words string
	rate         float64 // bit/s at the IP layer, of the link or the bucket; 0: nothing is said of it
}

// windowPaths are one of each shape.
var windowPaths = []windowPath{
	{"rate: 10mbit, overhead: none, delay: 5ms, queue: 40p", "80", "normal", "a queue of about", 10e6},
	{"rate: 10mbit, overhead: none, delay: 5ms, queue: 1p", "48", "no queue", "shallow-buffer", 10e6},
	{"rate: 50mbit, delay: 5ms, forward: {police: {rate: 5mbit, burst: 30kB}}", "40", "policer", "nothing waits", 5e6},
	{"rate: 50mbit, delay: 5ms, forward: {shaper: {rate: 5mbit, burst: 30kB}, queue: 30kB}", "80", "shaper", "bursts pass at", 5e6},
	{"rate: 50mbit, delay: 5ms, loss: 5%", "24", "constant loss", "random-loss", 0},
	{"rate: 10mbit, delay: 5ms, duplex: mismatch", "40", "duplex fault", "duplex-mismatch", 0},
}

// What growing windows say is what the lab did to the path, with its rate. All paths are measured at once, which together are slower than one core.
func TestPingWindowShapes(t *testing.T) {
	carrying(t)
	var hosts, links strings.Builder
	for i, p := range windowPaths {
		fmt.Fprintf(&hosts, "near%d: {}, far%d: {}, ", i, i)
		fmt.Fprintf(&links, "  - {between: [near%d, far%d], %s}\n", i, i, p.link)
	}
	spec, err := lab.ParseSpec(t.Name(), fmt.Appendf(nil, "seed: 16\nhosts: {%s}\nlinks:\n%s", strings.TrimSuffix(hosts.String(), ", "), links.String()))
	if err != nil {
		t.Fatal(err)
	}
	l := startLab(t, spec)
	ping := func(i int) func() measure.Result {
		return startPing(t, l, fmt.Sprintf("near%d", i), fmt.Sprintf("far%d", i), "--window", windowPaths[i].window)
	}
	var waits []func() measure.Result
	for i := range windowPaths {
		waits = append(waits, ping(i))
	}
	for i, wait := range waits {
		r := wait()
		for range windowTries {
			if shape := r.Parameters["shape"]; shape != string(window.Busy) && shape != string(window.Unknown) {
				break
			}
			r = ping(i)() // alone, or beside what is left
		}
		windowPaths[i].judge(t, r)
	}
}

// windowTries is how often a path is measured anew that could not be told: a machine with other things to do does not keep six windows full at once.
const windowTries = 4

// judge holds a Result against the path.
func (p windowPath) judge(t *testing.T, r measure.Result) {
	t.Helper()
	rate, known := r.Get(measure.Capacity)
	if r.Parameters["shape"] != p.shape || !strings.Contains(strings.Join(r.Notes, "\n"), p.words) || known != (p.rate > 0) || math.Abs(rate-p.rate) > 0.1*p.rate {
		t.Errorf("%s: shape %v, rate %v, notes %q, windows %+v", p.link, r.Parameters["shape"], rate, r.Notes, r.Samples.Windows)
	}
}

// startPing begins to ping from one host to another, and returns what waits for its Result.
func startPing(t *testing.T, l *lab.Lab, from, to string, arguments ...string) func() measure.Result {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "result"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.Start(context.Background(), from, lab.Command{Argv: append([]string{lab.Self(), "ping", to, "--json"}, arguments...),
		Env: append(os.Environ(), actAsPathwise+"=1"), Stdout: out, Stderr: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	return func() (r measure.Result) {
		t.Helper()
		if status, err := p.Wait(); err != nil || status != exitDone {
			t.Fatalf("ping from %s: status %d, %v", from, status, err)
		}
		text, err := os.ReadFile(out.Name())
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return r
	}
}
