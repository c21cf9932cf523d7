package iperf3

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/sock"
)

const (
	// writeSize is what one call of an unpaced sender carries, discardSize what one call of a receiver takes at most. TCP keeps
	// no boundaries, so they need not be the length that was agreed on: fewer, larger calls cost less.
	writeSize   = 2 << 20
	discardSize = 1 << 20
	// pieceSize is the buffer that a write names over and over (writev): it stays in a core's second-level cache beside what
	// the kernel needs there. It is one byte more than LZ4 looks back, so repeating it does not make it compress.
	pieceSize = 64 << 10

	pacedWrite = 10 * time.Millisecond // of a paced sender's rate in one write: smooth, and 100 wake-ups a second
	minWrite   = 1448                  // bytes, a segment on Ethernet
	maxBehind  = time.Second           // of its rate that a paced sender makes up for after a stall
)

// sendTCP writes until the budget, the source or the test ends.
func (t *transfer) sendTCP(s *stream) error {
	size, rate := writeSize, t.rateOf(s)
	switch {
	case rate > 0:
		size = min(max(int(float64(rate)/8*pacedWrite.Seconds()), minWrite), int(t.params.Len))
	case t.params.Len < defaultTCPLength || t.wholeBlocks(): // asked for on purpose, or waited for
		size = int(t.params.Len)
	}
	if t.source != nil {
		return t.sendSource(s, size, rate)
	}
	write, end, err := t.writer(s)
	if err != nil {
		return err
	}
	defer end()
	pieces := make(net.Buffers, 0, writeSize/pieceSize)
	pace := pacer{rate: rate, burst: int(t.params.Burst)}
	for !t.halted.Load() {
		n := t.take(size)
		if n == 0 || !t.wait(pace.next(time.Now(), n)) {
			return nil
		}
		n, err := write(repeat(pieces, t.payload(), n))
		s.count.Add(int64(n))
		if err != nil {
			return err
		}
	}
	return nil
}

// payload returns a piece to send, the same for every sender.
func (t *transfer) payload() []byte {
	t.payloadOnce.Do(func() { t.payloadBytes = payload(pieceSize) })
	return t.payloadBytes
}

// repeat fills pieces with as many of b as make n bytes.
func repeat(pieces net.Buffers, b []byte, n int) net.Buffers {
	pieces = pieces[:0]
	for ; n > 0; n -= len(b) {
		pieces = append(pieces, b[:min(n, len(b))])
	}
	return pieces
}

// writer is how the sender writes: see Config.EventLoop and Config.ZeroCopy. end frees what it took.
func (t *transfer) writer(s *stream) (write func(net.Buffers) (int, error), end func(), err error) {
	nothing := func() {}
	if e := t.params.Pathwise; e != nil && e.EventLoop {
		return s.writeWhenAsked, nothing, nil
	}
	if t.params.ZeroCopy && t.source == nil {
		return t.fileWriter(s)
	}
	return func(pieces net.Buffers) (int, error) {
		n, err := pieces.WriteTo(s.tcp)
		return int(n), err
	}, nothing, nil
}

// writeWhenAsked writes all pieces, but only when poll calls the socket writable.
func (s *stream) writeWhenAsked(pieces net.Buffers) (written int, err error) {
	waited := s.raw.Write(func(fd uintptr) bool {
		ask := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
		for len(pieces) > 0 {
			if ready, _ := unix.Poll(ask, 0); ready == 0 {
				return false
			}
			n, failed := unix.Writev(int(fd), pieces)
			if failed == unix.EAGAIN {
				return false
			}
			if failed != nil && failed != unix.EINTR {
				err = failed
				return true
			}
			n = max(n, 0)
			written += n
			for len(pieces) > 0 && n >= len(pieces[0]) {
				n -= len(pieces[0])
				pieces = pieces[1:]
			}
			if len(pieces) > 0 {
				pieces[0] = pieces[0][n:]
			}
		}
		return true
	})
	return written, errors.Join(waited, err)
}

// sendSource writes what the source gives. Reading it is a goroutine of its own, which a source that blocks for ever
// keeps; the test does not wait for it.
func (t *transfer) sendSource(s *stream, size int, rate int64) error {
	type piece struct {
		data []byte
		err  error
	}
	full, empty := make(chan piece), make(chan []byte, 2)
	empty <- make([]byte, size)
	empty <- make([]byte, size)
	go func() {
		for {
			select {
			case <-t.haltedCh:
				return
			case buf := <-empty:
				n, err := t.source.Read(buf)
				select {
				case full <- piece{buf[:n], err}:
				case <-t.haltedCh:
					return
				}
				if err != nil {
					return
				}
			}
		}
	}()
	pace := pacer{rate: rate}
	write, end, err := t.writer(s)
	if err != nil {
		return err
	}
	defer end()
	for {
		asked := time.Now()
		select {
		case <-t.haltedCh:
			s.fileWait.Add(int64(time.Since(asked)))
			return nil
		case p := <-full:
			s.fileWait.Add(int64(time.Since(asked)))
			n := t.take(len(p.data))
			if !t.wait(pace.next(time.Now(), n)) {
				return nil
			}
			n, err := write(net.Buffers{p.data[:n]})
			s.count.Add(int64(n))
			switch {
			case err != nil:
				return err
			case errors.Is(p.err, io.EOF) || n < len(p.data):
				return nil
			case p.err != nil:
				return &SourceError{p.err}
			}
			empty <- p.data[:cap(p.data)]
		}
	}
}

// SourceError is a failure of Config.Source.
type SourceError struct{ Err error }

func (e *SourceError) Error() string { return "read source: " + e.Err.Error() }

// Unwrap returns the source's own error.
func (e *SourceError) Unwrap() error { return e.Err }

// receiveTCP counts what comes until end of file or the end of the test. Nobody wants the payload, so the kernel does not
// copy it (see StreamExtra.Discards).
func (t *transfer) receiveTCP(s *stream) error {
	var failed error
	waited := s.raw.Read(func(fd uintptr) bool {
		for !t.deaf.Load() { // while a fast sender leaves nothing to wait for, the deadline is not seen
			n, err := sock.Discard(fd, discardSize)
			switch {
			case n > 0:
				t.got(s, n)
			case err == unix.EAGAIN:
				return false
			case err != unix.EINTR: // or nil, at end of file
				failed = os.NewSyscallError("recv", err)
				return true
			}
		}
		failed = os.ErrDeadlineExceeded
		return true
	})
	err := errors.Join(waited, failed)
	if ended(err) {
		t.takeHeld(s)
		return nil
	}
	return err
}

// takeHeld counts what the kernel holds at this moment, and no more: the sender may still be sending.
func (t *transfer) takeHeld(s *stream) {
	// An error means that the connection is gone, and with it the data.
	_ = s.raw.Control(func(fd uintptr) {
		held, err := unix.IoctlGetInt(int(fd), unix.SIOCINQ)
		for err == nil && held > 0 {
			var n int
			if n, err = sock.Discard(fd, held); n <= 0 {
				return
			}
			held -= n
			s.count.Add(int64(n))
		}
	})
}

// wait sleeps for d, in a way that the end of the test interrupts; it says whether to go on.
func (t *transfer) wait(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-t.haltedCh:
		return false
	case <-timer.C:
		return true
	}
}

// pacer keeps an average rate in bit/s. The zero rate is unlimited.
type pacer struct {
	rate  int64
	burst int       // writes that go together; 0: 1
	gone  int       // writes so far
	due   time.Time // when the next write may go
}

// next returns how long to wait before writing n bytes at the time now.
func (p *pacer) next(now time.Time, n int) time.Duration {
	if p.rate <= 0 {
		return 0
	}
	if p.due.IsZero() {
		p.due = now
	}
	if behind := now.Add(-maxBehind); p.due.Before(behind) {
		p.due = behind
	}
	wait := p.due.Sub(now)
	p.due = p.due.Add(time.Duration(float64(n) * 8 / float64(p.rate) * float64(time.Second)))
	if p.gone++; (p.gone-1)%max(1, p.burst) > 0 { // it goes with the one before
		return 0
	}
	return wait
}

// payload returns bytes that do not compress, so that a link that compresses does not look faster than it is.
func payload(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{})
	r.Read(b)
	return b
}
