package web

import (
	"context"
	"time"

	"github.com/pathwise-net/pathwise/archive"
)

type measuredDoc struct {
	Measured []archive.Measured `json:"measured" doc:"By metric; of each, the tool with most runs first"`
}

type measuredInput struct {
	Which
	Span
	OfSubject
	Role string `query:"role" doc:"Why it was measured, as a pattern: planned, demand, diagnosis/STEP; for whatever reason, where none is given"`
}

// measuredSpan is how far back runs are counted where nothing is said.
const measuredSpan = 7 * 24 * time.Hour

// measured tells which metrics there are.
func (s *Server) measured(ctx context.Context, in *measuredInput) (*body[measuredDoc], error) {
	now := time.Now()
	q := archive.MeasuredQuery{Match: archive.Match{Source: in.Source, Target: in.Target, Test: in.Test, Tool: in.Tool, Role: in.Role,
		Subject: in.Subject},
		From: in.From.At(now), To: in.To.At(now)}
	if in.To.IsZero() {
		q.To = now
	}
	if in.From.IsZero() {
		q.From = q.To.Add(-measuredSpan).Truncate(time.Hour) // what is of whole hours is counted soonest
	}
	found, err := s.Archive.Measured(ctx, q)
	if err != nil {
		return nil, fault(err)
	}
	return &body[measuredDoc]{measuredDoc{found}}, nil
}
