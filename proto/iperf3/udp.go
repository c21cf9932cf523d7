package iperf3

import (
	"errors"
	"net"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/sock"
)

const (
	// udpBuffer is asked for as receive buffer when the caller asked for none: datagrams that the kernel drops
	// because this process was not scheduled for some milliseconds are not the path's loss. The kernel cuts it to
	// net.core.rmem_max.
	udpBuffer = 4 << 20

	// A paced sender that woke late sends what is due, but never more than burstPackets, or burstTime of its rate
	// at rates where a wake-up for each packet is impossible. What is due beyond that is let go.
	burstPackets = 2
	burstTime    = 500 * time.Microsecond

	udpSettle = 2 * time.Millisecond  // without a datagram, at the end: the queue is empty
	udpLinger = 50 * time.Millisecond // in all, whatever still comes
	udpPoll   = 50 * time.Millisecond // longest sleep, so that the end of a test is seen
)

// sendUDP sends a paced stream, or trains.
func (t *transfer) sendUDP(s *stream) error {
	runtime.LockOSThread() // for the timer slack, and so that sleeping wakes this goroutine directly
	defer runtime.UnlockOSThread()
	exactSleep()
	size := max(int(t.params.Len), minUDPLength)
	if train := t.params.train(); train != nil {
		return t.sendTrains(s, size, *train)
	}
	buf := payload(size)
	gap := time.Duration(float64(len(buf)) * 8 / float64(max(1, t.params.Bandwidth)) * float64(time.Second))
	behind := max((burstPackets-1)*gap, burstTime)
	for due := t.elapsed(); !t.halted.Load(); due += gap {
		for {
			now := t.elapsed()
			if now >= due {
				due = max(due, now-behind)
				break
			}
			sleepFor(min(due-now, udpPoll))
			if t.halted.Load() {
				return nil
			}
		}
		if t.take(len(buf)) == 0 {
			return nil
		}
		if err := t.sendBurst(s, buf, len(buf)); err != nil {
			return err
		}
	}
	return nil
}

// lostAtOnce reports whether a datagram that could not be sent is no more than lost: the error is that of an ICMP message about an
// earlier one, or our own interface's queue is full.
func lostAtOnce(err error) bool {
	return errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, unix.ENOBUFS)
}

// receiveUDP counts datagrams until the end of the test, then what the kernel still holds.
func (t *transfer) receiveUDP(s *stream) error {
	conn := s.conn.(*net.UDPConn)
	buf, oob := make([]byte, 1<<16), make([]byte, 128) // a stamp is 32 bytes, a mark 24
	told := t.params.train() != nil || t.params.TOS > 0
	var lingerUntil time.Time
	for {
		n, err := 0, error(nil)
		at, used := t.elapsed(), 0
		if told {
			n, used, _, _, err = conn.ReadMsgUDPAddrPort(buf, oob)
		} else {
			n, err = conn.Read(buf)
			at = t.elapsed()
		}
		switch {
		case err == nil:
			t.gotDatagram(s, buf[:n], oob[:used], at)
		case errors.Is(err, unix.ECONNREFUSED):
		case ended(err) && !lingerUntil.IsZero():
			return nil
		case ended(err):
			lingerUntil = time.Now().Add(udpLinger)
		default:
			return err
		}
		if !lingerUntil.IsZero() {
			if time.Now().After(lingerUntil) {
				return nil
			}
			conn.SetReadDeadline(time.Now().Add(udpSettle))
		}
	}
}

// gotDatagram counts a datagram, with what the kernel told beside it.
func (t *transfer) gotDatagram(s *stream, b, beside []byte, at time.Duration) {
	if len(b) == len(udpHello) { // the handshake again: its answer was lost, or came twice
		if [4]byte(b) == udpHello {
			_, _ = s.conn.Write(udpAnswer[:]) // lost as any datagram may be
		}
		return
	}
	sent, seq, ok := ParseDatagram(b, bool(t.params.Counters64))
	if !ok {
		return
	}
	stamp := kernelStamp(beside)
	mark, marked := sock.ArrivedDSCP(beside)
	s.mu.Lock()
	s.track.Add(seq, sent, at)
	if marked {
		s.marks[mark]++
	}
	if stamp != 0 && len(s.arrivals) < maxArrivals {
		s.arrivals = append(s.arrivals, Arrival{Sequence: int64(seq), At: stamp, Sent: int64(sent)})
	}
	s.mu.Unlock()
	t.got(s, len(b))
}

// connectUDP opens one stream at the client: it sends udpHello until the server answers, or, in reverse, sends data.
func connectUDP(conn *net.UDPConn, limit time.Duration) error {
	const tries = 4
	var buf [1 << 16]byte
	for range tries {
		if _, err := conn.Write(udpHello[:]); err != nil && !errors.Is(err, unix.ECONNREFUSED) {
			return err
		}
		conn.SetReadDeadline(time.Now().Add(limit / tries))
		for {
			n, err := conn.Read(buf[:])
			if err == nil && (isUDPAnswer(buf[:n]) || n >= minUDPLength) {
				return conn.SetReadDeadline(time.Time{})
			}
			if err != nil && !errors.Is(err, unix.ECONNREFUSED) {
				break // try again
			}
			if errors.Is(err, unix.ECONNREFUSED) { // a port that is not open yet, or not at all
				time.Sleep(limit / tries / 4)
				break
			}
		}
	}
	return ErrUDPBlocked
}
