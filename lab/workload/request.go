package workload

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/stat"
)

// request is a program that asks and waits for the answer.
type request struct {
	*options
	count, writes, pipeline int
	clients                 int
	size, answer            *sizeValue
	every                   *spanValue
	timeout                 *spanValue
	reconnect               bool
}

func runRequest(ctx context.Context, f *flag.FlagSet, args []string) (any, error) {
	r := request{options: optionFlags(f)}
	f.IntVar(&r.count, "c", 20, "how many transactions")
	f.IntVar(&r.writes, "writes", 1, "writes that make a request")
	f.IntVar(&r.clients, "clients", 1, "how many do so at once, each with a connection of its own")
	f.IntVar(&r.pipeline, "pipeline", 1, "requests that may be under way at once")
	r.size = sizeFlag(f, "size", 100, "bytes of a request")
	r.answer = sizeFlag(f, "answer", 100, "bytes of an answer")
	r.every = spanFlag(f, "every", 0, "pause before each transaction but the first")
	r.timeout = spanFlag(f, "timeout", 10*time.Second, "longest wait for an answer, or for a connection")
	f.BoolVar(&r.reconnect, "reconnect", false, "a connection for each transaction")
	plain, err := parse(f, args, "HOST:PORT")
	if err != nil {
		return nil, err
	}
	if *r.size < headerBytes || *r.size > largestMessage || *r.answer < 1 || *r.answer > largestMessage {
		return nil, input.Errorf("request: sizes %d and %d: want %d and 1 to %d bytes",
			*r.size, *r.answer, headerBytes, largestMessage)
	}
	if r.count < 1 || r.writes < 1 || r.writes > int(*r.size) || r.pipeline < 1 || r.clients < 1 || r.clients > 1000 {
		return nil, input.Errorf("request: c, writes, pipeline, clients: want 1 or more, and no more writes than bytes")
	}
	return r.all(ctx, plain[0])
}

// all lets every client make its transactions, and sums them up. The error is why no client got a connection.
func (r *request) all(ctx context.Context, address string) (any, error) {
	report := &Transactions{Role: "request"}
	began := time.Now()
	done := make(chan outcome)
	for range r.clients {
		go func() { done <- r.client(ctx, address) }()
	}
	var times []float64
	var err error
	connections := 0
	for range r.clients {
		one := <-done
		connections += one.connections
		times = append(times, one.times...)
		report.ConnectSeconds = max(report.ConnectSeconds, one.connecting.Seconds())
		if one.err != nil && ctx.Err() == nil {
			err, report.Error = one.err, one.err.Error()
		}
	}
	if connections == 0 && err != nil {
		return nil, err
	}
	report.sum(began, times)
	return report, nil
}

// outcome is what one client saw. An error ended it.
type outcome struct {
	times       []float64 // seconds that each of its transactions took
	connections int
	connecting  time.Duration // the longest
	err         error
}

func (r *request) client(ctx context.Context, address string) (o outcome) {
	var c *net.TCPConn
	defer func() {
		if c != nil {
			c.Close()
		}
	}()
	for len(o.times) < r.count && ctx.Err() == nil {
		if len(o.times) > 0 {
			sleep(ctx, time.Duration(*r.every))
		}
		if c == nil || r.reconnect {
			if c != nil {
				c.Close()
			}
			if c, o.err = r.connect(ctx, address, &o.connecting); o.err != nil {
				return o
			}
			o.connections++
		}
		var batch []float64
		batch, o.err = r.batch(c, min(r.pipeline, r.count-len(o.times)))
		o.times = append(o.times, batch...)
		if o.err != nil {
			return o
		}
	}
	return o
}

// connect opens a connection, which closes when ctx ends.
func (r *request) connect(ctx context.Context, address string, longest *time.Duration) (*net.TCPConn, error) {
	limited, cancel := context.WithTimeout(ctx, time.Duration(*r.timeout))
	defer cancel()
	c, took, err := r.dial(limited, address)
	*longest = max(*longest, took)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { c.Close() })
	return c, nil
}

// batch sends so many requests and then reads the answers. The times count from the first write of each request.
func (r *request) batch(c *net.TCPConn, n int) ([]float64, error) {
	_ = c.SetDeadline(time.Now().Add(time.Duration(*r.timeout)))
	message := make([]byte, *r.size)
	binary.BigEndian.PutUint32(message, uint32(*r.size))
	binary.BigEndian.PutUint32(message[4:], uint32(*r.answer))
	var sent []time.Time
	for range n {
		sent = append(sent, time.Now())
		for i := range r.writes {
			from, to := len(message)*i/r.writes, len(message)*(i+1)/r.writes
			if _, err := c.Write(message[from:to]); err != nil {
				return nil, fmt.Errorf("send request: %w", err)
			}
		}
	}
	var times []float64
	answer := make([]byte, *r.answer)
	for i := range n {
		if _, err := io.ReadFull(c, answer); err != nil {
			return times, fmt.Errorf("receive answer: %w", err)
		}
		times = append(times, time.Since(sent[i]).Seconds())
	}
	return times, nil
}

// A transaction on the wire: a request, which says how long it is and how long the answer shall be, and the answer.
//
//	 0               4               8                        request
//	+---------------+---------------+------ - - - -----+
//	| request bytes | answer bytes  | zeroes           |     integers in network byte order
//	+---------------+---------------+------ - - - -----+
const headerBytes = 8

// largestMessage bounds what a stranger's header can make a reply keep.
const largestMessage = 1 << 24

// Transactions is what a request saw, or what a reply served.
type Transactions struct {
	Role           string  `json:"role"`
	Transactions   int     `json:"transactions"`
	Seconds        float64 `json:"seconds"`         // all of them, connecting included
	ConnectSeconds float64 `json:"connect_seconds"` // the longest
	Min            float64 `json:"transaction_min_seconds"`
	Median         float64 `json:"transaction_median_seconds"`
	P95            float64 `json:"transaction_p95_seconds"`
	Max            float64 `json:"transaction_max_seconds"`
	Error          string  `json:"error,omitempty"`
}

// sum fills in how long the transactions took.
func (t *Transactions) sum(began time.Time, times []float64) {
	t.Transactions, t.Seconds = len(times), time.Since(began).Seconds()
	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	t.Min, t.Median, t.P95, t.Max = times[0], stat.Median(times), stat.Quantile(times, 0.95), times[len(times)-1]
}
