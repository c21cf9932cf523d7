package iperf3

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// A stock server closes its listening socket after each test and opens another one. What connected meanwhile is reset before anything was
// said, and so is, at times, what the server turns away as busy: it does not read what the client has said. A client tries again then: it
// waits for openPause first, then twice as long each time, up to openPauses times, that is for 0.75 s in all.
const (
	openPause  = 50 * time.Millisecond // a stock server on a busy machine has opened its socket by then
	openPauses = 4
)

// open opens the control connection, up to the server's first word.
func (r *clientRun) open(ctx context.Context, ends []netip.AddrPort) error {
	pause, cut := openPause, false
	for range openPauses {
		err := r.tryOpen(ctx, ends)
		cut = cut || errors.Is(explain(err), ErrPeerLost)
		if err == nil || !cut || !gettingReady(explain(err)) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
		pause *= 2
	}
	return r.tryOpen(ctx, ends)
}

// gettingReady reports whether an error is what a server that gets ready for its next test causes.
func gettingReady(err error) bool {
	return errors.Is(err, ErrPeerLost) || errors.Is(err, ErrRefused) || errors.Is(err, ErrBusy)
}

// tryOpen connects and sends the cookie, which the server answers by asking for parameters. These follow the cookie at once, as every server
// reads them from the same bytes, only later: that saves a round trip. It leaves no connection with an error.
func (r *clientRun) tryOpen(ctx context.Context, ends []netip.AddrPort) (err error) {
	dialer := net.Dialer{Timeout: r.config.Timeout, KeepAliveConfig: keepAlive}
	dialer.Control = r.setUpControl
	conn, err := sock.Connect(ctx, &dialer, ends)
	if dialTimedOut(err) && ctx.Err() == nil {
		return ErrNoAnswer
	}
	if err != nil {
		return err
	}
	r.ctl = &control{conn: conn, ctx: ctx, timeout: r.config.Timeout}
	defer r.ctl.watch()()
	defer func() {
		if err != nil {
			conn.Close()
		}
	}()
	r.report.Local, r.report.Remote = addrPort(conn.LocalAddr()), addrPort(conn.RemoteAddr())
	if r.config.Cookie != "" {
		r.cookie, err = ParseCookie(r.config.Cookie)
	} else {
		r.cookie, err = NewCookie(rand.Reader)
	}
	if err != nil {
		return err
	}
	opening := bytes.NewBuffer(slices.Clone(r.cookie[:]))
	if r.config.Group == "" { // those of a group are agreed on when all receivers are reached
		if err := r.ask(opening); err != nil {
			return err
		}
	}
	if err := r.ctl.arm(r.config.Timeout); err != nil {
		return err
	}
	r.asked = time.Now()
	if _, err := conn.Write(opening.Bytes()); err != nil {
		return err
	}
	return r.ctl.expect(ParamExchange)
}
