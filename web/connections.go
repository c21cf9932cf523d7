package web

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
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
type connections struct {
	all, each int
	exempt    func(netip.Addr) bool // from the limit of a network

	mu       sync.Mutex
	networks map[net.Conn]netip.Prefix
	open     map[netip.Prefix]int
}

func newConnections(all, each int, exempt func(netip.Addr) bool) *connections {
	return &connections{all: all, each: each, exempt: exempt, networks: map[net.Conn]netip.Prefix{}, open: map[netip.Prefix]int{}}
}

type refusalKey struct{}

// opened counts a connection that was just accepted, as http.Server.ConnContext.
func (c *connections) opened(ctx context.Context, conn net.Conn) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	network, limit := netip.Prefix{}, c.all
	if at, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil {
		network = networkOf(conn.RemoteAddr().String())
		if !c.exempt(at.Addr()) {
			limit = c.each
		}
	}
	c.networks[conn] = network
	c.open[network]++
	all, each := len(c.networks), c.open[network]
	switch {
	case all > above(c.all) || each > above(limit):
		_ = conn.Close() // which the server finds out, and leaves
	case all > c.all:
		ctx = context.WithValue(ctx, refusalKey{}, errFullListener)
	case each > limit:
		ctx = context.WithValue(ctx, refusalKey{}, errFullNetwork)
	}
	return ctx
}

// above is where connections are closed that were to be refused.
func above(limit int) int { return limit + limit/8 }

// changed forgets a connection that ended, as http.Server.ConnState.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	network, known := c.networks[conn]
	if !known {
		return
	}
	delete(c.networks, conn)
	if c.open[network]--; c.open[network] == 0 {
		delete(c.open, network)
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
