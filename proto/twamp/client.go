package twamp

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
)

// Client makes tests with a TWAMP server.
type Client endpoint.Client

// Test is a control connection of a client. One goroutine uses it, except that any may call Close.
type Test struct {
	Mode          control.Mode   // with reflected octets and symmetrical sizes where the server offers them
	Local, Remote netip.AddrPort // of the control connection

	link     *endpoint.Link
	sessions int
}

// Session is one that a server accepted.
type Session struct {
	ID     control.SID
	Terms  Terms
	Mode   control.Mode
	Remote netip.AddrPort // that packets go to, and answers come from
	Sealer *Sealer
}

// Connect sets up a control connection to the first of some addresses that answers. When ctx ends it is closed. Errors are those of packages
// endpoint and control.
func (c Client) Connect(ctx context.Context, ends []netip.AddrPort) (*Test, error) {
	link, err := endpoint.Client(c).Connect(ctx, ends, Modes, Features)
	if err != nil {
		return nil, err
	}
	return &Test{Mode: link.Mode, Local: endpoint.AddrPort(link.Conn.LocalAddr()), Remote: endpoint.AddrPort(link.Conn.RemoteAddr()), link: link}, nil
}

// Request asks for a session, whose packets the caller sends from the Port of its terms at the local address of the test. Terms that cannot be
// are an error of package input.
func (t *Test) Request(terms Terms) (*Session, error) {
	if err := terms.Validate(t.Mode); err != nil {
		return nil, err
	}
	q := terms.request(t.Mode)
	q.IPv6 = t.Local.Addr().Is6()
	q.SenderAddress, q.ReceiverAddress = t.Local.Addr(), t.Remote.Addr()
	b := make([]byte, control.AcceptedBytes)
	if err := t.link.Ask(q.Encode(), b); err != nil {
		return nil, fmt.Errorf("ask for session: %w", err)
	}
	a, err := control.DecodeAccepted(b)
	if err == nil {
		err = a.Accept.Check("session")
	}
	if err != nil {
		return nil, fmt.Errorf("ask for session: %w", err)
	}
	t.sessions++
	return &Session{ID: a.SID, Terms: terms, Mode: t.Mode, Remote: netip.AddrPortFrom(t.Remote.Addr(), a.Port),
		Sealer: NewSealer(t.Mode, t.link.Keys, a.SID)}, nil
}

// Start has the server answer the packets of all sessions.
func (t *Test) Start() error {
	b := make([]byte, control.StartStopBytes)
	err := t.link.Ask(control.EncodeStart(), b)
	if err == nil {
		err = control.Accept(b[0]).Check("start of sessions")
	}
	if err != nil {
		return fmt.Errorf("start sessions: %w", err)
	}
	return nil
}

// Stop ends all sessions. The server goes on answering for as long as their timeout, or until Close.
func (t *Test) Stop() error {
	t.link.Arm()
	if err := t.link.Send(control.EncodeStop(control.OK, uint32(t.sessions))); err != nil {
		return fmt.Errorf("end sessions: %w", err)
	}
	t.sessions = 0
	return nil
}

// Done is closed when the server goes away, or the context of the test ends, which a caller who sends packets without a word on the control
// connection would not see: it reads what the server has no cause to send. It is called once, between Start and Stop.
func (t *Test) Done() <-chan struct{} {
	done := make(chan struct{})
	_ = t.link.Conn.SetDeadline(time.Time{})
	go func() { // ends with the connection, at the latest with Close
		defer close(done)
		_, _ = t.link.Conn.Read(make([]byte, 1))
	}()
	return done
}

// Close closes the connection.
func (t *Test) Close() { t.link.Close() }
