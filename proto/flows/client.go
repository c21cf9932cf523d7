package flows

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/sock"
	"github.com/pathwise-net/pathwise/traffic"
)

// Client makes tests with a responder. Terms must be set; the zero value of all else makes tests without a secret.
type Client struct {
	Terms   Terms
	Secret  string
	Timeout time.Duration // for the connection and the answer to what it asks for; 0: 5 s
	// OnSoFar, if not nil, is told each second what has come of each flow, by one goroutine.
	OnSoFar func([]SoFar)

	silence time.Duration // in place of PeerTimeout, in tests; 0: that
}

const defaultTimeout = 5 * time.Second

// Test is one that a responder let in.
type Test struct {
	Local, Remote netip.AddrPort // of the control connection

	client Client
	conn   net.Conn
	number number
	near   *test         // what comes in reverse
	open   chan struct{} // closed when the far end knows where flows in reverse go to
	told   chan struct{} // closed when it said what it sent of them
	ended  atomic.Bool   // all was sent, and told: an account may come
}

// Outcome is what is known of a test when it is over, also of one that failed.
type Outcome struct {
	Sent    []Sent
	SoFar   []SoFar  // the last that the far end told, some of which may have been under way; nil: it told none
	Account *Account // nil: it did not come
}

// Begin asks for a test at the first of some addresses that answers. Run or Close ends it.
// Errors, for errors.Is and As: bad input, ErrBusy, *TooMuchError, those of package endpoint.
func (c Client) Begin(ctx context.Context, ends []netip.AddrPort) (*Test, error) {
	if err := c.Terms.Validate(); err != nil {
		return nil, err
	}
	if c.Secret != "" {
		if err := CheckSecret(c.Secret); err != nil {
			return nil, err
		}
	}
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	c.silence = cmp.Or(c.silence, PeerTimeout)
	dialer := &net.Dialer{Timeout: c.Timeout}
	dialer.SetMultipathTCP(false)
	conn, err := sock.Connect(ctx, dialer, ends)
	if err != nil {
		return nil, endpoint.ExplainOpening(ctx, err)
	}
	to, at := conn.RemoteAddr().(*net.TCPAddr).AddrPort(), endpoint.AddrPort(conn.LocalAddr())
	t := &Test{Local: at, Remote: netip.AddrPortFrom(to.Addr().Unmap(), to.Port()), client: c, conn: conn, open: make(chan struct{}), told: make(chan struct{})}
	if err := t.begin(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return t, nil
}

func (t *Test) begin(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { t.conn.Close() })()
	_ = t.conn.SetDeadline(time.Now().Add(t.client.Timeout))
	_, err := t.conn.Write(encodeHello(t.client.Secret, t.client.Terms))
	answer := make([]byte, welcomeBytes)
	if err == nil {
		_, err = io.ReadFull(t.conn, answer)
	}
	if err != nil {
		return endpoint.Explain(ctx, err)
	}
	w, err := decodeWelcome(answer)
	if err != nil {
		return err
	}
	t.number, t.near = w.number, newTest(t.Remote.Addr(), t.client.Terms, nil, t.client.silence)
	switch w.verdict {
	case goAhead:
		return nil
	case busy:
		return ErrBusy
	case tooMuch:
		return &TooMuchError{t.client.Terms.ask(), w.allowed}
	}
	return input.Errorf("script: the responder takes no such terms")
}

// Close ends a test that is not to be run.
func (t *Test) Close() { t.conn.Close() }

// Run sends the flows of the script that the terms are of, has the far end send those in reverse, and returns what came of them. An error is of what
// ended it before its time: what is known by then is in the Outcome. It ends every goroutine, and the test, which lasts no longer than its terms and
// the silence of a far end that is gone.
func (t *Test) Run(ctx context.Context, script *traffic.Script) (Outcome, error) {
	ctx, stop := context.WithTimeoutCause(ctx, t.client.Terms.Longest+t.client.silence, errOverdue)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { t.conn.Close() })()
	defer t.conn.Close()
	in, err := t.openInlets(script)
	if err != nil {
		return Outcome{}, err
	}
	defer in.close()
	var heard Outcome
	hearing := make(chan error, 1)
	go func() {
		err := t.hear(ctx, script, &heard)
		if err != nil {
			cancel(err)
		}
		hearing <- err
	}()
	sent, err := t.exchange(ctx, script, in)
	if err != nil {
		cancel(err) // ends what is heard
	}
	if failed := <-hearing; err == nil {
		err = failed
	}
	in.close()
	return t.conclude(script, in, sent, heard), err
}

// exchange sends and receives until all was sent, and tells the far end so.
func (t *Test) exchange(ctx context.Context, script *traffic.Script, in *inlets) (sent []Sent, err error) {
	if len(in.all) > 0 {
		if err := in.knock(ctx, t); err != nil {
			return nil, err
		}
		in.receive(t)
	}
	var beating sync.WaitGroup
	defer beating.Wait()
	over, stop := context.WithCancel(ctx)
	defer stop()
	beating.Go(func() { t.beat(over) })
	if sent, err = t.sendAll(ctx, script); err != nil {
		return sent, err
	}
	if len(in.all) > 0 {
		select {
		case <-t.told:
		case <-ctx.Done():
			return sent, context.Cause(ctx)
		}
	}
	stop()
	beating.Wait()
	end := append([]byte{}, endMark...)
	for i := range sent {
		end = binary.BigEndian.AppendUint32(end, uint32(sent[i].Packets))
	}
	t.ended.Store(true)
	_ = t.conn.SetWriteDeadline(time.Now().Add(t.client.silence))
	if _, err = t.conn.Write(end); err != nil {
		return sent, fmt.Errorf("tell the end: %w", endpoint.Explain(ctx, err))
	}
	return sent, nil
}

// sendAll sends the flows that go forward.
func (t *Test) sendAll(ctx context.Context, script *traffic.Script) ([]Sent, error) {
	outlets := make([]outlet, len(script.Flows))
	for i := range outlets {
		if script.Flows[i].Reverse {
			continue
		}
		conn, o, err := openOutlet(t.Local.Addr(), t.Remote)
		if err != nil {
			return make([]Sent, len(outlets)), err
		}
		defer conn.Close()
		outlets[i] = o
	}
	return send(ctx, t.number, script, t.client.Terms, false, outlets)
}

// conclude puts together what this end and the far end know.
func (t *Test) conclude(script *traffic.Script, in *inlets, sent []Sent, o Outcome) Outcome {
	if sent == nil {
		sent = make([]Sent, len(script.Flows))
	}
	heard := o.Sent
	o.Sent = sent
	if len(in.all) == 0 {
		return o
	}
	counts := make([]int, len(sent))
	for i := range heard {
		counts[i] = heard[i].Packets
	}
	here := t.near.account(counts)
	o.SoFar = merged(script, o.SoFar, t.near.soFar())
	if o.Account != nil {
		o.Account.Foreign += here.Foreign
	}
	for i, one := range in.all {
		if heard != nil {
			o.Sent[i] = heard[i]
		}
		o.Sent[i].Port = one.Addr().(*net.UDPAddr).AddrPort().Port()
		if o.Account != nil {
			o.Account.Flows[i] = here.Flows[i]
		}
	}
	return o
}

// merged is what came of each flow, where it went to; far may be nil.
func merged(script *traffic.Script, far, near []SoFar) []SoFar {
	all := slices.Clone(near)
	for i := range far {
		if !script.Flows[i].Reverse {
			all[i] = far[i]
		}
	}
	return all
}

// beat says each second that this end is there, until ctx ends. That the connection is lost hear tells.
func (t *Test) beat(ctx context.Context) {
	each := time.NewTicker(beatEvery)
	defer each.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-each.C:
		}
		_ = t.conn.SetWriteDeadline(time.Now().Add(t.client.silence))
		if _, err := t.conn.Write(beatMark); err != nil {
			return
		}
	}
}
