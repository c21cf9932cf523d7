package transact

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// test is one that a Server let in.
type test struct {
	number number
	from   netip.Addr
	terms  Terms

	mu      sync.Mutex
	conns   map[net.Conn]bool // nil: the test is over
	account Account           // its means are sums
	begun   int               // exchanges
	bytes   int64
	group   sync.WaitGroup
}

// control tells the client to go ahead, and waits until it says that it has ended.
func (t *test) control(conn net.Conn) error {
	_ = conn.SetDeadline(time.Now().Add(t.terms.Longest))
	if _, err := conn.Write(welcome{verdict: goAhead, acks: t.terms.Acks, number: t.number}.encode()); err != nil {
		return fmt.Errorf("let test in: %w", err)
	}
	end := make([]byte, endBytes)
	if _, err := io.ReadFull(conn, end); err != nil {
		return fmt.Errorf("await end of test: %w", err)
	}
	if !bytes.Equal(end, endMagic) {
		return errForeign
	}
	return nil
}

// enter takes a connection into the test, if it may have one more.
func (t *test) enter(conn net.Conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.conns == nil || len(t.conns) >= testConnections {
		return false
	}
	_ = conn.SetDeadline(time.Now().Add(t.terms.Longest))
	t.conns[conn] = true
	t.group.Add(1)
	return true
}

func (t *test) leave(conn net.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.account.Retransmits += retransmits(conn)
	delete(t.conns, conn)
	t.group.Done()
}

// end lets nothing more be read on the connections of the test, waits until none is served, and returns the account of the test.
func (t *test) end() Account {
	t.mu.Lock()
	for conn := range t.conns {
		_ = conn.SetDeadline(time.Unix(1, 0)) // it is idle, or its client gave it up; what TCP did on it is still to be read
	}
	t.conns = nil
	t.mu.Unlock()
	t.group.Wait()
	a := t.account
	if n := time.Duration(a.Exchanges); n > 0 {
		a.GatherMean /= n
		a.AnswerMean /= n
	}
	return a
}

// answerAll answers the requests that come on a connection, of which the header of the first has come, until it is closed or asks for
// what was not agreed on.
func (t *test) answerAll(conn net.Conn, header []byte, came time.Time) {
	answer := bytes.Repeat([]byte{'.'}, t.terms.Answer)
	for {
		if err := t.take(header); err != nil {
			return
		}
		if err := receive(conn, t.terms.Request-RequestHeader, t.terms.Acks); err != nil {
			return
		}
		whole := time.Now()
		if _, err := conn.Write(answer); err != nil {
			return
		}
		t.note(whole.Sub(came), time.Since(whole))
		n, err := io.ReadAtLeast(conn, header, 1)
		came = time.Now()
		if err == nil && n < len(header) {
			_, err = io.ReadFull(conn, header[n:])
		}
		if err != nil {
			return
		}
	}
}

var errTerms = errors.New("not what was agreed on")

// take counts an exchange that begins, if it is one that was agreed on.
func (t *test) take(header []byte) error {
	n, request, answer := decodeRequest(header)
	t.mu.Lock()
	defer t.mu.Unlock()
	if n != t.number || request != t.terms.Request || answer != t.terms.Answer || t.begun >= t.terms.Exchanges {
		return errTerms
	}
	t.begun++
	return nil
}

func (t *test) note(gather, answer time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := &t.account
	a.Exchanges++
	a.GatherMean, a.GatherMost = a.GatherMean+gather, max(a.GatherMost, gather)
	a.AnswerMean, a.AnswerMost = a.AnswerMean+answer, max(a.AnswerMost, answer)
	t.bytes += int64(t.terms.Request) + int64(t.terms.Answer)
}

// retransmits is how many segments the kernel sent again on a connection; 0 where it does not say.
func retransmits(conn net.Conn) uint64 {
	info, err := sock.InfoOf(conn)
	if err != nil {
		return 0
	}
	return info.TotalRetrans
}
