package main

import (
	"context"
	"fmt"
	"time"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/chance"
	"github.com/pathwise-net/pathwise/lab/record"
)

// What the emulator itself is tried with: full packets, one way, over a long link that loses some by chance.
var bulkStream = stream{rate: 125_000, bytes: 1500, seconds: 10}

const (
	bulkDelay = 100 * time.Millisecond
	bulkLoss  = 0.001
)

// bulkAt is the stream at another rate, shorter: there are many of them.
func bulkAt(rate int) stream { return stream{rate, bulkStream.bytes, 2} }

// emulator prints what the emulator carries: packets one by one, up to the rate at which it drops some itself, and TCP with
// whole segments kept.
func (b *bench) emulator(ctx context.Context) error {
	kinds := b.kinds("emulator")
	fmt.Fprintf(b.out, "emulator: UDP one way, %d packets/s of %d bytes for %d s, %v, %g %% lost by chance; late in µs\n",
		bulkStream.rate, bulkStream.bytes, bulkStream.seconds, bulkDelay, 100*bulkLoss)
	fmt.Fprintf(b.out, "%-4s  %9s%10s%9s%9s%9s%10s%9s%9s%9s\n", "over", "sent", "counted", "chance", "not read", "refused", "received",
		"median", "p99", "Gbit/s")
	for _, kind := range kinds {
		r, err := runBulk(ctx, kind, bulkStream)
		if err != nil {
			return fmt.Errorf("over %s: %w", kind, err)
		}
		fmt.Fprintf(b.out, "%-4s  %9d%10d%9d%9d%9d%10d%9.0f%9.0f%9.2f\n", kind, r.Sent, r.counted, r.chance, r.overflowed, r.refused,
			r.received, 1e6*r.late.Median, 1e6*r.late.P99, bulkStream.bitsPerSecond(r.rate())/1e9)
	}
	for _, kind := range kinds {
		best, why, err := climb(bulkStream.rate, func(rate int) (attempt, error) {
			r, err := runBulk(ctx, kind, bulkAt(rate))
			return attempt{clean: r.clean(), reached: r.rate()}, err
		})
		if err != nil {
			return fmt.Errorf("over %s: %w", kind, err)
		}
		b.seen.best[kind] = best
		fmt.Fprintf(b.out, "over %s at most %s without a drop of its own, in steps of 10 %%%s\n", kind, describeRate(best), why)
	}
	return b.emulatorTCP(ctx)
}

// bulkRun is what everyone involved counted.
type bulkRun struct {
	blasted
	counted, chance     uint64 // by the link: came, lost as asked
	overflowed, refused uint64 // by the emulator: not read in time, not taken by the host
	received            int
	late                record.LateTruth
}

// clean says that every packet sent came, or was lost by chance.
func (r bulkRun) clean() bool { return r.received+int(r.chance) == r.Sent }

func runBulk(ctx context.Context, kind lab.DeviceKind, s stream) (bulkRun, error) {
	delay := lab.Delay(bulkDelay)
	spec := &lab.Spec{Seed: 1, Hosts: map[string]lab.Host{"a": {}, "b": {}},
		Links: []lab.Link{{Between: []string{"a", "b"}, Forward: &lab.Shape{Delay: &delay, Loss: chance.Independent(bulkLoss)}}}}
	l, err := lab.Start(ctx, spec, lab.Options{Device: kind})
	if err != nil {
		return bulkRun{}, err
	}
	defer l.Close()
	sent, printed, err := s.run(ctx, l, "a", "b", firstAddresses[1])
	if err != nil {
		return bulkRun{}, err
	}
	received, err := readCount(printed)
	if err != nil {
		return bulkRun{}, err
	}
	truth, err := l.Truth()
	if err != nil {
		return bulkRun{}, err
	}
	there := truth.Links[0]
	return bulkRun{blasted: sent, counted: there.Packets, chance: there.Dropped["loss"], overflowed: truth.Emulator.Overflowed,
		refused: truth.Emulator.Refused, received: received, late: largestFlow(truth).LateSeconds}, nil
}

// largestFlow is the one that moved the most bytes: the test itself, beside what controls it.
func largestFlow(t *lab.Truth) (largest record.FlowTruth) {
	for _, f := range t.Flows {
		if f.Bytes > largest.Bytes {
			largest = f
		}
	}
	return largest
}
