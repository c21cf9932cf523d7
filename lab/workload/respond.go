package workload

import (
	"context"
	"flag"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// Responded is what a responder served.
type Responded struct {
	Role  string `json:"role"`
	Tests int    `json:"tests"`
}

// strayClock is a wall clock that is off: all hosts of a lab share their machine's, which nobody may set.
type strayClock struct {
	ahead, step, every time.Duration
	kept               time.Duration // its kernel's bound of its error; 0: nothing keeps it
	began              time.Time
}

// now is what it shows.
func (c *strayClock) now() time.Time {
	off := c.ahead
	if c.every > 0 {
		off += c.step * (time.Since(c.began) / c.every)
	}
	return time.Now().Add(off)
}

func runRespond(ctx context.Context, f *flag.FlagSet, args []string) (any, error) {
	c := strayClock{began: time.Now()}
	port := f.Int("port", iperf3.DefaultPort, "port to listen on")
	f.DurationVar(&c.ahead, "ahead", 0, "how far the clock is ahead")
	f.DurationVar(&c.step, "step", 0, "how far it is set forward, again and again")
	f.DurationVar(&c.every, "every", 0, "how often; 0: never")
	f.DurationVar(&c.kept, "kept", 0, "the most that its kernel says it is off; 0: it is not kept")
	if _, err := parse(f, args); err != nil {
		return nil, err
	}
	l, err := iperf3.Listen(ctx, net.JoinHostPort("", strconv.Itoa(*port)))
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	listening(l.Addr())
	report := &Responded{Role: "respond"}
	server := iperf3.Server{Now: c.now, Clock: func() (time.Duration, bool) { return c.kept, c.kept > 0 },
		Policy: iperf3.Policy{MaxTests: 1}, OnTest: func(iperf3.Tested) { report.Tests++ }}
	if err := server.Serve(ctx, l); err != nil {
		return nil, fmt.Errorf("respond: %w", err)
	}
	return report, nil
}
