package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/pathwise-net/pathwise/lab"
)

// relay prints what a plain delay-only relay over two TUN devices reaches on this machine, the starting point of the lab's
// emulator, and beside it what that reached in the parts late and emulator of the same run.
func (b *bench) relay(ctx context.Context) error {
	if f, err := os.OpenFile("/dev/net/tun", os.O_RDWR, 0); err != nil {
		return fmt.Errorf("skipped: it needs TUN devices: %w", err)
	} else {
		f.Close()
	}
	// One host, since that is a place where anyone may make devices; the lab carries nothing.
	l, err := lab.Start(ctx, &lab.Spec{Hosts: map[string]lab.Host{"relay": {}}}, lab.Options{})
	if err != nil {
		return err
	}
	defer l.Close()
	fmt.Fprintln(b.out, "relay: a plain relay over two TUN devices that only delays: Go's own reads, channels and sleeps")
	probe, err := runRelayed(ctx, l, comparedDelay, probeStream)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "%v, %d packets/s of %d bytes: %d of %d came; late by %.1f µs at the median, %.1f at the 99th percentile\n",
		comparedDelay, probeStream.rate, probeStream.bytes, probe.Received, probe.Sent, probe.Median, probe.P99)
	best, why, err := climb(bulkStream.rate, func(rate int) (attempt, error) {
		r, err := runRelayed(ctx, l, bulkDelay, bulkAt(rate))
		return attempt{clean: r.Received == r.Sent, reached: r.rate()}, err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "%v, %d bytes: at most %s without a drop%s\n", bulkDelay, bulkStream.bytes, describeRate(best), why)
	b.printRelayRatios(probe, best)
	return nil
}

// printRelayRatios holds the lab against the relay.
func (b *bench) printRelayRatios(probe relayed, best int) {
	if len(b.seen.late) == 0 && len(b.seen.best) == 0 {
		fmt.Fprintln(b.out, "Beside it, in one run: -only late,emulator,relay")
		return
	}
	for _, kind := range []lab.DeviceKind{lab.DeviceVeth, lab.DeviceTUN} {
		if l, ok := b.seen.late[kind]; ok && l.N > 0 {
			fmt.Fprintf(b.out, "lateness, lab over %s / relay: median %.3f, 99th percentile %.3f\n", kind, l.Median/probe.Median, l.P99/probe.P99)
		}
		if packets, ok := b.seen.best[kind]; ok && best > 0 {
			fmt.Fprintf(b.out, "packets/s without a drop, lab over %s / relay: %.2f\n", kind, float64(packets)/float64(best))
		}
	}
}

func runRelayed(ctx context.Context, l *lab.Lab, delay time.Duration, s stream) (relayed, error) {
	self, err := os.Executable()
	if err != nil {
		return relayed{}, fmt.Errorf("find this program: %w", err)
	}
	printed, err := output(ctx, l, "relay", self, relayFlag, delay.String(), strconv.Itoa(s.rate), strconv.Itoa(s.bytes),
		strconv.Itoa(s.seconds))
	if err != nil {
		return relayed{}, err
	}
	var r relayed
	if err := json.Unmarshal([]byte(printed), &r); err != nil {
		return relayed{}, fmt.Errorf("read what the relay printed: %w", err)
	}
	return r, nil
}
