package ndt7

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/sock"
)

const (
	// uploadGrace is how long an upload goes on for the server to end it, whose last measurement is of its whole time then. The end of a download
	// comes behind data that waits in queues, for which downloadGrace is. A server that does not know how long a test is to be is not waited for.
	uploadGrace   = 250 * time.Millisecond
	downloadGrace = 1500 * time.Millisecond
	// mostTold measurements are kept: ten a second, which is all that the specification allows, for as long as a connection may last.
	mostTold    = 150
	intervalOf  = time.Second
	sampleEvery = 50 * time.Millisecond // of TCP_INFO: twenty a second, as those of throughput tests
)

// running is one test at the client.
type running struct {
	*Client
	report *Report
	ws     *websocket.Conn
	conn   net.Conn
	began  time.Time
	lasts  time.Duration
	late   atomic.Bool // it was ended for being late

	mu    sync.Mutex // of what follows, and of Report.Told
	moved int64      // bytes of binary messages
	at    time.Time  // when the last of them moved
}

// do runs a test until the server closes it, or its time is over.
func (t *running) do(test string) error {
	ctx, cancel := context.WithCancel(context.Background()) // the connection is closed when that of Run ends
	defer cancel()
	var group sync.WaitGroup
	read, written, stop := make(chan error, 1), make(chan error, 1), make(chan struct{})
	group.Go(func() { read <- t.read(ctx, test) }) // ends with the connection
	if test == Upload {
		group.Go(func() { written <- t.send(ctx, stop) }) // ends with the connection, or when it is told
	} else {
		written <- nil
	}
	err := t.watch(test, read)
	close(stop)
	if err == nil { // its time is over, and the server has not closed it
		t.settle(test)
		err = t.ws.Close(websocket.StatusNormalClosure, "")
	}
	_ = t.ws.CloseNow()
	group.Wait()
	if failed := <-written; err == nil {
		err = failed
	}
	t.settle(test)
	return err
}

// watch keeps readings and intervals until the connection ends, whose error it returns, or the test's time is over.
func (t *running) watch(test string, read <-chan error) error {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	grace := downloadGrace
	if test == Upload {
		grace = uploadGrace
	}
	over := time.NewTimer(t.lasts + grace)
	defer over.Stop()
	interval := time.NewTicker(intervalOf)
	defer interval.Stop()
	for {
		select {
		case err := <-read:
			t.interval()
			return cmp.Or(err, io.EOF)
		case <-over.C:
			t.interval()
			return nil
		case <-interval.C:
			t.interval()
		case <-tick.C:
			if info, err := sock.InfoOf(t.conn); err == nil {
				t.report.Samples = append(t.report.Samples, Sample{Elapsed: time.Since(t.began), Values: info.Values()})
			}
		}
	}
}

// interval ends an interval where the next begins, and keeps it. A rest that is shorter than a tenth says nothing of the rate.
func (t *running) interval() {
	t.mu.Lock()
	i := Interval{End: time.Since(t.began), Bytes: t.moved}
	t.mu.Unlock()
	for _, before := range t.report.Intervals {
		i.Start = before.End
		i.Bytes -= before.Bytes
	}
	if i.End-i.Start < intervalOf/10 {
		return
	}
	t.report.Intervals = append(t.report.Intervals, i)
	if t.OnInterval != nil {
		t.OnInterval(i)
	}
}

// errUnwanted is of a server that sends data in an upload.
var errUnwanted = errors.New("the server sent data in an upload")

// read takes what the server sends until the connection ends.
func (t *running) read(ctx context.Context, test string) error {
	buffer := make([]byte, 256<<10)
	for {
		kind, message, err := t.ws.Reader(ctx)
		if err != nil {
			return err
		}
		if kind == websocket.MessageText {
			text, err := io.ReadAll(io.LimitReader(message, MostText+1))
			if err == nil {
				t.told(text)
				_, err = io.CopyBuffer(io.Discard, message, buffer)
			}
			if err != nil {
				return err
			}
			continue
		}
		if test == Upload {
			t.conn.Close()
			return errUnwanted
		}
		for {
			n, err := message.Read(buffer)
			t.count(n)
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
		}
	}
}

func (t *running) count(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n > 0 {
		t.moved, t.at = t.moved+int64(n), time.Now()
	}
}

// told keeps a measurement of the server's. What cannot be read is no reason to end a test, and of too many those that come too soon are left out.
func (t *running) told(text []byte) {
	m, err := Parse(text)
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	due := int(time.Since(t.began)/(100*time.Millisecond)) + 10
	if told := len(t.report.Told); told < min(mostTold, due) {
		t.report.Told = append(t.report.Told, m)
	}
}

// send sends data until it is told to stop, or nobody takes it.
func (t *running) send(ctx context.Context, stop <-chan struct{}) error {
	payload := make([]byte, mostSent)
	_, _ = rand.Read(payload) // never fails, as crypto/rand says
	total := int64(0)
	for size := firstMessage; ; size = nextSize(size, total) {
		select {
		case <-stop:
			return nil
		default:
		}
		if err := t.ws.Write(ctx, websocket.MessageBinary, payload[:size]); err != nil {
			return err
		}
		total += int64(size)
		t.count(size)
	}
}

// settle fills in what the test comes to by what is known.
func (t *running) settle(test string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.report
	r.Moved = t.moved
	if test == Download {
		if r.Bytes = t.moved; t.moved > 0 {
			r.Elapsed = t.at.Sub(t.began)
		}
		return
	}
	if r.Bytes > 0 {
		return // what was told after the last data counts time in which nothing was sent
	}
	for _, m := range r.Told {
		if received, elapsed := m.TCPInfo["BytesReceived"], m.TCPInfo[ElapsedTime]; received > 0 && elapsed > 0 {
			r.Bytes, r.Elapsed = received, time.Duration(elapsed)*time.Microsecond
		}
	}
}

// judge says what the end of a test means. A server may close it at any time; one that is cut off after its time has come to its end.
func (t *running) judge(ctx context.Context, err error) error {
	status := websocket.CloseStatus(err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil, status == websocket.StatusNormalClosure:
		if !t.late.Load() {
			return nil
		}
	case status >= 0:
		return fmt.Errorf("the server closed the test: %w", err)
	case errors.Is(err, errUnwanted):
		return err
	case time.Since(t.began) < t.lasts:
		return endpoint.Explain(ctx, lost(err))
	}
	t.report.Notes = append(t.report.Notes, "the server did not close the test in order: its connection was cut off after its time")
	return nil
}
