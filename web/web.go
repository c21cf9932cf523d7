// Package web answers HTTP for a mesh: the API that command lines, pages and scripts speak.
//
// It asks package control what goes on, package archive what was, and shows both as JSON. It decides nothing and keeps
// nothing. Each operation names the scope that its caller needs (api.go), and each listener says who a caller is (listener.go):
// `pathwise serve` opens one on a Unix socket for its own user, and one on the address that the mesh file names.
//
//	request -> guard -> listener: who -> operation: scope -> control, archive -> JSON -> ETag
package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/web/edit"
	"github.com/pathwise-net/pathwise/web/labs"
)

// Server answers for one mesh.
type Server struct {
	Control  *control.Control
	Archive  archive.Archive
	Accounts *account.Book
	Metrics  http.Handler // of /metrics; nil: there is none
	Labs     *labs.Labs   // of this machine; nil: none are shown
	Config   *edit.Book   // of the mesh file; nil: it is not edited here
	Joining  *Joining     // nil: nobody joins by an invitation
	Version  string
	Log      *slog.Logger // nil: none

	// Known says what is known of addresses, of those alone of which something is, as the mesh file says where to look. It may take some seconds. nil: nothing is.
	Known func(ctx context.Context, addresses []netip.Addr) []measure.AddressInfo
	// Listed is the name of an address in a hosts file, "" if it has none there; it waits for nobody. nil: there is no such file.
	Listed func(netip.Addr) string

	// Backup writes all that the controller needs to go on elsewhere to a new file, encrypted if the passphrase is not empty. nil:
	// of the archive alone.
	Backup func(ctx context.Context, path, passphrase string) error

	beat       time.Duration // of tests; 0: heartbeat
	matrices   answers[*drawing]
	meshRoutes answers[foundChanges] // of all pairs
	meshGraph  answers[routeGraphDoc]
	live       streams
	generated  generatedPast
	watcher    watcher
	summaries  answers[*drawing]
}

const (
	// headerTimeout is how long a client may take to say what it wants: as long as anyone on a bad line needs.
	headerTimeout = 10 * time.Second
	// idleTimeout is how long a connection is kept for another call: a page's or a scraper's next.
	idleTimeout = 2 * time.Minute
	// maxHeader is how much may stand before a call's body: browsers send at most a few kilobytes of cookies.
	maxHeader = 32 << 10
)

// Serve answers on a socket until ctx ends, and gives calls under way a second to end. What clients do wrong below
// HTTP, such as in TLS, goes to log. More connections than a listener may have are refused, but of the owner.
func (l Listener) Serve(ctx context.Context, on net.Listener, h http.Handler, log *slog.Logger) error {
	calls, cancel := context.WithCancel(ctx) // what streams ends with ctx, not when its client tires of it
	defer cancel()
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return calls },
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelInfo),
	}
	if !l.Owner {
		c := newConnections(maxConnections, maxFromNetwork, l.isProxy)
		server.Handler, server.ConnContext, server.ConnState = admitted(h), c.opened, c.changed
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		late, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(late) != nil {
			_ = server.Close()
		}
	})
	err := server.Serve(on)
	if !stop() {
		<-ended
	}
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("answer HTTP: %w", err)
	}
	return nil
}
