package web

import (
	"context"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

type comparedInput struct {
	Source string `path:"source"`
	Target string `path:"target"`
	Span
	Metric    []string `query:"metric" maxItems:"8" doc:"What is compared; what the path carries, where none is given: throughput, capacity, available bandwidth and what passes for long"`
	Reference string   `query:"reference" doc:"The tool that the others are held against; the one with most runs that has the first metric, where none is given"`
}

type comparedDoc struct {
	Tools []analysis.Tool `json:"tools" doc:"Those that move least first"`
}

// carries are the metrics of what a path carries.
var carries = []measure.Metric{measure.Throughput, measure.Capacity, measure.Available, measure.Sustained}

// comparedRuns is how many runs of a tool are compared: the newest. Their Results are read whole.
const comparedRuns = 30

// compared tells how the tools that measured the same from one host to another differ.
func (s *Server) compared(ctx context.Context, in *comparedInput) (*body[comparedDoc], error) {
	now := time.Now()
	from, to := in.From.At(now), in.To.At(now)
	if in.To.IsZero() {
		to = now
	}
	if in.From.IsZero() {
		from = to.Add(-measuredSpan)
	}
	metrics := carries
	if len(in.Metric) > 0 {
		metrics = nil
		for _, m := range in.Metric {
			metrics = append(metrics, measure.Metric(m))
		}
	}
	measured, err := s.Archive.Measured(ctx, archive.MeasuredQuery{Match: archive.Match{Source: in.Source, Target: in.Target}, From: from, To: to})
	if err != nil {
		return nil, fault(err)
	}
	var asked []string
	var results []*measure.Result
	for _, m := range measured {
		if !slices.Contains(metrics, m.Metric) || slices.Contains(asked, m.Tool) || m.Runs == 0 {
			continue
		}
		asked = append(asked, m.Tool)
		page, err := s.Archive.Results(ctx, archive.ResultQuery{Source: in.Source, Target: in.Target, Tool: m.Tool, From: from, To: to, Limit: comparedRuns})
		if err != nil {
			return nil, fault(err)
		}
		results = append(results, page.Results...)
	}
	return &body[comparedDoc]{comparedDoc{analysis.CompareTools(results, metrics, in.Reference)}}, nil
}
