package probe

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
	"github.com/pathwise-net/pathwise/stat"
)

// fetching is a Fetch that runs.
//
//	connect -> [GET -> first byte -> body -> end of body] again, on the same connection, until the time is over
//
// Meanwhile a watcher reads TCP_INFO.
type fetching struct {
	Fetch
	to   netip.AddrPort
	conn net.Conn
	raw  syscall.RawConn

	began    time.Time     // when the first request was sent
	lasted   time.Duration // from there to the last byte
	received atomic.Int64  // bytes of bodies
	waits    []float64     // s, from each request to the first byte of its answer
	closed   bool          // by the server, after an answer

	watched fetchWatch
}

const (
	fetchAnswer = 10 * time.Second // how long a server may take for a handshake and for the head of an answer
	fetchRead   = 128 << 10        // bytes of each read
	fetchHead   = 1 << 20          // bytes that the head of an answer may have: browsers take a quarter of that
)

// Causes for which a file is read no further, and which are no failures.
var (
	errFetched   = errors.New("enough was read")
	errFetchTime = errors.New("the time is over")
)

func (f *fetching) run(parent context.Context) error {
	err := f.open(parent)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("fetch %s: %w: is a web server running there?", f.url(), syscall.ECONNREFUSED)
	}
	if err != nil {
		return fmt.Errorf("fetch %s: %w", f.url(), err)
	}
	defer f.conn.Close()
	ctx, cancel := context.WithTimeoutCause(parent, f.Duration, errFetchTime)
	defer cancel()
	ctx, enough := context.WithCancelCause(ctx)
	defer enough(nil)
	defer context.AfterFunc(ctx, func() { _ = f.conn.SetDeadline(time.Unix(1, 0)) })()
	f.began = time.Now()
	defer f.watch(func() { enough(errFetched) })()
	answers := &io.LimitedReader{R: f.conn}
	reader := bufio.NewReaderSize(answers, fetchRead)
	for !f.closed {
		answers.N = fetchHead
		err := f.get(reader, answers, func() { enough(errFetched) })
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, errFetched) || errors.Is(cause, errFetchTime):
			return nil
		case parent.Err() != nil:
			return context.Cause(parent)
		case err != nil:
			return fmt.Errorf("fetch %s: %w", f.url(), err)
		}
	}
	return nil
}

func (f *fetching) url() string {
	return f.Scheme + "://" + net.JoinHostPort(f.Name, strconv.Itoa(f.Port)) + f.Path
}

// open connects, once: another connection would be another sample.
func (f *fetching) open(ctx context.Context) error {
	conn, err := sock.Connect(ctx, &net.Dialer{Timeout: answerTimeout}, []netip.AddrPort{f.to})
	if err != nil {
		return err
	}
	f.conn = conn
	if f.raw, err = conn.(*net.TCPConn).SyscallConn(); err != nil {
		conn.Close()
		return fmt.Errorf("reach socket: %w", err)
	}
	if f.Scheme == schemeHTTPS {
		ctx, cancel := context.WithTimeout(ctx, fetchAnswer)
		defer cancel()
		secret := tls.Client(conn, &tls.Config{RootCAs: f.Roots, ServerName: f.Name, NextProtos: []string{"http/1.1"}})
		if err := secret.HandshakeContext(ctx); err != nil {
			conn.Close()
			return err
		}
		f.conn = secret
	}
	return nil
}

// get makes one request and reads the answer.
func (f *fetching) get(reader *bufio.Reader, answers *io.LimitedReader, enough func()) error {
	request, err := http.NewRequest(http.MethodGet, f.url(), http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", "pathwise")
	request.Header.Set("Accept-Encoding", "identity")
	asked := time.Now()
	if err := request.Write(f.conn); err != nil {
		return err
	}
	silent := time.AfterFunc(fetchAnswer, func() { _ = f.conn.SetReadDeadline(time.Unix(1, 0)) })
	_, err = reader.Peek(1)
	if !silent.Stop() {
		return fmt.Errorf("the server has not answered within %v", fetchAnswer)
	}
	if err != nil {
		return err
	}
	f.waits = append(f.waits, time.Since(asked).Seconds())
	answer, err := http.ReadResponse(reader, request)
	if answers.N == 0 {
		return fmt.Errorf("the head of the answer has more than %d bytes", fetchHead)
	}
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode >= 300 && answer.StatusCode < 400:
		return fmt.Errorf("it is elsewhere: give %q", answer.Header.Get("Location"))
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("the server answers %q", answer.Status)
	}
	answers.N = math.MaxInt64
	if err := f.read(answer.Body, enough); err != nil {
		return err
	}
	f.closed = answer.Close
	return nil
}

// read reads a body to its end, or until enough came.
func (f *fetching) read(body io.Reader, enough func()) error {
	buffer := make([]byte, fetchRead)
	for any := false; ; {
		n, err := body.Read(buffer)
		if n > 0 {
			any, f.lasted = true, time.Since(f.began)
			if all := f.received.Add(int64(n)); f.Bytes > 0 && all >= f.Bytes {
				enough()
			}
		}
		switch {
		case errors.Is(err, io.EOF) && !any:
			return errors.New("the file is empty")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// fill puts what was seen into a Result.
func (f *fetching) fill(r *measure.Result) {
	r.Target.Address = f.to.Addr().String()
	if f.conn != nil {
		r.Source.Address = f.conn.LocalAddr().(*net.TCPAddr).AddrPort().Addr().Unmap().String()
	}
	if bytes := f.received.Load(); bytes > 0 && f.lasted > 0 {
		r.Metrics[measure.Throughput] = float64(bytes) * 8 / f.lasted.Seconds()
		r.Metrics[measure.ReceivedBytes] = float64(bytes)
	}
	waited := 0.0
	for _, w := range f.waits {
		waited += w
	}
	if len(f.waits) > 0 {
		r.Metrics[measure.FirstByte] = stat.Median(slices.Sorted(slices.Values(f.waits)))
	}
	if share := waited / f.lasted.Seconds(); f.lasted > 0 && share > muchWaiting {
		r.Note(fmt.Sprintf("%.0f %% of the time went to waiting until answers began, %d of them: a larger file shows more of the path",
			100*share, len(f.waits)))
	}
	if f.closed {
		r.Note("the server closed the connection after the file: only what came over this one connection is told")
	}
	f.watched.fill(r)
}

// muchWaiting is the share of the time that answers may take to begin before the goodput is rather the server's than the path's.
const muchWaiting = 0.1
