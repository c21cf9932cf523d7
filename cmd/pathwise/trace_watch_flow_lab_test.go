package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/lab"
)

// balancedLab has four hosts behind a router that balances flows, and another way behind it, to which traffic of two of them is moved.
const balancedLab = `
seed: %d
hosts: {bob: {}, h1: {}, h2: {}, h3: {}, h4: {}}
routers: {home: {balance: flow}, left: {}, right: {}, join: {}, old: {}, new: {}, last: {}}
links:
  - {between: [bob, home], delay: 1ms}
  - {between: [home, left], delay: 1ms}
  - {between: [home, right], delay: 1ms}
  - {between: [left, join], delay: 1ms}
  - {between: [right, join], delay: 1ms}
  - {between: [join, old], delay: 1ms}
  - {between: [join, new], delay: 2ms}
  - {between: [old, last], delay: 1ms}
  - {between: [new, last], delay: 1ms}
  - {between: [last, h1]}
  - {between: [last, h2]}
  - {between: [last, h3]}
  - {between: [last, h4]}
routes:
  - {at: join, to: h1, via: old}
  - {at: join, to: h2, via: old}
  - {at: join, to: h3, via: old}
  - {at: join, to: h4, via: old}
`

// The traces of a watch, by each protocol and over each IP, go one way over balanced paths: none is taken for a change, and a change still is one. PATHWISE_SWEEPS=all watches
// 120 series.
func TestWatchHoldsItsFlow(t *testing.T) {
	carrying(t)
	seeds := 1
	if allSweeps() {
		seeds = 5
	}
	taken := map[string]int{} // series by the router that they passed
	series := 0
	for seed := range seeds {
		spec, err := lab.ParseSpec(t.Name(), fmt.Appendf(nil, balancedLab, seed+1))
		if err != nil {
			t.Fatal(err)
		}
		l := startLab(t, spec)
		for _, to := range []string{"h1", "h2", "h3", "h4"} { // Linux says once a second that a port is closed, and here four times as many packets ask
			var out bytes.Buffer
			onHost(t, l, to, &out, "sh", "-c", "echo 0 >/proc/sys/net/ipv4/icmp_ratelimit; echo 0 >/proc/sys/net/ipv6/icmp/ratelimit")
		}
		var watches []*watching
		for _, to := range []string{"h1", "h2", "h3", "h4"} {
			for _, how := range []string{"udp -4", "udp -6", "icmp -4", "icmp -6", "tcp -4", "tcp -6"} {
				protocol, family, _ := strings.Cut(how, " ")
				watches = append(watches, watchFromBob(t, l, to, family, "--proto", protocol))
			}
		}
		untilTraced(t, watches, 7) // and as many after the move: chance has one order in 3,432 look so
		for _, to := range []string{"h1", "h2"} {
			if err := l.SetRoute(lab.Route{At: "join", To: to, Via: "new"}); err != nil {
				t.Fatal(err)
			}
		}
		for _, w := range watches {
			w.traced.Store(0)
		}
		untilTraced(t, watches, 7)
		for _, w := range watches {
			got := w.end(t)
			series++
			moves, want := got.summary.Course.Moves, 0
			if to := w.of[0]; to == "h1" || to == "h2" {
				want = 1
			}
			if len(moves) != want || len(got.turns) > 0 || len(got.summary.Course.Turns) > 0 || want == 1 && moves[0].After.Changed[0] != 4 {
				t.Errorf("seed %d, %v: %d changes of %d traces, want %d at hop 4; turns %+v: %+v", seed+1, w.of, len(moves), got.traces, want, got.turns, moves)
			}
			if r := got.summary.Route; r != nil && len(r.Hops) > 1 {
				taken[strings.Join(r.At(2).Addresses, " ")]++
			}
		}
	}
	t.Logf("%d series, by way: %v", series, taken)
	if len(taken) != 4 { // the two ways, over each IP
		t.Errorf("hop 2 was one of %v; want two ways over each IP", taken)
	}
}

// watching is a watch that runs.
type watching struct {
	of      []string // its target, and its flags
	process *lab.Process
	traced  atomic.Int64 // traces since it was last set to 0
	printed bytes.Buffer // not to be read before drained is closed
	drained chan struct{}
}

// watchFromBob starts a watch, which ends with the test.
func watchFromBob(t *testing.T, l *lab.Lab, of ...string) *watching {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	w := &watching{of: of, drained: make(chan struct{})}
	argv := append([]string{lab.Self(), "trace", "--watch", "--every", "300ms", "--json"}, of...)
	w.process, err = l.Start(t.Context(), "bob", lab.Command{Argv: argv, Env: append(os.Environ(), actAsPathwise+"=1"), Stdout: write, Stderr: os.Stderr})
	write.Close()
	if err != nil {
		read.Close()
		t.Fatal(err)
	}
	go func() {
		defer close(w.drained)
		defer read.Close()
		for lines := bufio.NewReader(read); ; {
			line, err := lines.ReadBytes('\n')
			w.printed.Write(line)
			if err != nil {
				return
			}
			var e struct{ Event string }
			if json.Unmarshal(line, &e) == nil && e.Event == "trace" {
				w.traced.Add(1)
			}
		}
	}()
	return w
}

// untilTraced waits until each watch has so many traces.
func untilTraced(t *testing.T, watches []*watching, least int64) {
	t.Helper()
	const patience = time.Minute // 24 watches take 2 s for 7 traces each, on a machine that does nothing else
	for end := time.Now().Add(patience); ; time.Sleep(20 * ms) {
		slow := slices.IndexFunc(watches, func(w *watching) bool { return w.traced.Load() < least })
		switch {
		case slow < 0:
			return
		case time.Now().After(end):
			t.Fatalf("%v: %d traces in %v, want %d", watches[slow].of, watches[slow].traced.Load(), patience, least)
		}
	}
}

// end interrupts a watch (SIGINT), waits until it has ended, and returns the events that it printed.
func (w *watching) end(t *testing.T) watched {
	t.Helper()
	if err := w.process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	<-w.drained
	if status, err := w.process.Wait(); err != nil || status != exitDone {
		t.Errorf("%v: status %d, %v: %s", w.of, status, err, w.printed.Bytes())
	}
	return readWatched(t, w.printed.Bytes())
}
