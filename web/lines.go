package web

import (
	"context"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// streamed answers with a line of JSON for each thing that do shows while it goes on. A client that goes away ends it. An error
// before the first line is an answer of its own, one after it the last line, as failed makes it.
func streamed[L any](ctx context.Context, do func(ctx context.Context, show func(L)) error, failed func(error) L) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(answer huma.Context) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		_, w := humago.Unwrap(answer)
		out := newPatient(w)
		show := func(line L) {
			if !out.any {
				answer.SetHeader("Content-Type", jsonLines)
			}
			if json.NewEncoder(out).Encode(line) != nil || out.control.Flush() != nil {
				cancel() // nobody reads it
			}
		}
		err := do(ctx, show)
		switch {
		case err == nil:
		case out.any:
			show(failed(err))
		default:
			out.fail(err)
		}
	}}
}
