package flows

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"
)

// test is one that a Server let in.
type test struct {
	number number
	from   netip.Addr
	terms  Terms
	silent time.Duration // that the client may be

	mu      sync.Mutex
	flows   []arrivals
	foreign int64
}

func newTest(from netip.Addr, terms Terms, silent time.Duration) *test {
	t := &test{from: from, terms: terms, silent: silent, flows: make([]arrivals, len(terms.Flows))}
	for i, f := range terms.Flows {
		t.flows[i].most = f.Packets
	}
	return t
}

// take notes a datagram of the test; false: it is of none of its flows.
func (t *test) take(d datagram, bytes int, at int64, dscp int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d.flow >= len(t.flows) || !t.flows[d.flow].take(d, bytes, at, dscp) {
		t.foreign++
		return false
	}
	return true
}

func (t *test) soFar() []SoFar {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]SoFar, len(t.flows))
	for i := range t.flows {
		all[i] = t.flows[i].soFar
	}
	return all
}

func (t *test) bytes() (sum int64) {
	for _, f := range t.soFar() {
		sum += f.Bytes
	}
	return sum
}

// account is what came of a test that nothing comes to any more.
func (t *test) account(sent []int) Account {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := Account{Foreign: t.foreign, Flows: make([]FlowAccount, len(t.flows))}
	for i := range t.flows {
		a.Flows[i] = t.flows[i].account(sent[i])
		t.flows[i].order, t.flows[i].delays = nil, nil
	}
	return a
}

// control lets the client begin, tells it what came, and returns what it says it sent of each flow, after the time for late datagrams.
func (t *test) control(ctx context.Context, conn net.Conn) (sent []int, err error) {
	over := time.Now().Add(t.terms.Longest)
	_ = conn.SetDeadline(earlier(over, t.silent))
	if _, err := conn.Write(welcome{verdict: goAhead, number: t.number}.encode()); err != nil {
		return nil, fmt.Errorf("let test in: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	var teller sync.WaitGroup
	teller.Go(func() { t.tell(ctx, conn) })
	defer teller.Wait()
	defer stop()
	if sent, err = t.listen(conn, over); err != nil {
		return nil, err
	}
	select {
	case <-time.After(t.terms.Linger):
		return sent, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// tell says each second what has come, until ctx ends. Where it cannot, the connection is closed, by which listen ends.
func (t *test) tell(ctx context.Context, conn net.Conn) {
	each := time.NewTicker(beatEvery)
	defer each.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-each.C:
		}
		_ = conn.SetWriteDeadline(time.Now().Add(t.silent))
		if _, err := conn.Write(encodeSoFar(t.soFar())); err != nil {
			conn.Close()
			return
		}
	}
}

// listen hears the client's beats until it says that it has sent all.
func (t *test) listen(conn net.Conn, over time.Time) (sent []int, err error) {
	mark := make([]byte, markBytes)
	for {
		_ = conn.SetReadDeadline(earlier(over, t.silent))
		if _, err := io.ReadFull(conn, mark); err != nil {
			return nil, fmt.Errorf("await end of test: %w", err)
		}
		if bytes.Equal(mark, endMark) {
			break
		}
		if !bytes.Equal(mark, beatMark) {
			return nil, errForeign
		}
	}
	counts := make([]byte, 4*len(t.flows))
	if _, err := io.ReadFull(conn, counts); err != nil {
		return nil, fmt.Errorf("await counts of what was sent: %w", err)
	}
	for i := range t.flows {
		n := int(binary.BigEndian.Uint32(counts[4*i:]))
		if n > t.flows[i].most {
			return nil, errForeign
		}
		sent = append(sent, n)
	}
	return sent, nil
}

// earlier is the sooner of a moment and of the end of a time that begins now.
func earlier(moment time.Time, after time.Duration) time.Time {
	if end := time.Now().Add(after); end.Before(moment) {
		return end
	}
	return moment
}
