package flows

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/sock"
	"github.com/pathwise-net/pathwise/traffic"
)

// test is one that a Server let in, or what a client receives of one.
type test struct {
	number   number
	from     netip.Addr
	terms    Terms
	reversed *traffic.Script // of which this end sends the flows in reverse; nil: none
	silent   time.Duration   // that the client may be

	mu      sync.Mutex
	flows   []arrivals
	foreign int64
	knocks  []sock.Asked  // of each flow in reverse: the first that came, without its data
	missing int           // knocks
	open    chan struct{} // closed when none is missing
	sent    int64         // bytes in reverse
}

func newTest(from netip.Addr, terms Terms, reversed *traffic.Script, silent time.Duration) *test {
	t := &test{from: from, terms: terms, reversed: reversed, silent: silent, flows: make([]arrivals, len(terms.Flows)), open: make(chan struct{})}
	for i, f := range terms.Flows {
		t.flows[i] = arrivals{most: f.Packets, intervals: make([]interval, terms.Intervals)}
	}
	if reversed == nil {
		return t
	}
	t.knocks = make([]sock.Asked, len(reversed.Flows))
	for i := range reversed.Flows {
		if reversed.Flows[i].Reverse {
			t.missing++
		}
	}
	return t
}

// knocked notes where a flow in reverse goes to; false: the datagram is of none. Who knocks again changes nothing.
func (t *test) knocked(flow int, p sock.Asked) bool {
	if t.reversed == nil || flow >= len(t.reversed.Flows) || !t.reversed.Flows[flow].Reverse {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.knocks[flow].From.IsValid() {
		return true
	}
	t.knocks[flow] = sock.Asked{From: p.From, Local: p.Local}
	if t.missing--; t.missing == 0 {
		close(t.open)
	}
	return true
}

// take notes a datagram of the test; false: it is of none of its flows, as flow -1 is, and counted as such.
func (t *test) take(d datagram, bytes int, at int64, dscp int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d.flow < 0 || d.flow >= len(t.flows) || !t.flows[d.flow].take(d, bytes, at, dscp) {
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

// bytes are those of datagrams that came and that were sent.
func (t *test) bytes() (sum int64) {
	for _, f := range t.soFar() {
		sum += f.Bytes
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return sum + t.sent
}

// account is what came of a test, once. What came so far can be asked for meanwhile.
func (t *test) account(sent []int) Account {
	t.mu.Lock()
	a, all := Account{Foreign: t.foreign, Flows: make([]FlowAccount, len(t.flows))}, slices.Clone(t.flows)
	for i := range t.flows { // what comes now is too late
		t.flows[i].most, t.flows[i].order, t.flows[i].delays, t.flows[i].intervals = 0, nil, nil, nil
	}
	t.mu.Unlock()
	for i := range all {
		a.Flows[i] = all[i].account(sent[i])
	}
	return a
}

// control leads a test to its account.
func (t *test) control(ctx context.Context, conn net.Conn, s *Server) (Account, error) {
	over := time.Now().Add(t.terms.Longest)
	_ = conn.SetDeadline(earlier(over, t.silent))
	if _, err := conn.Write(welcome{verdict: goAhead, number: t.number}.encode()); err != nil {
		return Account{}, fmt.Errorf("let test in: %w", err)
	}
	ctx, stop := context.WithDeadline(ctx, over.Add(t.silent))
	var beside sync.WaitGroup
	defer beside.Wait()
	defer stop()
	beside.Go(func() { t.tell(ctx, conn, s.beat) })
	if t.reversed != nil {
		if err := t.awaitKnocks(ctx, conn); err != nil {
			return Account{}, err
		}
		beside.Go(func() { t.reverse(ctx, conn, s.datagrams) })
	}
	sent, err := t.listen(conn, over)
	if err != nil {
		return Account{}, err
	}
	select {
	case <-time.After(t.terms.Linger):
	case <-ctx.Done():
		return Account{}, context.Cause(ctx)
	}
	s.forget(t)
	return s.reckon(ctx, t, sent)
}

// awaitKnocks waits until it is known where each flow in reverse goes to, and tells the client.
func (t *test) awaitKnocks(ctx context.Context, conn net.Conn) error {
	select {
	case <-t.open:
	case <-time.After(t.silent):
		return errors.New("await datagrams of the flows that go to the client: none came")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if _, err := conn.Write(openMark); err != nil {
		return fmt.Errorf("let flows begin: %w", err)
	}
	return nil
}

// reverse sends the flows in reverse, to the ports that knocked, and tells what was sent. Where it cannot, the connection is closed, by which listen ends.
func (t *test) reverse(ctx context.Context, conn net.Conn, from *sock.Answering) {
	all, err := t.sendFrom(ctx, from)
	t.mu.Lock()
	for i := range all {
		t.sent += all[i].Bytes
	}
	t.mu.Unlock()
	if err == nil {
		_ = conn.SetWriteDeadline(time.Now().Add(t.silent))
		_, err = conn.Write(encodeSent(t.reversed, all))
	}
	if err != nil {
		conn.Close()
	}
}

func (t *test) sendFrom(ctx context.Context, from *sock.Answering) ([]Sent, error) {
	outlets := make([]outlet, len(t.knocks))
	for i := range outlets {
		if !t.knocks[i].From.IsValid() {
			continue
		}
		replies, err := from.Replies(t.knocks[i])
		if err != nil {
			return nil, fmt.Errorf("open flow: %w", err)
		}
		outlets[i] = outlet{raw: replies.Socket, replies: &replies}
	}
	return send(ctx, t.number, t.reversed, t.terms, true, outlets)
}

// tell says every so often what has come, until ctx ends. Where it cannot, the connection is closed, by which listen ends.
func (t *test) tell(ctx context.Context, conn net.Conn, every time.Duration) {
	each := time.NewTicker(every)
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
