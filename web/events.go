package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/measure"
)

type eventsInput struct {
	Samples bool `query:"samples" default:"true" doc:"Whether Results come with their samples, which may be large"`
}

// events streams what happens, as server-sent events (HTML, section 9.2): result, miss, host, plan. Between them it says that it
// lives, for proxies. It ends with the right to it.
func (s *Server) events(ctx context.Context, in *eventsInput) (*huma.StreamResponse, error) {
	return &huma.StreamResponse{Body: func(answer huma.Context) {
		_, w := humago.Unwrap(answer)
		s.streaming(ctx, w, func() { s.tell(ctx, w, in.Samples) })
	}}, nil
}

// tell writes what happens until ctx or the visitor's right to it ends.
func (s *Server) tell(ctx context.Context, w http.ResponseWriter, samples bool) {
	events, end := s.Control.Events()
	defer end()
	tick := s.beats()
	defer tick.Stop()
	live(w, "text/event-stream")
	text := []byte(":\n\n") // a comment, so that the answer begins: the client knows that it misses nothing from here on
	for {
		if _, err := w.Write(text); err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if !visitorOf(ctx).reauthorized() {
				return
			}
			text = []byte(":\n\n")
		case e := <-events:
			text = eventText(e, samples)
		}
	}
}

// eventText is an event as it is sent; without what cannot be written, it is empty.
func eventText(e control.Event, samples bool) []byte {
	if e.Result != nil && !samples {
		r := *e.Result // which others have, too
		r.Samples = measure.Samples{}
		e.Result = &r
	}
	text, err := json.Marshal(e)
	if err != nil {
		return nil
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", e.Kind(), text)
}
