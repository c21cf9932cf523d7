package main

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/terminal"
)

// The name of a hop is looked for while the command runs, and no longer.
func TestTraceLooksForNamesWhileItRuns(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	var why error
	screen := terminal.Sized(io.Discard, 80, 24)
	watched := newTraceWatch(screen, measure.Task{Target: "carol"}, func(ctx context.Context, _ string) (string, bool) {
		<-ctx.Done()
		why = ctx.Err()
		return "", false
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

// What a trace found beside its hops, of both ways, by rounds or over all paths, is told on a terminal, too, and its notes are left to who shows it.
func TestTraceOutcomeOnATerminal(t *testing.T) {
	hops := []measure.Hop{{TTL: 1, Addresses: []string{"192.0.2.1"}, RTTSeconds: []*float64{new(0.001)}}}
	for want, samples := range map[string]measure.Samples{
		"Nothing is lost.": {Rounds: &measure.RoundsSample{Rounds: 60, Loss: measure.PathLoss{Verdict: "Nothing is lost."},
			Hops: []measure.HopRounds{{TTL: 1, Sent: 60, Answered: 60, From: []measure.HopAnswers{{Address: "192.0.2.1", Packets: 60}}}}}},
		"1 path;": {Paths: &measure.PathsSample{Complete: true, Confidence: 0.95,
			Vertices: []measure.PathVertex{{}, {TTL: 1, Address: "192.0.2.1"}}, Links: []measure.PathLink{{From: 0, To: 1}}}},
		"back (from below)": {Return: &measure.ReturnRoute{Hops: hops}},
		"on the way back packets of more than 1300 bytes vanish on the link that the far end is on": {BackNarrows: &measure.Narrowing{Before: 1, Bytes: 1300}},
	} {
		samples.Hops = hops
		r := &measure.Result{Kind: "trace", Target: measure.Endpoint{Name: "carol", Address: "192.0.2.1"}, Samples: samples, Notes: []string{"a note"}}
		watched := newTraceWatch(terminal.Sized(io.Discard, 80, 24), measure.Task{Target: "carol"}, nil)
		watched.finished(0, r, nil)
		var out strings.Builder
		watched.outcome(&out, 80)
		if got := out.String(); !strings.Contains(got, want) || strings.Contains(got, "note") {
			t.Errorf("want %q and no note:\n%s", want, got)
		}
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

// fetch has a line for each interval, how the rate went, and what this end is set to.
func TestFetchOnATerminal(t *testing.T) {
	t.Parallel()
	file := make([]byte, 1<<20)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(file) }))
	defer server.Close()
	lines, _, err := onTerminal(t, 80, 24, "", nil, "fetch", server.URL+"/file", "-t", "0.3")
	if err != nil {
		t.Error(err)
	}
	// On a busy machine the answer, and so the interval, may come late.
	showsInOrder(t, lines, `^ +seconds +rate +round trip +window$`, `^ +0\.00 - \d+\.\d\d +\d.*bit/s .* [kM]?B$`, `^rate +[▁-█]+  up to`, `^throughput +`,
		`^receiver, reverse .*segments of`)
}

// ping compares the families side by side.
func TestPingOverBothFamiliesOnATerminal(t *testing.T) {
	t.Parallel()
	if addresses, err := net.LookupHost("localhost"); err != nil || !slices.Contains(addresses, "::1") || !slices.Contains(addresses, "127.0.0.1") {
		t.Skipf("localhost is not both 127.0.0.1 and ::1 here, but %v (%v)", addresses, err)
	}
	lines, _, err := onTerminal(t, 80, 24, "", nil, "ping", "localhost", "-4", "-6", "-c", "3", "-i", "0.02")
	if err != nil {
		t.Error(err)
	}
	showsInOrder(t, lines, `^host +sent`, `^localhost IPv4 +3 +0`, `^localhost IPv6 +3 +0`, `^localhost \(127\.0\.0\.1\) answered all 3`,
		`^localhost \(::1\) answered all 3`, `^To localhost IPv[46] `)
}

// Of two families it is told which is faster, and which answers at all.
func TestComparison(t *testing.T) {
	none := []float64{math.NaN()}
	for _, c := range []struct {
		four, six []float64
		want      string
	}{
		{[]float64{0.02}, []float64{0.03}, "To carol IPv6 takes 10.0 ms longer, as a rule."},
		{[]float64{0.03}, []float64{0.02}, "To carol IPv4 takes 10.0 ms longer, as a rule."},
		{[]float64{0.02}, []float64{0.0205}, "To carol IPv4 and IPv6 take as long, as a rule."},
		{none, []float64{0.02}, "carol answers over IPv6 alone."},
		{[]float64{0.02}, none, "carol answers over IPv4 alone."},
		{none, nil, "carol answers over neither IPv4 nor IPv6."},
	} {
		if got := comparison(&pingTarget{name: "carol", rtts: c.four}, &pingTarget{name: "carol", rtts: c.six}); got != c.want {
			t.Errorf("%v, %v: %q, want %q", c.four, c.six, got, c.want)
		}
	}
	away := &pingTarget{name: "carol", why: "not measured"}
	if got := comparison(&pingTarget{rtts: []float64{0.02}, name: "carol"}, away); got != "carol could not be measured over IPv6." {
		t.Errorf("without a route: %q", got)
	}
}

// Ctrl-C leaves what was measured of several hosts in the table.
func TestCtrlCOnATableOfPings(t *testing.T) {
	t.Parallel()
	lines, _, _ := onTerminal(t, 80, 24, "▁", func(user *os.File) {
		if _, err := user.WriteString("\x03"); err != nil {
			t.Error(err)
		}
	}, "ping", "127.0.0.1", "127.0.0.2", "-c", "1000", "-i", "0.02")
	showsInOrder(t, lines, `^host +sent`, `^127\.0\.0\.1 .*[▁-█]+$`, `^127\.0\.0\.2 .*[▁-█]+$`, `^127\.0\.0\.2 answered all`)
}

// What ends by Ctrl-C without a word leaves the cursor at the beginning of a line.
func TestCtrlCOfAResponder(t *testing.T) {
	t.Parallel()
	lines, _, err := onTerminal(t, 80, 24, "answering on", func(user *os.File) {
		if _, err := user.WriteString("\x03"); err != nil {
			t.Error(err)
		}
	}, "respond", "--bind", "127.0.0.1", "--any-port")
	if err != nil {
		t.Error(err, lines)
	}
}

// A port that may not be opened is no port that something uses.
func TestNotListening(t *testing.T) {
	for err, want := range map[error]string{
		unix.EACCES:     "listen: permission denied; only root may open ports below 1024: choose another with --port",
		unix.EADDRINUSE: "listen: address already in use; end what uses the port, or choose another with --port",
	} {
		if got := notListening(err, "port").Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
