package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/admission"
)

const (
	// maxConnections is how many connections a listener has open at a time. Each takes up to 20 kB while it says nothing, so that
	// all of them take 80 MB.
	maxConnections = 4096
	// maxFromNetwork is how many of them one network may have: of a lecture's 80 browsers behind one address, each of which
	// opens at most six to a server. A reverse proxy of the listener's own has no such limit.
	maxFromNetwork = 512
	// limitWait is how long who was refused had better wait: most connections serve one page, which is fetched by then.
	limitWait = 5 * time.Second
)

// limitError says that there is too much of something at once, and how long to wait.
type limitError struct {
	status int
	why    string
	after  time.Duration
}

func (e *limitError) Error() string { return e.why }

var (
	errFullListener = &limitError{http.StatusServiceUnavailable, "too many connections to this controller; try again in 5 s", limitWait}
	errFullNetwork  = &limitError{http.StatusTooManyRequests, "too many connections from this network; try again in 5 s", limitWait}
)

// connections counts the connections of a listener. One above a limit may ask once, to be told to wait; an eighth above it, connections
// are closed at once, so that also those that never ask are bounded.
type connections struct{ *admission.Connections }

func newConnections(all, each int, exempt func(netip.Addr) bool) connections {
	return connections{admission.NewConnections(admission.Limits{All: all, Each: each, Exempt: exempt, Spare: true})}
}

type refusalKey struct{}

// opened counts a connection that was just accepted, as http.Server.ConnContext.
func (c connections) opened(ctx context.Context, conn net.Conn) context.Context {
	in, err := c.Enter(conn)
	switch {
	case !in:
		_ = conn.Close() // which the server finds out, and leaves
	case errors.Is(err, admission.ErrAll):
		ctx = context.WithValue(ctx, refusalKey{}, errFullListener)
	case err != nil:
		ctx = context.WithValue(ctx, refusalKey{}, errFullNetwork)
	}
	return ctx
}

// changed forgets a connection that ended, as http.Server.ConnState.
func (c connections) changed(conn net.Conn, state http.ConnState) {
	if state == http.StateClosed || state == http.StateHijacked {
		c.Leave(conn)
	}
}

// admitted refuses the calls of connections that are too many, and closes these.
func admitted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if full, is := r.Context().Value(refusalKey{}).(*limitError); is {
			w.Header().Set("Connection", "close")
			refuse(w, fault(full))
			return
		}
		next.ServeHTTP(w, r)
	})
}
