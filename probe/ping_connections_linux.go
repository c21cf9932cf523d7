package probe

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/sock"
)

// connections are a pingSender of whole TCP connections, each of which is closed as soon as it is open. It needs no privilege. The
// round trip is the far kernel's answer to the SYN, by this kernel's account of it in TCP_INFO. A refusal (RST) is an answer, too,
// by this process's clock. Where the kernel had to send the SYN again, the first one or its answer was lost: then nothing is told.
type connections struct {
	to      netip.AddrPort
	timeout time.Duration
	prepare func(syscall.RawConn) error
	open    context.Context // it ends with the sender
	end     context.CancelFunc
	waiting sync.WaitGroup // a goroutine for each connection under way
	heard   chan any       // by them: a pingAnswer or pingRefusal
}

// newConnections are connections to an address. timeout is how long each may take, and prepare sets the options of its socket.
func newConnections(to netip.AddrPort, timeout time.Duration, prepare func(syscall.RawConn) error) *connections {
	c := &connections{to: to, timeout: timeout, prepare: prepare, heard: make(chan any)}
	c.open, c.end = context.WithCancel(context.Background())
	return c
}

func (c *connections) send(index, _ int) (time.Time, error) {
	conn, err := sock.BeginConnect(c.to, c.prepare)
	if err != nil {
		return time.Time{}, err
	}
	c.waiting.Go(func() {
		if event := c.outcome(index, conn); event != nil {
			select {
			case c.heard <- event:
			case <-c.open.Done():
			}
		}
	})
	return conn.Began, nil
}

// outcome waits for what comes of a connection, and closes it. nil: nothing that can be told of its first SYN.
func (c *connections) outcome(index int, conn *sock.Connecting) any {
	defer conn.Close()
	if err := conn.SetDeadline(conn.Began.Add(c.timeout)); err != nil {
		return pingRefusal{index: index, why: err.Error()}
	}
	// Not before, so that the end of the sender is not overwritten by the deadline. It fails only on a closed socket.
	defer context.AfterFunc(c.open, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	err := conn.Wait()
	took := time.Since(conn.Began)
	switch {
	case errors.Is(err, unix.ECONNREFUSED) && took < firstTimeout:
		return pingAnswer{index: index, rtt: took}
	case errors.Is(err, unix.ECONNREFUSED), errors.Is(err, unix.ETIMEDOUT), errors.Is(err, os.ErrDeadlineExceeded):
		return nil
	case err != nil:
		return pingRefusal{index: index, why: errorText(err), noWay: isUnreachable(err)}
	}
	return answerOf(index, conn)
}

// answerOf is what the kernel says of the answer to a connection's SYN.
func answerOf(index int, conn *sock.Connecting) any {
	raw, err := conn.SyscallConn()
	if err != nil {
		return pingRefusal{index: index, why: err.Error()}
	}
	info, err := sock.ReadTCPInfo(raw)
	switch {
	case err != nil:
		return pingRefusal{index: index, why: err.Error()}
	case info.TotalRetrans > 0:
		return nil
	}
	return pingAnswer{index: index, rtt: info.RTT, kernel: true}
}

// errorText is what the kernel said, without what was asked of it.
func errorText(err error) string {
	var said syscall.Errno
	if errors.As(err, &said) {
		return said.Error()
	}
	return err.Error()
}

// firstTimeout is when the kernel sends a SYN again (RFC 6298, 2.1): an answer after that may be to either.
const firstTimeout = time.Second

func (c *connections) receive(until time.Time) (any, error) {
	due := time.NewTimer(time.Until(until))
	defer due.Stop()
	select {
	case event := <-c.heard:
		return event, nil
	case <-c.open.Done():
	case <-due.C:
	}
	return nil, os.ErrDeadlineExceeded
}

func (c *connections) interrupt() { c.end() }

func (c *connections) socket() string { return "connection" }

func (c *connections) close() {
	c.end()
	c.waiting.Wait()
}
