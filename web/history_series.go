package web

import (
	"context"
	"time"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
)

// historyMetrics are what a pair is looked at for, and which differences are worth telling: hosts' own delays vary by a tenth of a
// millisecond, and nobody mends a path for a twentieth.
var historyMetrics = []struct {
	metric measure.Metric
	worth  analysis.Worth
}{
	{measure.RTTMin, analysis.Worth{Least: 1e-4, Share: 0.05}},
	{measure.RTTMedian, analysis.Worth{Least: 1e-4, Share: 0.05}},
	{measure.Throughput, analysis.Worth{Share: 0.15}},
	{measure.LossRatio, analysis.Worth{}}, // compared as counts
}

// historySteps are the steps by which the past is read: the finest of which the whole of it has no more than analysis.MostRuns.
var historySteps = []time.Duration{time.Minute, 5 * time.Minute, 10 * time.Minute, 20 * time.Minute, time.Hour, 2 * time.Hour,
	6 * time.Hour, 12 * time.Hour, 24 * time.Hour}

const (
	// leastPast and mostPast bound how much before the span is looked at to learn what the pair's days are like: as much as the span
	// is long.
	leastPast = 7 * 24 * time.Hour
	mostPast  = 60 * 24 * time.Hour
)

// metrics adds the changes of each metric that the pair has.
func (p *past) metrics(ctx context.Context) error {
	begin := p.from.Add(-min(max(p.to.Sub(p.from), leastPast), mostPast))
	step := historySteps[len(historySteps)-1]
	for _, s := range historySteps {
		if p.to.Sub(begin) <= time.Duration(analysis.MostRuns)*s {
			step = s
			break
		}
	}
	match := p.exactly()
	measured, err := p.Archive.Measured(ctx, archive.MeasuredQuery{Match: match, From: begin.Truncate(time.Hour), To: p.to})
	if err != nil {
		return err
	}
	p.looked = []diagnose.Looked{}
	for _, one := range historyMetrics {
		for _, m := range measured {
			if m.Metric != one.metric || m.Runs == 0 {
				continue
			}
			match := match
			match.Tool, match.Metric = archive.Key{Tool: m.Tool}.Exactly().Tool, string(one.metric)
			r := reader{p, ctx, archive.SeriesQuery{Match: match, From: begin.Truncate(step), To: p.to, Step: step}}
			if err := r.changes(m.Tool, one.worth); err != nil {
				return err
			}
			break // of several tools that with most runs, which comes first
		}
	}
	return nil
}

// reader reads one series.
type reader struct {
	*past
	ctx   context.Context
	query archive.SeriesQuery
}

// changes adds what changed within the span.
func (r *reader) changes(tool string, worth analysis.Worth) error {
	metric := measure.Metric(r.query.Match.Metric)
	var found []analysis.Change
	runs, step, err := r.runs(r.query)
	if err != nil {
		return err
	}
	if merge := metric.Merge(); merge.How == measure.MergeShare {
		counts, err := r.counts(merge)
		if err != nil {
			return err
		}
		found = analysis.CountChanges(counts)
	} else {
		found = analysis.Changes(runs, worth)
	}
	r.looked = append(r.looked, diagnose.Looked{Metric: metric, Tool: tool, Runs: len(runs), StepSeconds: step.Seconds()})
	for _, c := range found {
		if !c.To.Add(step).After(r.from) {
			continue
		}
		if err := r.refine(&c, step, metric); err != nil {
			return err
		}
		if err := r.addChange(&c, step, metric); err != nil {
			return err
		}
	}
	return nil
}

// runs are the buckets of a query, each as one run.
func (r *reader) runs(q archive.SeriesQuery) (runs []analysis.Run, step time.Duration, err error) {
	series, err := r.Archive.Series(r.ctx, q)
	if err != nil {
		return nil, 0, err
	}
	for _, b := range series.Buckets {
		runs = append(runs, analysis.Run{At: b.Start, Value: b.Value})
	}
	return runs, series.Step, nil
}

// counts are what is counted behind a ratio: both of runs that say both.
func (r *reader) counts(merge measure.Merge) ([]analysis.Count, error) {
	over, under := map[time.Time]float64{}, []analysis.Count{}
	for _, m := range []measure.Metric{merge.Over, merge.Under} {
		q := r.query
		q.Match.Metric = string(m)
		series, err := r.Archive.Series(r.ctx, q)
		if err != nil {
			return nil, err
		}
		for _, b := range series.Buckets {
			if m == merge.Over {
				over[b.Start] = b.Mean * float64(b.Count)
			} else if of, known := over[b.Start]; known {
				under = append(under, analysis.Count{At: b.Start, Of: min(of, b.Mean*float64(b.Count)), All: b.Mean * float64(b.Count)})
			}
		}
	}
	return under, nil
}

// mostFine is how many buckets are read about a change at the most, to tell when it was.
const mostFine = 10_000

// refine reads the runs about a step one by one.
func (r *reader) refine(c *analysis.Change, step time.Duration, metric measure.Metric) error {
	q := r.query
	q.From, q.To = c.From.Add(-2*step), c.To.Add(3*step)
	if q.To.After(r.to) {
		q.To = r.to
	}
	q.Step = max(time.Second, (q.To.Sub(q.From) / mostFine).Truncate(time.Second))
	if metric.Merge().How == measure.MergeShare || c.Shape != analysis.Step || q.Step >= step {
		return nil
	}
	fine, _, err := r.runs(q)
	if err != nil {
		return err
	}
	c.Refine(fine)
	return nil
}

// addChange adds a change, with the Results on both sides of it.
func (r *reader) addChange(c *analysis.Change, step time.Duration, metric measure.Metric) error {
	last, err := r.resultAt(c.From.Add(-step), c.From.Add(time.Second))
	if err != nil {
		return err
	}
	first, err := r.resultAt(c.To, c.To.Add(step))
	if err != nil {
		return err
	}
	r.add(c.From, c.To, c.Shape == analysis.Creep, step, func(e *diagnose.Event) {
		e.Changed = append(e.Changed, diagnose.Changed{Metric: metric, Shape: c.Shape, Before: c.Before, Now: c.After, Confidence: c.Confidence,
			Last: last, First: first})
	})
	return nil
}

// resultAt is the ID of the newest Result of the series in a time; "" where none is kept.
func (r *reader) resultAt(from, to time.Time) (string, error) {
	m := r.query.Match
	page, err := r.Archive.Results(r.ctx, archive.ResultQuery{Source: m.Source, Target: m.Target, Tool: m.Tool, Role: m.Role, From: from,
		To: to, Limit: 1})
	if err != nil || len(page.Results) == 0 {
		return "", err
	}
	return page.Results[0].ID, nil
}
