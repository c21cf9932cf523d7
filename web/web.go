// Package web answers HTTP for a mesh: the API that command lines, pages and scripts speak.
//
// It asks package control what goes on, package archive what was, and shows both as JSON. It decides nothing, keeps
// nothing and has no pages yet. Who may call is for the listener: `pathwise serve` offers all of it (Handler) on a Unix socket
// that only its own user can open, and on the address that the mesh file names what reads only, and tests for who has a token,
// within the limits that control keeps (Shared).
package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/fleet"
)

// Server answers for one mesh.
type Server struct {
	Control *control.Control
	Archive archive.Archive
	Metrics http.Handler // of /metrics; nil: there is none
	Version string
	Log     *slog.Logger // nil: none
}

// ReadOnly answers what changes nothing and starts nothing.
func (s *Server) ReadOnly() http.Handler {
	mux := http.NewServeMux()
	s.reading(mux)
	return mux
}

// Handler answers everything.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	s.reading(mux)
	mux.HandleFunc("POST /api/v1/runs", s.startRun)
	mux.HandleFunc("POST /api/v1/backup", s.backup)
	return mux
}

// Shared answers what ReadOnly does, and starts tests for callers with a token. secure says that nobody can listen in on the
// way: else no token is taken.
func (s *Server) Shared(secure bool) http.Handler {
	mux := http.NewServeMux()
	s.reading(mux)
	mux.HandleFunc("POST /api/v1/runs", func(w http.ResponseWriter, r *http.Request) { s.startCallersRun(w, r, secure) })
	return mux
}

func (s *Server) reading(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/v1/health", s.health)
	mux.HandleFunc("GET /api/v1/status", s.status)
	mux.HandleFunc("GET /api/v1/hosts", s.hosts)
	mux.HandleFunc("GET /api/v1/pairs", s.pairs)
	mux.HandleFunc("GET /api/v1/pairs/{source}/{target}/series", s.series)
	mux.HandleFunc("GET /api/v1/results", s.results)
	mux.HandleFunc("GET /api/v1/results/{id}", s.result)
	mux.HandleFunc("GET /api/v1/misses", s.misses)
	mux.HandleFunc("GET /api/v1/events", s.events)
	if s.Metrics != nil {
		mux.Handle("GET /metrics", s.Metrics)
	}
}

// Serve answers on a listener until ctx ends, and gives calls under way a second to end. What clients do wrong below HTTP,
// such as in TLS, goes to log.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) error {
	calls, cancel := context.WithCancel(ctx) // what streams ends with ctx, not when its client tires of it
	defer cancel()
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		BaseContext: func(net.Listener) context.Context { return calls },
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelInfo),
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
	err := server.Serve(l)
	if !stop() {
		<-ended
	}
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("answer HTTP: %w", err)
	}
	return nil
}

// patient writes an answer to a client that may be slow, but not for ever: one that takes nothing for writeTimeout is taken
// for gone, so that it holds neither a test nor the archive up.
type patient struct {
	w       http.ResponseWriter
	control *http.ResponseController
	any     bool // something was written
}

func (p *patient) Write(text []byte) (int, error) {
	p.any = p.any || len(text) > 0
	if err := p.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return p.w.Write(text)
}

const (
	// writeTimeout is how long a bad line may stand still while TCP finds its way back.
	writeTimeout = time.Minute
	// idleTimeout is how long a connection is kept for another call: a page's or a scraper's next.
	idleTimeout = 2 * time.Minute
)

// headerTimeout is how long a client may take to say what it wants: as long as anyone on a bad line needs.
const headerTimeout = 10 * time.Second

// reply writes a JSON document.
func (s *Server) reply(w http.ResponseWriter, doc any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(doc); err != nil && s.Log != nil {
		s.Log.Debug("write answer", "error", err)
	}
}

// problem is what a call gets that cannot be done.
type problem struct {
	Error string `json:"error"`
}

// fail answers with the status that an error stands for.
func (s *Server) fail(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(statusOf(err))
	_ = json.NewEncoder(w).Encode(problem{err.Error()})
}

func statusOf(err error) int {
	var bad interface{ BadInput() bool }
	var refusal *fleet.Refusal
	var denial *control.Denial
	switch {
	case errors.As(err, &bad) && bad.BadInput():
		return http.StatusBadRequest
	case errors.Is(err, errNoToken):
		return http.StatusUnauthorized
	case errors.As(err, &denial) && denial.Later:
		return http.StatusTooManyRequests
	case errors.As(err, &denial), errors.As(err, &refusal), errors.Is(err, errInsecure):
		return http.StatusForbidden
	case errors.Is(err, archive.ErrUnknown):
		return http.StatusNotFound
	case errors.Is(err, fleet.ErrAway), errors.Is(err, control.ErrNotFree), errors.Is(err, control.ErrNotReady):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
