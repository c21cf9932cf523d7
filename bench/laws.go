package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/queue"
	"github.com/pathwise-net/pathwise/model"
)

// law is a clean link, and the receiver's buffers if they are to be what limits.
type law struct {
	rate   float64 // bit/s
	rtt    time.Duration
	buffer string // tcp_rmem
}

var laws = []law{
	{10e6, 100 * time.Millisecond, lawBuffer},
	{30e6, 60 * time.Millisecond, lawBuffer},
	{100e6, 20 * time.Millisecond, lawBuffer},
	{300e6, 10 * time.Millisecond, lawBuffer},
	{100e6, 80 * time.Millisecond, "4096 262144 524288"},
}

// lawBuffer never limits: 300 Mbit/s for a second.
const lawBuffer = "4096 131072 33554432"

const lawStart, lawTime = 3, 7 // seconds

// laws prints how close TCP's goodput over clean links comes to what the model gives: the payload's share of the rate, or a
// window each round trip.
func (b *bench) laws(ctx context.Context) error {
	fmt.Fprintf(b.out, "laws: steady goodput of one stream over clean links, %d s after %d s of start, "+
		"queue of one bandwidth-delay product; Mbit/s\n",
		lawTime, lawStart)
	fmt.Fprintf(b.out, "%9s%12s%8s  %-6s %9s %-7s %9s %7s  %s\n", "rate", "round trip", "queue", "", "model", "", "goodput", "ratio",
		"the emulator")
	for _, w := range laws {
		for _, cc := range []string{"cubic", "reno", "bbr"} {
			s, err := b.runSteady(ctx, w.spec(), cc, lawStart, lawTime)
			if err != nil {
				return fmt.Errorf("%v, %v, %s: %w", lab.Rate(w.rate), w.rtt, cc, err)
			}
			predicted, by := w.predict(s.window)
			fmt.Fprintf(b.out, "%9v%12v%7dp  %-6s %9.3f %-7s %9.3f %7.4f  %s\n",
				lab.Rate(w.rate), w.rtt, w.queue(), cc, predicted/1e6, by, s.goodput/1e6, s.goodput/predicted, s.keptUp())
		}
	}
	return nil
}

func (w law) spec() *lab.Spec {
	rate, delay := lab.Rate(w.rate), lab.Delay(w.rtt/2)
	limit := &queue.Config{Discipline: queue.Discipline{Limit: queue.Amount{Packets: w.queue()}}}
	host := lab.Host{Sysctl: map[string]string{"net.ipv4.tcp_rmem": w.buffer, "net.ipv4.tcp_wmem": lawBuffer}}
	return &lab.Spec{Seed: 1, Hosts: map[string]lab.Host{"client": host, "server": host},
		Links: []lab.Link{{Between: []string{"client", "server"}, Shape: lab.Shape{Rate: &rate, Delay: &delay, Queue: limit}}}}
}

// queue is one bandwidth-delay product in packets, and what a lab's queue holds at least by default.
func (w law) queue() int {
	return max(64, int(math.Ceil(model.BandwidthDelay(w.rate, w.rtt)/ethernetTCP.Wire())))
}

// predict returns what the model gives for the window that the receiver offered, and which of its laws binds.
func (w law) predict(window float64) (bitsPerSecond float64, by string) {
	full, limit := w.rate*ethernetTCP.PayloadShare(), model.WindowLimit(window, w.rtt)
	if limit < full {
		return limit, "window"
	}
	return full, "rate"
}
