package main

import (
	"context"
	"fmt"
	"time"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/queue"
)

// rateCase is a link rate that TCP is held against: modem, T1, Ethernet, T3, Fast Ethernet, OC-3, OC-12, Gigabit Ethernet.
type rateCase struct {
	rate          float64 // bit/s
	skip, seconds int
}

// A slow link needs long until it is steady. By default its queue would hold 64 packets, 14 s, in which either end of a test
// would take the other for lost; a modem's held a few.
const slowQueue = 8 // packets

var slowCase = rateCase{56e3, 60, 60}

var rateCases = []rateCase{{1.544e6, 4, 10}, {10e6, 3, 10}, {45e6, 3, 10}, {100e6, 3, 10}, {155e6, 3, 10}, {622e6, 3, 10}, {1e9, 3, 10}}

const rateDelay = 10 * time.Millisecond // each way

// rate prints how close the steady goodput of a real TCP comes to what a link's rate and Ethernet's overhead allow.
func (b *bench) rate(ctx context.Context) error {
	type outcome struct {
		s   steady
		err error
	}
	slow := make(chan outcome, 1)
	go func() { // five packets a second disturb nobody
		s, err := b.runRate(ctx, slowCase)
		slow <- outcome{s, err}
	}()
	fmt.Fprintf(b.out, "rate: steady goodput of one cubic stream, %v each way, default queue (56kbit: %d packets); allowed is %.0f/%.0f of the rate; Mbit/s\n",
		rateDelay, slowQueue, ethernetTCP.Payload(), ethernetTCP.Wire())
	fmt.Fprintf(b.out, "%9s  %13s  %11s%11s%10s  %11s%10s  %s\n", "rate", "seconds", "allowed", "goodput", "ratio", "by truth", "ratio", "the emulator")
	for _, c := range rateCases {
		s, err := b.runRate(ctx, c)
		if err != nil {
			return fmt.Errorf("%v: %w", lab.Rate(c.rate), err)
		}
		b.printRate(c, s)
	}
	o := <-slow
	if o.err != nil {
		return fmt.Errorf("%v: %w", lab.Rate(slowCase.rate), o.err)
	}
	b.printRate(slowCase, o.s)
	return nil
}

func (b *bench) runRate(ctx context.Context, c rateCase) (steady, error) {
	rate, delay := lab.Rate(c.rate), lab.Delay(rateDelay)
	spec := &lab.Spec{Seed: 1, Hosts: map[string]lab.Host{"client": {}, "server": {}},
		Links: []lab.Link{{Between: []string{"client", "server"}, Shape: lab.Shape{Rate: &rate, Delay: &delay}}}}
	if c == slowCase {
		spec.Links[0].Shape.Queue = &queue.Config{Discipline: queue.Discipline{Limit: queue.Amount{Packets: slowQueue}}}
	}
	return b.runSteady(ctx, spec, "cubic", c.skip, c.seconds)
}

// printRate prints goodput as the receiver's kernel has it, and the same of the packets that the lab delivered: of each
// full one, the share that is payload.
func (b *bench) printRate(c rateCase, s steady) {
	allowed := c.rate * ethernetTCP.PayloadShare()
	byTruth := s.flow.RateBitsPerSecond * ethernetTCP.Payload() / ethernetTCP.MTU
	fmt.Fprintf(b.out, "%9v  %4d to %5d  %11.4f%11.4f%10.4f  %11.4f%10.4f  %s\n", lab.Rate(c.rate), c.skip, c.skip+c.seconds, allowed/1e6,
		s.goodput/1e6, s.goodput/allowed, byTruth/1e6, byTruth/allowed, s.keptUp())
}
