package main

import (
	"context"
	"fmt"
	"time"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/chance"
)

// How TCP is tried with segments kept whole. The buffers hold many times the 25 MB that 10 Gbit/s need.
const (
	offloadDelay  = 10 * time.Millisecond // each way
	offloadBuffer = "4096 1048576 268435456"
	offloadStart  = 3 // seconds
	offloadTime   = 10
)

// emulatorTCP prints how fast one stream goes through the emulator with segments kept whole. Under loss cubic is slow by
// its own law; bbr goes on.
func (b *bench) emulatorTCP(ctx context.Context) error {
	fmt.Fprintf(b.out, "TCP with offload: true, %v each way, one stream, %d s after %d s of start; Gbit/s\n",
		offloadDelay, offloadTime, offloadStart)
	fmt.Fprintf(b.out, "%-6s %9s %9s %10s  %s\n", "", "loss", "goodput", "lost", "the emulator")
	for _, loss := range []float64{0, bulkLoss} {
		for _, cc := range []string{"cubic", "bbr"} {
			s, err := b.runOffload(ctx, cc, loss)
			if err != nil {
				return fmt.Errorf("%s, loss %g: %w", cc, loss, err)
			}
			fmt.Fprintf(b.out, "%-6s %7g %% %9.2f %8.3f %%  %s\n", cc, 100*loss, s.goodput/1e9, 100*s.flow.LossRatio, s.keptUp())
		}
	}
	return nil
}

func (b *bench) runOffload(ctx context.Context, cc string, loss float64) (steady, error) {
	delay := lab.Delay(offloadDelay)
	host := lab.Host{Sysctl: map[string]string{"net.ipv4.tcp_rmem": offloadBuffer, "net.ipv4.tcp_wmem": offloadBuffer}}
	spec := &lab.Spec{Seed: 1, Offload: true, Hosts: map[string]lab.Host{"client": host, "server": host},
		Links: []lab.Link{{Between: []string{"client", "server"}, Shape: lab.Shape{Delay: &delay}}}}
	if loss > 0 {
		spec.Links[0].Forward = &lab.Shape{Loss: chance.Independent(loss)}
	}
	return b.runSteady(ctx, spec, cc, offloadStart, offloadTime)
}
