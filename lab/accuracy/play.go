package accuracy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/scenario"
	"github.com/pathwise-net/pathwise/measure"
)

// mostTries is how often a sample is played whose lab this machine could not carry.
const mostTries = 3

// Play plays a sample, again where the emulator was the bottleneck, and returns what came of it. Self are the words that run pathwise.
// The error is that of ctx only: what else goes wrong stands in the record.
func Play(ctx context.Context, s *Sample, self []string) (*Record, error) {
	for try := 1; ; try++ {
		r := playOnce(ctx, s, self)
		r.Tries = try
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if try == mostTries || r.Failed == "" && !r.Emulator.Bottleneck {
			return r, nil
		}
	}
}

func playOnce(ctx context.Context, s *Sample, self []string) *Record {
	r := &Record{Sample: *s, Recording: diagnose.Recording{Schema: diagnose.RecordingSchema, Fault: s.Name,
		Finding: s.Expect[0].Finding, Family: s.Expect[0].Family}}
	c, err := s.Parse()
	if err != nil {
		r.Failed = err.Error()
		return r
	}
	began := readLoad()
	p := &player{Record: r, self: self}
	report, err := scenario.Run(ctx, c, scenario.Options{Self: self, Diagnosed: p.keep, After: p.after})
	r.Load = readLoad().since(began)
	if report != nil && report.Truth != nil {
		r.Emulator = report.Truth.Emulator
	}
	switch {
	case err != nil:
		r.Failed = err.Error()
	case report.Verdict == scenario.Fail || report.Verdict == scenario.Skip:
		r.Failed = report.Why
	case r.Verdict == "":
		r.Failed = "no diagnosis was made"
	}
	return r
}

// player fills a record while its sample's case is played.
type player struct {
	*Record
	self      []string
	diagnosis diagnose.Diagnosis
}

// keep takes the diagnosis.
func (p *player) keep(text []byte) error {
	if err := document.JSON(text, diagnose.MostBytes, &p.diagnosis); err != nil {
		return fmt.Errorf("read diagnosis: %w", err)
	}
	p.Results, p.Verdict = p.diagnosis.Results, p.diagnosis.Verdict
	p.Seconds = took(p.Results)
	return nil
}

// took is how long a diagnosis measured, from its first Result's beginning to its last one's end.
func took(results []*measure.Result) float64 {
	if len(results) == 0 {
		return 0
	}
	from, to := results[0].Started, results[0].Started
	for _, r := range results {
		if end := r.Started.Add(time.Duration(r.DurationSeconds * float64(time.Second))); end.After(to) {
			to = end
		}
	}
	return to.Sub(from).Seconds()
}

// after reads what was measured beside the diagnosis, and follows its advice while the lab stands.
func (p *player) after(ctx context.Context, stage *scenario.Stage) error {
	if p.Sample.Binds != Always {
		var err error
		if p.Without, err = p.measured(stage, "without"); err != nil {
			return err
		}
		switch p.Sample.Binds {
		case ByTime:
			p.With, err = p.measured(stage, "with")
		case ByRate:
			p.With, err = goodput(p.Results)
		}
		if err != nil {
			return err
		}
	}
	if f := p.diagnosis.First(); f != nil && f.Predicted != nil && len(f.Advice) > 0 {
		p.follow(ctx, stage, f)
	}
	return nil
}

// measured is the goodput or the time of a transaction of the program that the case calls so.
func (p *player) measured(stage *scenario.Stage, name string) (float64, error) {
	r, err := resultOf(stage.Printed(name))
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", name, err)
	}
	if p.Sample.Binds == ByRate {
		return goodput([]*measure.Result{r})
	}
	metric := measure.TransactionMedian
	if p.Sample.Cause == lossOfTransactions { // most of them meet none
		metric = measure.TransactionP95
	}
	v, ok := r.Metrics[metric]
	if !ok {
		return 0, fmt.Errorf("read %s: no %s", name, metric)
	}
	return v, nil
}

func resultOf(text []byte) (*measure.Result, error) {
	var r measure.Result
	if err := document.JSON(text, diagnose.MostBytes, &r); err != nil {
		return nil, err
	}
	return &r, nil
}

// goodput is that of the first transfer to the target; 0 where nothing came through.
func goodput(results []*measure.Result) (float64, error) {
	if r := transferOf(results, measure.Forward); r != nil {
		return r.Metrics[measure.Throughput], nil
	}
	return 0, errors.New("no transfer was made")
}

// transferOf is the first transfer by TCP on a way; nil: there is none.
func transferOf(results []*measure.Result, way measure.Way) *measure.Result {
	for _, r := range results {
		if r.Kind == "throughput" && r.Way == way && r.Parameters["proto"] != "udp" {
			return r
		}
	}
	return nil
}
