package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/pathwise-net/pathwise/measure"
)

type eventsInput struct {
	Samples bool `query:"samples" default:"true" doc:"Whether Results come with their samples, which may be large"`
}

// events streams what happens, as server-sent events (HTML, section 9.2): result, miss, host, plan.
func (s *Server) events(ctx context.Context, in *eventsInput) (*huma.StreamResponse, error) {
	return &huma.StreamResponse{Body: func(answer huma.Context) {
		events, end := s.Control.Events()
		defer end()
		_, w := humago.Unwrap(answer)
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Cache-Control", "no-store")
		out := newPatient(w)
		// A comment, so that the answer begins: the client knows that it misses nothing from here on.
		if _, err := io.WriteString(out, ":\n\n"); err != nil || out.control.Flush() != nil {
			return
		}
		for {
			select {
			case <-ctx.Done():
				return
			case e := <-events:
				if e.Result != nil && !in.Samples {
					r := *e.Result // which others have, too
					r.Samples = measure.Samples{}
					e.Result = &r
				}
				text, err := json.Marshal(e)
				if err != nil {
					continue
				}
				if _, err := fmt.Fprintf(out, "event: %s\ndata: %s\n\n", e.Kind(), text); err != nil {
					return
				}
				if out.control.Flush() != nil {
					return
				}
			}
		}
	}}, nil
}
