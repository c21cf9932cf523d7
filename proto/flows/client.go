package flows

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/sock"
	"github.com/pathwise-net/pathwise/traffic"
)

// Client makes tests with a responder. The zero value, but for Terms, does so without a secret.
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
	t := &Test{Local: at, Remote: netip.AddrPortFrom(to.Addr().Unmap(), to.Port()), client: c, conn: conn}
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
	t.number = w.number
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

// Run sends the flows of the script that the terms are of, and returns what came of them. An error is of what ended it before its time: what is known
// by then is in the Outcome. It ends every goroutine, and the test.
func (t *Test) Run(ctx context.Context, script *traffic.Script) (Outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { t.conn.Close() })()
	defer t.conn.Close()
	var o Outcome
	hearing := make(chan error, 1)
	go func() {
		err := t.hear(ctx, &o)
		if err != nil {
			cancel(err)
		}
		hearing <- err
	}()
	var beating sync.WaitGroup
	over, stop := context.WithCancel(ctx)
	beating.Go(func() { t.beat(over) })
	var err error
	o.Sent, err = send(ctx, t.number, t.Local.Addr(), t.Remote, script)
	stop()
	beating.Wait()
	if err == nil {
		end := append([]byte{}, endMark...)
		for i := range o.Sent {
			end = binary.BigEndian.AppendUint32(end, uint32(o.Sent[i].Packets))
		}
		_ = t.conn.SetWriteDeadline(time.Now().Add(t.client.silence))
		if _, err = t.conn.Write(end); err != nil {
			err = fmt.Errorf("tell the end: %w", endpoint.Explain(ctx, err))
		}
	}
	if err != nil {
		cancel(err) // ends what is heard
	}
	if heard := <-hearing; err == nil {
		err = heard
	}
	return o, err
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

// hear takes what the far end tells, until the account has come.
func (t *Test) hear(ctx context.Context, o *Outcome) error {
	mark := make([]byte, markBytes)
	soFar, account := make([]byte, soFarBytes*len(t.client.Terms.Flows)), make([]byte, accountBytes(len(t.client.Terms.Flows)))
	read := func(into []byte) error {
		if _, err := io.ReadFull(t.conn, into); err != nil {
			return t.explain(ctx, err)
		}
		return nil
	}
	for {
		_ = t.conn.SetReadDeadline(time.Now().Add(t.client.silence))
		if err := read(mark); err != nil {
			return err
		}
		switch {
		case bytes.Equal(mark, soFarMark):
			if err := read(soFar); err != nil {
				return err
			}
			o.SoFar = decodeSoFar(soFar)
			if t.client.OnSoFar != nil {
				t.client.OnSoFar(o.SoFar)
			}
		case bytes.Equal(mark, accountMark):
			if err := read(account); err != nil {
				return err
			}
			a, err := decodeAccount(account)
			if err == nil {
				o.Account = &a
			}
			return err
		default:
			return errForeign
		}
	}
}

// explain says of a far end that was silent for too long what that means.
func (t *Test) explain(ctx context.Context, err error) error {
	if err = endpoint.Explain(ctx, err); errors.Is(err, endpoint.ErrSilent) {
		return fmt.Errorf("the far end, or the path to it, is gone: nothing was heard of it for %v: %w", t.client.silence, err)
	}
	return err
}
