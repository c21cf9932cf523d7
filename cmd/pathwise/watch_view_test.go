package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/terminal"
)

// The name of a hop is looked for while the command runs, and no longer.
func TestTraceLooksForNamesWhileItRuns(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	var why error
	screen := terminal.Sized(io.Discard, 80, 24)
	watched := newTraceWatch(screen, measure.Task{Target: "carol"}, func(ctx context.Context, _ string) string {
		<-ctx.Done()
		why = ctx.Err()
		return ""
	})
	live := screen.Start(watched.view)
	watched.equip(ctx, 0, probe.Options{}, live).Hop(measure.Hop{TTL: 1, Addresses: []string{"192.0.2.1"}, RTTSeconds: []*float64{nil}})
	interrupt()
	live.End(false)
	watched.outcome(io.Discard, 80)
	if !errors.Is(why, context.Canceled) {
		t.Errorf("the look-up ended for %v", why)
	}
}

// Round trips that differ by microseconds are counted in ranges whose limits differ.
func TestPingHistogramOfSmallJitter(t *testing.T) {
	p := newPingWatch(terminal.Sized(io.Discard, 80, 24), []measure.Task{{Target: "carol"}})
	p.ASCII, p.Palette = true, terminal.Palette{}
	for name, c := range map[string]struct {
		least, jitter float64 // s
		want          []string
	}{
		"some microseconds": {0.0241, 3e-6, []string{
			"24.100 ms to 24.101 ms  ################################## 3", "24.101 ms to 24.102 ms  ####################### 2",
			"24.102 ms to 24.103 ms  ####################### 2"}},
		"none": {0.0241, 0, []string{"24.100 ms to 24.101 ms  ################################## 7"}},
		"milliseconds": {0.02, 0.006, []string{
			"20.0 ms to 21.0 ms  ###################################### 2", "21.0 ms to 22.0 ms  ################### 1",
			"22.0 ms to 23.0 ms  ################### 1", "23.0 ms to 24.0 ms  ################### 1",
			"24.0 ms to 25.0 ms  ################### 1", "25.0 ms to 26.0 ms  ################### 1"}},
	} {
		var rtts []float64
		for i := range 7 {
			rtts = append(rtts, c.least+1e-9+float64(i)/7*c.jitter)
		}
		if diff := cmp.Diff(c.want, p.histogram(rtts, 80)); diff != "" {
			t.Errorf("%s (-want +drawn):\n%s", name, diff)
		}
	}
	for _, c := range []struct {
		v, step float64
		want    string
	}{{0, 1e-6, "0 s"}, {999e-6, 1e-6, "999 µs"}, {1e-3, 1e-6, "1.000 ms"}, {1.2, 5e-4, "1.2000 s"}, {130, 1, "2.2 min"}} {
		if got := limitText(c.v, c.step); got != c.want {
			t.Errorf("%g by %g: %q, want %q", c.v, c.step, got, c.want)
		}
	}
}

// A terminal that shows ASCII only gets nothing else, live and at the end.
func TestASCIIOnATerminal(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"ping 127.0.0.1 127.0.0.2 a-host-with-a-long-name.invalid -c 2 -i 0.01", "trace 127.0.0.1", "ping 127.0.0.1 -c 3 -i 0.3"} {
		s := sitting{columns: 80, rows: 24, environ: []string{"LC_ALL=C"}}
		s.run(t, strings.Fields(args)...)
		if i := strings.IndexFunc(s.written, func(r rune) bool { return r > '~' }); i >= 0 {
			t.Errorf("%s: %q", args, s.written[max(0, i-40):i+10])
		}
	}
	s := sitting{columns: 80, rows: 24}
	if s.run(t, "ping", "127.0.0.1", "-c", "1"); !strings.Contains(s.written, "µs") {
		t.Errorf("one that shows more gets %q", s.written)
	}
}
