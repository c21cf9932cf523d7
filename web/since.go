package web

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

type sinceDoc struct {
	Since []pairSince `json:"since" doc:"In the order of pairs"`
}

// pairSince is since when a pair is beyond a limit.
type pairSince struct {
	archive.Pair
	Since  *time.Time `json:"since" doc:"When the first five minutes began that were beyond it; null: the newest are not, or nothing is known"`
	Longer bool       `json:"longer,omitempty" doc:"It is so since before that, or at least as far back as is looked: a week"`
}

type sinceInput struct {
	Metric string    `query:"metric" required:"true" minLength:"1" example:"rtt_median_seconds"`
	Pairs  []string  `query:"pairs" required:"true" minItems:"1" maxItems:"100" doc:"Each as SOURCE/TARGET"`
	Limits []float64 `query:"limits" required:"true" minItems:"1" maxItems:"100" doc:"Of each pair; one for all of them, where only one is given"`
	Beyond string    `query:"beyond" required:"true" enum:"above,below" doc:"Which values are beyond a limit"`
	At     moment    `query:"at" doc:"The time to look back from; now, where none is given"`
	Test   string    `query:"test" doc:"Names of tests, as a pattern"`
	Tool   string    `query:"tool" doc:"Names of tools, as a pattern"`
	PlannedRole
}

const (
	// sinceStep is how exactly the time is told: the step of a rollup that is kept for months.
	sinceStep = 5 * time.Minute
	// sinceReach is how far back is looked. Values that have been beyond their limit for a week are how the pair usually is.
	sinceReach = 7 * 24 * time.Hour
)

// since tells since when pairs are beyond a limit without a break: back over steps of five minutes. Those without a value, as between
// two runs, are no break.
func (s *Server) since(ctx context.Context, in *sinceInput) (*body[sinceDoc], error) {
	if len(in.Limits) != 1 && len(in.Limits) != len(in.Pairs) || slices.ContainsFunc(in.Limits, math.IsNaN) {
		return nil, fault(badField("limits", fmt.Sprint(in.Limits), "one number, or as many as pairs"))
	}
	to := time.Now()
	if !in.At.IsZero() {
		to = in.At.At(to)
	}
	doc := sinceDoc{Since: make([]pairSince, len(in.Pairs))}
	for i, text := range in.Pairs {
		source, target, cut := strings.Cut(text, "/")
		if !cut || source == "" || target == "" || strings.Contains(target, "/") {
			return nil, fault(badField("pairs", text, "SOURCE/TARGET"))
		}
		limit := in.Limits[min(i, len(in.Limits)-1)]
		match := archive.Key{Source: source, Target: target, Metric: measure.Metric(in.Metric)}.Exactly()
		match.Test, match.Tool, match.Role = in.Test, in.Tool, in.Role
		beyond := func(v float64) bool { return v > limit }
		if in.Beyond == "below" {
			beyond = func(v float64) bool { return v < limit }
		}
		at, longer, err := s.beyondSince(ctx, match, to, beyond)
		if err != nil {
			return nil, fault(err)
		}
		doc.Since[i] = pairSince{archive.Pair{Source: source, Target: target}, at, longer}
	}
	return &body[sinceDoc]{doc}, nil
}

// beyondSince looks back from a time for as long as values are beyond. What began today is found in the first part of the past that
// is read.
func (s *Server) beyondSince(ctx context.Context, match archive.Match, to time.Time, beyond func(float64) bool) (
	since *time.Time, longer bool, err error,
) {
	from := to
	for _, back := range []time.Duration{6 * time.Hour, 2 * 24 * time.Hour, sinceReach} {
		end := from
		from = to.Add(-back).Truncate(sinceStep)
		series, err := s.Archive.Series(ctx, archive.SeriesQuery{Match: match, From: from, To: end, Step: sinceStep})
		if err != nil {
			return nil, false, err
		}
		for _, b := range slices.Backward(series.Buckets) {
			if !beyond(b.Value) {
				return since, false, nil
			}
			since = &b.Start
		}
	}
	return since, since != nil, nil
}
