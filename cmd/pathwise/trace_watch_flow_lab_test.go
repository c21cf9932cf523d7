package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
)

// balancedLab has four hosts behind a router that balances flows, and a route to two of them that is moved behind it.
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
timeline:
  - {at: 2200ms, route: {at: join, to: h1, via: new}}
  - {at: 2200ms, route: {at: join, to: h2, via: new}}
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
	if os.Getenv("PATHWISE_SWEEPS") == "all" {
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
		var all sync.WaitGroup
		var mu sync.Mutex
		for _, to := range []string{"h1", "h2", "h3", "h4"} {
			for _, how := range []string{"udp -4", "udp -6", "icmp -4", "icmp -6", "tcp -4", "tcp -6"} {
				all.Go(func() {
					var out bytes.Buffer
					protocol, family, _ := strings.Cut(how, " ")
					onHost(t, l, "bob", &out, lab.Self(), "trace", to, family, "--proto", protocol, "--watch", "--every", "300ms", "--for", "4s", "--json")
					got := readWatched(t, out.Bytes())
					mu.Lock()
					defer mu.Unlock()
					series++
					moves, want := got.summary.Course.Moves, 0
					if to == "h1" || to == "h2" {
						want = 1
					}
					if len(moves) != want || len(got.turns) > 0 || len(got.summary.Course.Turns) > 0 || want == 1 && moves[0].After.Changed[0] != 4 || got.traces < 8 {
						t.Errorf("seed %d, %s by %s: %d changes of %d traces, want %d at hop 4; turns %+v: %+v", seed+1, to, how, len(moves), got.traces, want, got.turns, moves)
					}
					if r := got.summary.Route; r != nil && len(r.Hops) > 1 {
						taken[strings.Join(r.At(2).Addresses, " ")]++
					}
				})
			}
		}
		all.Wait()
	}
	t.Logf("%d series, by way: %v", series, taken)
	if len(taken) != 4 { // the two ways, over each IP
		t.Errorf("hop 2 was one of %v; want two ways over each IP", taken)
	}
}
