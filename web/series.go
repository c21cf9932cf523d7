package web

import (
	"context"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// seriesDoc is the distribution of one metric of a pair, step by step.
type seriesDoc struct {
	StepSeconds float64       `json:"step_seconds"`
	Quantiles   []float64     `json:"quantiles"`
	Buckets     []bucketDoc   `json:"buckets"`
	Gaps        []archive.Gap `json:"gaps"`
}

type bucketDoc struct {
	archive.Bucket
	QuantilesOf string  `json:"quantiles_of" enum:"samples,runs" doc:"What quantiles are of: all samples behind the metric, such as the round trip of every packet, as value is where samples are told of; or the values of the runs, one of each, as min, mean and max are"`
	Weight      float64 `json:"weight,omitempty" doc:"Where weights are asked for: what the value counts for beside those of other buckets. Of a ratio of counts it is what was counted, such as packets sent, so that the sum of values times weights, by the sum of weights, is what was lost of all that was sent; else it is count"`
}

type seriesInput struct {
	Source string `path:"source"`
	Target string `path:"target"`
	Test   string `query:"test"`
	Tool   string `query:"tool"`
	PlannedRole
	OfSubject
	Metric string `query:"metric" required:"true" minLength:"1" example:"rtt_median_seconds"`
	From   moment `query:"from" required:"true" doc:"The beginning"`
	To     moment `query:"to" doc:"The end; now, where none is given"`
	Step   length `query:"step" doc:"Of a bucket; the whole span in one, where none is given"`
	Gaps   bool   `query:"gaps" default:"true" doc:"Whether to say why there is nothing where there is nothing, which takes longer than the values"`
	Least  length `query:"least_gap" doc:"How long a gap is that is told of; any, where none is given. A four hundredth of a long span takes a fifth of the time"`
	Weight bool   `query:"weights" doc:"Whether to say what each value counts for beside the others"`
	// More than 100 are more than any drawing shows; each is looked up in every bucket.
	Quantiles []float64 `query:"quantiles" minimum:"0" maximum:"1" maxItems:"100" doc:"Of each bucket: of all its samples where runs say them, else of its runs, as quantiles_of says; as a smoke graph needs them (0.05,0.25,0.5,0.75,0.95), where none are given"`
}

func (s *Server) series(ctx context.Context, in *seriesInput) (*body[seriesDoc], error) {
	now := time.Now()
	match := archive.Key{Source: in.Source, Target: in.Target, Test: in.Test, Tool: in.Tool, Metric: measure.Metric(in.Metric)}.Exactly()
	match.Role, match.Subject = in.Role, in.Subject
	query := archive.SeriesQuery{Match: match, From: in.From.At(now), To: in.To.At(now), Step: in.Step.Duration, Quantiles: in.Quantiles}
	if in.To.IsZero() {
		query.To = now
	}
	if len(query.Quantiles) == 0 {
		query.Quantiles = []float64{0.05, 0.25, 0.5, 0.75, 0.95}
	}
	if !query.From.Before(query.To) {
		return nil, fault(badField("from", query.From.Format(time.RFC3339Nano), "a time before to"))
	}
	series, err := s.Archive.Series(ctx, query)
	if err != nil {
		return nil, fault(err)
	}
	gaps := []archive.Gap{}
	if in.Gaps {
		if gaps, err = s.Archive.Gaps(ctx, archive.GapQuery{Match: match, From: query.From, To: query.To, Least: in.Least.Duration}); err != nil {
			return nil, fault(err)
		}
	}
	buckets := make([]bucketDoc, len(series.Buckets))
	for i, b := range series.Buckets {
		buckets[i] = bucketDoc{Bucket: b, QuantilesOf: "runs"}
		if b.OfSamples {
			buckets[i].QuantilesOf = "samples"
		}
	}
	if in.Weight {
		if err := s.weigh(ctx, buckets, query, measure.Metric(in.Metric)); err != nil {
			return nil, fault(err)
		}
	}
	return &body[seriesDoc]{seriesDoc{series.Step.Seconds(), query.Quantiles, buckets, gaps}}, nil
}

// weigh says what each bucket of an answer counts for beside the others.
func (s *Server) weigh(ctx context.Context, buckets []bucketDoc, query archive.SeriesQuery, metric measure.Metric) error {
	for i := range buckets {
		buckets[i].Weight = float64(buckets[i].Count)
	}
	merge := metric.Merge()
	if merge.How != measure.MergeShare {
		return nil
	}
	query.Match.Metric, query.Quantiles = string(merge.Under), nil
	counted, err := s.Archive.Series(ctx, query)
	if err != nil {
		return err
	}
	weighByCounts(buckets, counted.Buckets)
	return nil
}

// weighByCounts gives buckets of a ratio the weight of what was counted below it. Runs without counts weigh as much as others do on
// average, as in the value of a bucket.
func weighByCounts(buckets []bucketDoc, counted []archive.Bucket) {
	sums, sum, runs := map[time.Time]archive.Bucket{}, 0.0, uint64(0)
	for _, c := range counted {
		sums[c.Start] = c
		sum += c.Mean * float64(c.Count)
		runs += c.Count
	}
	if runs == 0 || sum <= 0 {
		return
	}
	for i := range buckets {
		c := sums[buckets[i].Start]
		own := min(c.Count, buckets[i].Count) // what counts packets may say nothing of those that were lost
		buckets[i].Weight = c.Mean*float64(own) + sum/float64(runs)*float64(buckets[i].Count-own)
	}
}
