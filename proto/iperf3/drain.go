package iperf3

import (
	"context"
	"net"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// Bounds on waiting for data in flight at the end of a test.
const (
	drainLimit = 8 * time.Second // newer iperf3 gives up on its control connection after 10 s
	drainIdle  = time.Second     // without any progress: longer than most retransmission timeouts
	drainPoll  = 2 * time.Millisecond
)

// await polls until done, abort, no progress for idle, or limit in all; it says whether it was done.
func (t *transfer) await(done func() bool, progress func() int64, idle, limit time.Duration, abort <-chan struct{}) bool {
	ticker := time.NewTicker(drainPoll)
	defer ticker.Stop()
	began := time.Now()
	latest, moved := progress(), began
	for !done() {
		select {
		case <-abort:
			return false
		case now := <-ticker.C:
			if p := progress(); p != latest {
				latest, moved = p, now
			}
			if now.Sub(moved) > idle || now.Sub(began) > limit {
				return false
			}
		}
	}
	return true
}

// stallLimit is how long a sender waits for any acknowledgement: past several doublings of the retransmission timer.
const stallLimit = 20 * time.Second

// drain waits until the peers have acknowledged what the senders wrote.
func (t *transfer) drain(abort <-chan struct{}) bool {
	done := func() bool { acked, written := t.acked(); return acked >= written }
	progress := func() int64 { acked, _ := t.acked(); return acked }
	return t.await(done, progress, stallLimit, maxTime*time.Second, abort)
}

// dataAckIdle is how long the last acknowledgements of MPTCP may trail those of TCP: a delayed acknowledgement of Linux, and what a busy host adds.
const dataAckIdle = 100 * time.Millisecond

// awaitDataAcks takes what a server sent by MPTCP as acknowledged in the end, once its peer has ended a test by bytes, since it has all of them. A Linux
// receiver that is reading when the last segment comes acknowledges that by TCP alone, and leaves its DATA_ACK (RFC 8684 section 3.3.2) to the next
// packet, of which there is none.
func (t *transfer) awaitDataAcks() {
	if t.params.Num == 0 || t.active {
		return
	}
	for _, s := range t.streams {
		if !s.sender || !s.mptcp {
			continue
		}
		written := s.count.Load()
		all := func() bool {
			acked, ok := ackedBySubflows(s.raw)
			return ok && acked >= written
		}
		still := func() int64 { acked, _ := ackedBySubflows(s.raw); return acked }
		s.allAcked.Store(t.await(all, still, dataAckIdle, drainLimit, nil))
	}
}

// watchReceivers returns a channel that is closed when receivers have read nothing for stallLimit. It ends with over.
func (t *transfer) watchReceivers(over <-chan struct{}) <-chan struct{} {
	stalled := make(chan struct{})
	go func() {
		never := func() bool { return false }
		t.await(never, t.receivedBytes, stallLimit, 2*maxTime*time.Second, over)
		select {
		case <-over:
		default:
			close(stalled)
		}
	}()
	return stalled
}

// awaitEOF lets the receivers read until a stock server, which has closed its streams, has nothing more to send.
func (t *transfer) awaitEOF(abort <-chan struct{}) {
	done := func() bool {
		select {
		case <-t.received:
			return true
		default:
			return false
		}
	}
	t.await(done, t.receivedBytes, drainIdle, drainLimit, abort)
}

// awaitBytes lets the receivers read until they have as much as a stock client says it sent.
func (t *transfer) awaitBytes(theirs Results, abort <-chan struct{}) {
	done := func() bool {
		for _, s := range t.streams {
			one, ok := theirs.stream(streamID(s.index))
			if !s.sender && ok && s.count.Load()-s.from.bytes < int64(one.Bytes) {
				return false
			}
		}
		return true
	}
	t.await(done, t.receivedBytes, drainIdle, drainLimit, abort)
}

// letArrive gives the last datagrams the time of a round trip, as the control connection sees it, and some more.
func (t *transfer) letArrive(ctx context.Context, conn net.Conn) {
	select {
	case <-time.After(arrivalTime(conn)):
	case <-ctx.Done():
	}
}

// longestArrival is the most that is waited for datagrams that may be lost.
const longestArrival = time.Second

// arrivalTime is a round trip, as a control connection sees it, and some more.
func arrivalTime(conn net.Conn) time.Duration {
	const more = 20 * time.Millisecond
	if info, err := sock.InfoOf(conn); err == nil {
		return min(more+info.RTT+4*info.RTTVar, longestArrival)
	}
	return more
}

// awaitTrains waits until all datagrams of the trains came that a client sent before TEST_END, or none for the time of a round trip, as some are lost.
func (t *transfer) awaitTrains(conn net.Conn, abort <-chan struct{}) {
	train := t.params.train()
	if train == nil || bool(t.params.Reverse) {
		return
	}
	gap := time.Duration(train.Gap * float64(time.Second)) // where TEST_END overtakes them, trains still come at their own pace
	t.await(t.allTrains, t.receivedBytes, arrivalTime(conn)+gap, longestArrival+gap, abort)
}

// acked is how many bytes the peers of all TCP senders acknowledged, written how many were given to the kernel.
func (t *transfer) acked() (acked, written int64) {
	for _, s := range t.streams {
		if s.sender {
			if r, err := s.read(); err == nil {
				acked += r.bytes
			}
			written += s.count.Load()
		}
	}
	return acked, written
}

func (t *transfer) receivedBytes() (sum int64) {
	for _, s := range t.streams {
		if !s.sender {
			sum += s.count.Load()
		}
	}
	return sum
}
