// Package endpoint is what both ends of OWAMP (RFC 4656) and of TWAMP (RFC 5357) do alike around a control connection: a server listens, lets
// clients in by its policy and by their keys, and serves each by itself; a client connects to the first address that answers.
//
// What crosses the connection is of package control, what is asked for on it and what follows of packages owamp and twamp. Door, Listen, Explain
// and Clock serve packages of other protocols, too.
package endpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/sock"
)

// Listen listens for a Server at HOST:PORT.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	return ListenAs(ctx, net.ListenConfig{}, address)
}

// ListenAs is Listen for connections of which more is said. They are of one path in any case.
func ListenAs(ctx context.Context, config net.ListenConfig, address string) (net.Listener, error) {
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

// Client is who connects to a server. The zero value connects in open mode.
type Client struct {
	// Mode is how connection and packets are protected; 0: as well as the server offers where there is a secret, else not at all. Whoever is
	// on the path can make a client that leaves it open choose the open mode.
	Mode    control.Mode
	KeyID   string // names the secret
	Secret  []byte
	Timeout time.Duration // for the connection, and for each message on it; 0: 5 s
}

const clientTimeout = 5 * time.Second

// wish is what a client wants of a protocol that has some modes, and of what may come beside them.
func (c Client) wish(has, beside control.Mode) (control.Wish, error) {
	w := control.Wish{Modes: []control.Mode{c.Mode}, Extra: beside, KeyID: c.KeyID, Secret: c.Secret}
	switch {
	case c.Mode&^has != 0:
		return w, input.Errorf("mode %v: the protocol does not have it", c.Mode)
	case c.Mode == 0 && len(c.Secret) > 0:
		w.Modes = []control.Mode{control.Encrypted, control.Authenticated, control.Open}
	case c.Mode == 0:
		w.Modes = []control.Mode{control.Open}
	}
	return w, nil
}

// Connect sets up a control connection to the first of some addresses that answers, of a protocol that has some modes, and of what may come
// beside them. When ctx ends it is closed.
func (c Client) Connect(ctx context.Context, ends []netip.AddrPort, has, beside control.Mode) (*Link, error) {
	wish, err := c.wish(has, beside)
	if err != nil {
		return nil, err
	}
	timeout := cmp.Or(c.Timeout, clientTimeout)
	dialer := &net.Dialer{Timeout: timeout}
	dialer.SetMultipathTCP(false)
	began := time.Now()
	conn, err := sock.Connect(ctx, dialer, ends)
	if err != nil {
		return nil, ExplainOpening(ctx, err)
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
