package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/pathwise-net/pathwise/lab"
)

// rateCase is a link rate that TCP is held against: modem, T1, Ethernet, T3, Fast Ethernet, OC-3, OC-12, Gigabit Ethernet.
type rateCase struct {
	rate          float64 // bit/s
	skip, seconds int
}

// A slow link needs long until it is steady.
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
		s, err := b.runSlow(ctx)
		slow <- outcome{s, err}
	}()
	fmt.Fprintf(b.out, "rate: steady goodput of one cubic stream, %v each way, default queue; allowed is %.0f/%.0f of the rate; Mbit/s\n",
		rateDelay, ethernetTCP.Payload(), ethernetTCP.Wire())
	fmt.Fprintf(b.out, "%9s  %13s  %11s%11s%10s  %11s%10s  %s\n", "rate", "seconds", "allowed", "goodput", "ratio", "by truth", "ratio",
		"the emulator")
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

func rateSpec(c rateCase) *lab.Spec {
	rate, delay := lab.Rate(c.rate), lab.Delay(rateDelay)
	return &lab.Spec{Seed: 1, Hosts: map[string]lab.Host{"client": {}, "server": {}},
		Links: []lab.Link{{Between: []string{"client", "server"}, Shape: lab.Shape{Rate: &rate, Delay: &delay}}}}
}

func (b *bench) runRate(ctx context.Context, c rateCase) (steady, error) {
	return b.runSteady(ctx, rateSpec(c), "cubic", c.skip, c.seconds)
}

// runSlow sends without a test's talk beside it: what both ends of one tell each other takes minutes of a modem link. The
// lab's truth alone says what came.
func (b *bench) runSlow(ctx context.Context) (steady, error) {
	l, err := lab.Start(ctx, rateSpec(slowCase), lab.Options{})
	if err != nil {
		return steady{}, err
	}
	defer l.Close()
	sink, err := start(ctx, l, "server", "listening on", b.pathwise, "lab", "act", "sink", "-connections", "1")
	if err != nil {
		return steady{}, err
	}
	_, sendErr := output(ctx, l, "client", b.pathwise, "lab", "act", "source", "server:5001", "-cc", "cubic",
		"-t", fmt.Sprintf("%ds", slowCase.skip+slowCase.seconds), "-patience", "1s")
	if err := ctx.Err(); err != nil {
		return steady{}, err
	}
	_ = sink.process.Kill() // what is left in the sender's buffer would take minutes
	_, _ = sink.wait()
	whole, err := l.Truth()
	if err != nil {
		return steady{}, err
	}
	begun := largestFlow(whole).FirstSentSeconds
	truth, err := l.TruthOf(lab.Window{From: begun + float64(slowCase.skip), To: begun + float64(slowCase.skip+slowCase.seconds)})
	if err != nil {
		return steady{}, err
	}
	flow := largestFlow(truth)
	if flow.Packets == 0 {
		return steady{}, fmt.Errorf("nothing was sent: %w", sendErr)
	}
	return steady{goodput: math.NaN(), flow: flow, emulator: whole.Emulator}, nil
}

// printRate prints goodput as the receiver's kernel has it, and the same of the packets that the lab delivered: of each
// full one, the share that is payload.
func (b *bench) printRate(c rateCase, s steady) {
	allowed := c.rate * ethernetTCP.PayloadShare()
	byTruth := s.flow.RateBitsPerSecond * ethernetTCP.Payload() / ethernetTCP.MTU
	byKernel, ratio := fmt.Sprintf("%.4f", s.goodput/1e6), fmt.Sprintf("%.4f", s.goodput/allowed)
	if math.IsNaN(s.goodput) {
		byKernel, ratio = "-", "-"
	}
	fmt.Fprintf(b.out, "%9v  %4d to %5d  %11.4f%11s%10s  %11.4f%10.4f  %s\n",
		lab.Rate(c.rate), c.skip, c.skip+c.seconds, allowed/1e6, byKernel, ratio, byTruth/1e6, byTruth/allowed, s.keptUp())
}
