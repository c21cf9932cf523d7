package workload

import (
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"time"

	"github.com/pathwise-net/pathwise/input"
)

// relay is a proxy that cannot tell where an answer ends: it hands the answer on once nothing more of it came for a time.
type relay struct {
	*options
	port int
	to   string
	hold *spanValue
}

func runRelay(ctx context.Context, f *flag.FlagSet, args []string) (any, error) {
	r := relay{options: optionFlags(f)}
	f.IntVar(&r.port, "port", 5003, "port to listen on")
	f.StringVar(&r.to, "to", "", "HOST:PORT that answers")
	r.hold = spanFlag(f, "hold", 0, "keep an answer until nothing more came for so long")
	if _, err := parse(f, args); err != nil {
		return nil, err
	}
	if r.to == "" {
		return nil, input.Errorf("relay: to: missing; want HOST:PORT that answers")
	}
	l, err := r.listen(ctx, r.port)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	report := &Transfer{Role: "relay"}
	for {
		c, err := r.accept(ctx, l)
		if ctx.Err() != nil {
			return report, nil
		}
		if err != nil {
			return report, err
		}
		report.Connections++
		go r.serve(ctx, c)
	}
}

func (r *relay) serve(ctx context.Context, near *net.TCPConn) {
	defer near.Close()
	far, _, err := r.dial(ctx, r.to)
	if err != nil {
		return
	}
	defer far.Close()
	go func() {
		_, _ = io.Copy(far, near) // its end is the client's
		_ = far.CloseWrite()
	}()
	var kept []byte
	block := make([]byte, 64<<10)
	for {
		var wait time.Time
		if len(kept) > 0 {
			wait = time.Now().Add(time.Duration(*r.hold))
		}
		_ = far.SetReadDeadline(wait)
		n, err := far.Read(block)
		kept = append(kept, block[:n]...)
		var late net.Error
		held := errors.As(err, &late) && late.Timeout()
		if held || err != nil || *r.hold == 0 {
			if _, writeErr := near.Write(kept); writeErr != nil {
				return
			}
			kept = kept[:0]
		}
		if err != nil && !held {
			return
		}
	}
}
