package workload

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/stat"
)

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
		return nil, &InputError{fmt.Sprintf("request: sizes %d and %d: want %d and 1 to %d bytes", *r.size, *r.answer, headerBytes, largestMessage)}
	}
	if r.count < 1 || r.writes < 1 || r.writes > int(*r.size) || r.pipeline < 1 || r.clients < 1 || r.clients > 1000 {
		return nil, &InputError{"request: c, writes, pipeline, clients: want 1 or more, and no more writes than bytes"}
	}
	return r.all(ctx, plain[0]), nil
}

// all lets every client make its transactions, and sums them up.
func (r *request) all(ctx context.Context, address string) *Transactions {
	report := &Transactions{Role: "request"}
	began := time.Now()
	done := make(chan outcome)
	for range r.clients {
		go func() { done <- r.client(ctx, address) }()
	}
	var times []float64
	for range r.clients {
		one := <-done
		times = append(times, one.times...)
		report.ConnectSeconds = max(report.ConnectSeconds, one.connected.Seconds())
		if one.err != nil && ctx.Err() == nil {
			report.Error = one.err.Error()
		}
	}
	report.sum(began, times)
	return report
}

// outcome is what one client saw: how long each of its transactions took, and the longest connecting. An error ended it.
type outcome struct {
	times     []float64
	connected time.Duration
	err       error
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
			if c, o.err = r.connect(ctx, address, &o.connected); o.err != nil {
				return o
			}
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

func (t *Transactions) sum(began time.Time, times []float64) {
	t.Transactions, t.Seconds = len(times), time.Since(began).Seconds()
	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	t.Min, t.Median, t.P95, t.Max = times[0], stat.Median(times), stat.Quantile(times, 0.95), times[len(times)-1]
}

type reply struct {
	*options
	port  int
	count int
	think *spanValue
	each  *spanValue
}

func runReply(ctx context.Context, f *flag.FlagSet, args []string) (any, error) {
	r := reply{options: optionFlags(f)}
	f.IntVar(&r.port, "port", 5002, "port to listen on")
	f.IntVar(&r.count, "connections", 0, "end after so many; 0: never")
	r.think = spanFlag(f, "think", 0, "time that each answer takes to make")
	r.each = spanFlag(f, "accept-every", 0, "take a connection no more often: a server that is busy")
	if _, err := parse(f, args); err != nil {
		return nil, err
	}
	l, err := r.listen(ctx, r.port)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	report := &Transactions{Role: "reply"}
	began := time.Now()
	served, open := make(chan int), 0
	for i := 0; r.count == 0 || i < r.count; i++ {
		c, err := r.accept(ctx, l)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return report, err
		}
		open++
		go func() { served <- r.serve(c) }()
		sleep(ctx, time.Duration(*r.each))
	}
	for ; open > 0; open-- {
		report.Transactions += <-served
	}
	report.Seconds = time.Since(began).Seconds()
	return report, nil
}

// serve answers until the far end has no more, and returns how many it answered.
func (r *reply) serve(c net.Conn) (answered int) {
	defer c.Close()
	header := make([]byte, headerBytes)
	for {
		if _, err := io.ReadFull(c, header); err != nil {
			return answered // the end, or a client that broke off: both are the client's to tell
		}
		size, answer := binary.BigEndian.Uint32(header), binary.BigEndian.Uint32(header[4:])
		if size < headerBytes || size > largestMessage || answer > largestMessage {
			return answered
		}
		if _, err := io.CopyN(io.Discard, c, int64(size)-headerBytes); err != nil {
			return answered
		}
		time.Sleep(time.Duration(*r.think))
		if _, err := c.Write(make([]byte, answer)); err != nil {
			return answered
		}
		answered++
	}
}

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
