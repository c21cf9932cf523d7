package workload

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/pathwise-net/pathwise/input"
)

// sink is a program that receives.
type sink struct {
	*options
	rate  *rateValue
	read  *sizeValue
	pause *spanValue
	port  int
	count int
}

func runSink(ctx context.Context, f *flag.FlagSet, args []string) (any, error) {
	s := sink{options: optionFlags(f)}
	f.IntVar(&s.port, "port", 5001, "port to listen on")
	s.rate = rateFlag(f, "rate", "read no faster")
	s.read = sizeFlag(f, "read", 64<<10, "bytes of each read")
	s.pause = spanFlag(f, "pause", 0, "read nothing for so long, then as fast as can be")
	f.IntVar(&s.count, "connections", 1, "how many sources to serve, one after the other")
	if _, err := parse(f, args); err != nil {
		return nil, err
	}
	if *s.read < 1 || *s.read > 1<<20 {
		return nil, input.Errorf("sink: read: %d: want 1 to 1048576 bytes", *s.read)
	}
	l, err := s.listen(ctx, s.port)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	t := &Transfer{Role: "sink"}
	var began time.Time
	cpu := processorTime()
	for ; t.Connections < s.count; t.Connections++ {
		c, err := s.accept(ctx, l)
		if err != nil {
			return t, unlessEnded(ctx, err)
		}
		if began.IsZero() {
			began = time.Now()
		}
		err = s.receive(ctx, c, t)
		c.Close()
		if err != nil && ctx.Err() == nil {
			t.Error = err.Error()
		}
		t.finish(began, cpu)
	}
	return t, nil
}

// unlessEnded drops an error that ctx's end explains.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (s *sink) receive(ctx context.Context, c net.Conn, t *Transfer) error {
	t.WaitSeconds += sleep(ctx, time.Duration(*s.pause)).Seconds()
	pace := newPace(*s.rate)
	block := make([]byte, *s.read)
	for {
		n, err := c.Read(block[:pace.step(len(block))])
		t.Bytes += int64(n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		t.WaitSeconds += pace.pass(ctx, n).Seconds()
	}
}
