package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// The test of network-application-performance at its 72 ms: what requests take by their writes, Nagle's algorithm, acknowledgements,
// padding and turns, and that the cause is named. The last segment of a single write leaves at once whatever its size: Linux keeps a short
// segment back only behind another short one.
func TestTransactAt72Milliseconds(t *testing.T) {
	t.Parallel()
	carrying(t)
	const (
		trip    = 0.072
		ack     = 0.04 // that Linux delays an acknowledgement by, at the least
		slack   = 0.01 // for the hosts, and for the timer of the delay
		alone   = "cause: round trips alone"
		nagle   = "cause: Nagle's algorithm held the second write for an acknowledgement: a round trip of 7"
		noDelay = "the writes left at once, without Nagle's algorithm"
	)
	carried(t, setting{rate: "100mbit", rtt: 72 * ms, seed: 1}, func(l *lab.Lab) error {
		for _, c := range []struct {
			args       string
			least, top float64 // of the usual transaction, in seconds
			cause      string
		}{
			{"--request 100", trip, trip + slack, alone},
			{"--request 101 --writes 2", 2 * trip, 2*trip + ack + slack, nagle},
			{"--request 101 --writes 2 --quickack no", 2*trip + ack - slack, 2*trip + ack + slack, nagle},
			{"--request 101 --writes 2 --quickack yes", 2 * trip, 2*trip + slack, "not delayed"},
			{"--request 101 --writes 2 --nodelay", trip, trip + slack, noDelay},
			{"--request 101 --writes 2 --pad", trip, trip + slack, "each write fills whole segments"},
			{"--request 2000", trip, trip + slack, alone},
			{"--request 2000 --pad", trip, trip + slack, alone},
			{"--request 4096 --response 20 --turns 100 -c 1 -W 20s", 100 * trip, 100*trip + 0.4, "cost of turns: 100 at a round trip of 72."},
			{"--request 409600 --response 20 -c 1", trip, 10 * trip, "slow start"},
		} {
			args := append([]string{"-c", "4", "-i", "10ms"}, strings.Fields(c.args)...)
			r := transactIn(t, l, args...)
			var text strings.Builder
			probe.WriteText(&text, r)
			usual := r.Metrics[measure.TransactionMedian]
			t.Logf("%s: %.1f ms", c.args, usual*1000)
			if usual < c.least || usual > c.top || !strings.Contains(text.String(), c.cause) {
				return fmt.Errorf("%s: %.1f ms, want %.1f to %.1f and %q in\n%s", c.args, usual*1000, c.least*1000, c.top*1000, c.cause, text.String())
			}
		}
		return nil
	})
}
