// Package endpoint is what both ends of OWAMP (RFC 4656) and of TWAMP (RFC 5357) do alike around a control connection: a server listens, lets
// clients in by its policy and by their keys, and serves each by itself; a client connects to the first address that answers.
//
// What crosses the connection is of package control, what is asked for on it and what follows of packages owamp and twamp.
package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/sock"
)

// Listen listens for a Server at HOST:PORT.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	l, err := config.Listen(ctx, "tcp", address)
	if errors.Is(err, unix.EADDRINUSE) {
		return nil, fmt.Errorf("listen at %s: another program is there; choose another port: %w", address, err)
	}
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w", address, err)
	}
	return l, nil
}

// AddrPort is the address of an end of a connection over TCP.
func AddrPort(a net.Addr) netip.AddrPort {
	to := a.(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(to.Addr().Unmap().WithZone(""), to.Port())
}

// Link is the control connection of a client. One goroutine uses it, except that any may call Close.
type Link struct {
	*control.Connection
	Conn net.Conn
	Trip time.Duration // that the connection took to open

	ctx     context.Context
	unwatch func() bool
	timeout time.Duration
}

// Preferred are the modes that a client asks for, of which the first counts that is offered: the one that it wants, or, where that is 0, as
// well protected as the server offers where there is a secret, else not at all.
func Preferred(m control.Mode, secret []byte) []control.Mode {
	switch {
	case m != 0:
		return []control.Mode{m}
	case len(secret) > 0:
		return []control.Mode{control.Encrypted, control.Authenticated, control.Open}
	}
	return []control.Mode{control.Open}
}

// Connect sets up a control connection to the first of some addresses that answers, each message within a timeout. When ctx ends it is
// closed.
func Connect(ctx context.Context, ends []netip.AddrPort, wish control.Wish, timeout time.Duration) (*Link, error) {
	dialer := &net.Dialer{Timeout: timeout}
	dialer.SetMultipathTCP(false)
	began := time.Now()
	conn, err := sock.Connect(ctx, dialer, ends)
	if err != nil {
		err = Explain(ctx, err)
		if silent := (*explained)(nil); errors.As(err, &silent) && silent.sentinel == ErrSilent {
			return nil, &explained{ErrNoAnswer, silent.cause}
		}
		return nil, err
	}
	l := &Link{Conn: conn, Trip: time.Since(began), ctx: ctx, timeout: timeout}
	l.unwatch = context.AfterFunc(ctx, func() { conn.Close() })
	l.Arm()
	if l.Connection, err = control.Dial(conn, wish); err != nil {
		l.Close()
		return nil, Explain(ctx, err)
	}
	return l, nil
}

// Arm gives the next message its time.
func (l *Link) Arm() { _ = l.Conn.SetDeadline(time.Now().Add(l.timeout)) }

// Ask sends a message and reads the answer to it, which fills answer.
func (l *Link) Ask(message, answer []byte) error {
	l.Arm()
	if err := l.Send(message); err != nil {
		return Explain(l.ctx, err)
	}
	return Explain(l.ctx, l.Receive(answer))
}

// Close closes the connection.
func (l *Link) Close() {
	l.unwatch()
	l.Conn.Close()
}
