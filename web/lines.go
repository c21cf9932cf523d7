package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// heartbeat is how often what streams says that it lives while nothing happens, and asks whether its caller still may: half of
// what proxies wait by default.
const heartbeat = 30 * time.Second

// beats ticks at each heartbeat; in tests more often.
func (s *Server) beats() *time.Ticker {
	if s.beat > 0 {
		return time.NewTicker(s.beat)
	}
	return time.NewTicker(heartbeat)
}

// live begins an answer that is told as it happens: nobody on the way is to keep it, or to gather it, as nginx does unless told
// by a header of its own.
func live(w http.ResponseWriter, kind string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
}

// streamed answers with a line of JSON for each thing that do shows while it goes on. A client that goes away ends it, and one
// that may not ask for it any more. An error before the first line is an answer of its own, one after it the last line, as failed
// makes it. Between the lines there are empty ones, for proxies.
func streamed[L any](
	ctx context.Context, s *Server, do func(ctx context.Context, show func(L)) error, failed func(error) L,
) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(answer huma.Context) {
		_, w := humago.Unwrap(answer)
		s.streaming(ctx, w, func() {
			out := lineWriter{w: w}
			err := s.follow(ctx, &out, func(ctx context.Context) error { return do(ctx, func(line L) { out.show(line) }) })
			switch {
			case err == nil:
			case out.begun:
				out.show(failed(err))
			default:
				refuse(w, s.veiled(answer.Context(), answer.Operation().OperationID, fault(err)))
			}
		})
	}}
}

// follow does what writes lines for as long as somebody reads them who may.
func (s *Server) follow(ctx context.Context, out *lineWriter, do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out.gone = func() { cancel(nil) }
	var beating sync.WaitGroup
	beating.Go(func() { s.keepUp(ctx, out, cancel) })
	err := do(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errEnded) {
		err = errEnded
	}
	cancel(nil)
	beating.Wait()
	return err
}

// keepUp says between lines that there will be more, and ends what its caller may not ask for any more.
func (s *Server) keepUp(ctx context.Context, out *lineWriter, end context.CancelCauseFunc) {
	tick := s.beats()
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !visitorOf(ctx).reauthorized() {
			end(errEnded)
		}
		out.beat()
	}
}

// lineWriter writes lines of JSON, one at a time, each when it is said.
type lineWriter struct {
	mu    sync.Mutex
	w     http.ResponseWriter
	begun bool
	gone  func() // called when nobody reads
}

func (l *lineWriter) show(line any) {
	text, err := json.Marshal(line)
	if err != nil {
		l.gone()
		return
	}
	l.write(append(text, '\n'), true)
}

// beat writes an empty line, unless what was asked for may still be refused.
func (l *lineWriter) beat() { l.write([]byte{'\n'}, false) }

func (l *lineWriter) write(text []byte, begins bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begun && !begins {
		return
	}
	if !l.begun {
		live(l.w, jsonLines)
		l.begun = true
	}
	if _, err := l.w.Write(text); err != nil || http.NewResponseController(l.w).Flush() != nil {
		l.gone()
	}
}
