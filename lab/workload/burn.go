package workload

import (
	"context"
	"crypto/sha256"
	"flag"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/input"
)

// Burnt is what a burn used.
type Burnt struct {
	Role    string  `json:"role"`
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu_seconds"`
}

func runBurn(ctx context.Context, f *flag.FlagSet, args []string) (any, error) {
	duration := spanFlag(f, "t", 3*time.Second, "how long")
	threads := f.Int("threads", 1, "how many processors to keep busy")
	if _, err := parse(f, args); err != nil {
		return nil, err
	}
	if *threads < 1 || *threads > 1024 {
		return nil, input.Errorf("burn: threads: want 1 to 1024")
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(*duration))
	defer cancel()
	began, cpu := time.Now(), processorTime()
	var all sync.WaitGroup
	for range *threads {
		all.Go(func() {
			var block [4096]byte
			for ctx.Err() == nil {
				sum := sha256.Sum256(block[:])
				copy(block[:], sum[:])
			}
		})
	}
	all.Wait()
	return Burnt{Role: "burn", Seconds: time.Since(began).Seconds(), CPU: (processorTime() - cpu).Seconds()}, nil
}
