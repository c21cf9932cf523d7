package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/sock"
)

// segmentFlags name hosts along the path, by which it is divided.
type segmentFlags struct{ points []string }

func (f *segmentFlags) add(c *cobra.Command) {
	c.Flags().StringSliceVar(&f.points, "segments", nil,
		"hosts along the path that answer tests, as HOST[:PORT] with commas between them: also say which part of the path is to blame")
}

const (
	// mostPoints is how many points a path is divided by: each takes ten seconds or so.
	mostPoints = 8
	// pointTransfer is the longest transfer to a point: slow start and first losses take 1 to 2 s, and a round trip to a point is a part
	// of the whole one.
	pointTransfer = 4 * time.Second
)

// read returns a survey of each point, which measures it as the given one measures the whole path.
func (f *segmentFlags) read(c *cobra.Command, v *survey) ([]*survey, error) {
	switch {
	case c.Flags().Changed("segments") && len(f.points) == 0:
		return nil, badFlag("segments", errors.New("want hosts along the path, with commas between them"))
	case len(f.points) > mostPoints:
		return nil, badFlag("segments", fmt.Errorf("%d points: want %d at most", len(f.points), mostPoints))
	case len(f.points) > 0 && v.fetch != nil:
		return nil, badFlag("segments", errors.New("it wants a HOST that answers tests, and not a URL"))
	case len(f.points) > 0 && c.Flags().Changed("budget"):
		return nil, badFlag("budget", errors.New("it is for what is measured to HOST; leave it or --segments out"))
	}
	var points []*survey
	names := []string{v.target}
	for _, text := range f.points {
		host, port, err := sock.SplitHostPort(text)
		if err == nil && slices.Contains(names, host) {
			err = fmt.Errorf("%q: want each host once, and HOST itself not among them", text)
		}
		if err != nil {
			return nil, badFlag("segments", err)
		}
		names = append(names, host)
		p := *v
		p.target, p.asked, p.options = host, maps.Clone(v.asked), probe.Options{} // an input is for HOST
		p.reach, p.far = nil, nil                                                 // and so is what --ssh runs
		p.asked["duration"] = min(v.transfer.Config.Duration, pointTransfer).String()
		if port != 0 {
			p.asked["port"] = port
		}
		points = append(points, &p)
	}
	return points, nil
}

// segments measures to each point what tells which part of the path of a diagnosis is to blame. What was measured, of some points not
// all, comes with an error.
func (v *survey) segments(ctx context.Context, t *diagnose.Target, d *diagnose.Diagnosis) error {
	if len(v.points) == 0 || ctx.Err() != nil {
		return nil
	}
	whole := diagnose.Stretch{Results: d.Results}
	failed := []error{v.evenly(ctx, t, d, &whole)}
	d.Results = whole.Results
	var parts []diagnose.Stretch
	for _, p := range v.points {
		p.family = v.family
		part := diagnose.Stretch{From: diagnose.Here, To: p.target}
		if err := p.stretch(ctx, t, d, &part); err != nil {
			part.Failed = err.Error()
			failed = append(failed, fmt.Errorf("segments: %s: %w", p.target, err))
		}
		parts = append(parts, part)
	}
	v.session.progress("")
	d.Segments = diagnose.JudgePrefixes(d, t, diagnose.Here, v.target, parts)
	for _, part := range parts {
		d.Segments.Results = append(d.Segments.Results, part.Results...)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(failed...)
}

// stretch measures what a path is from here to a point, unless the point is seen not to stand on the route.
func (v *survey) stretch(ctx context.Context, t *diagnose.Target, d *diagnose.Diagnosis, part *diagnose.Stretch) error {
	if _, err := v.settle(ctx); err != nil {
		return err
	}
	for _, s := range diagnose.StretchSteps(d, t, pointTransfer) {
		if s.Kind == "trace" && !diagnose.Answered(part.Results) {
			continue // it would wait for silent routers, and the point may answer no echoes
		}
		r, err := v.step(ctx, s)
		if r != nil {
			part.Results = append(part.Results, r)
		}
		if err != nil {
			return err
		}
		if s.Kind == "trace" && diagnose.OnRoute(d, part.Results) != "" {
			return nil
		}
	}
	if v.failed != nil {
		return v.failed
	}
	return v.evenly(ctx, t, d, part)
}

// evenly sends packets over a part of the path until its losses are known well enough.
func (v *survey) evenly(ctx context.Context, t *diagnose.Target, d *diagnose.Diagnosis, part *diagnose.Stretch) error {
	for {
		s, more := diagnose.StretchStep(d, t, part.Results)
		if !more {
			return nil
		}
		r, err := v.step(ctx, s)
		if r != nil {
			part.Results = append(part.Results, r)
		}
		if err != nil || v.failed != nil {
			return errors.Join(err, v.failed)
		}
	}
}

// printSegments writes the parts of a path, what each leaves to the whole, and which one is to blame.
func printSegments(w io.Writer, s *diagnose.Parts) {
	fmt.Fprintf(w, "\nby its parts, %s: %s over %s; each part must leave %s to the whole\n", s.Way, quantity.FormatRate(s.AchievedBitsPerSecond),
		quantity.FormatSeconds(s.RTTSeconds), quantity.FormatRate(s.NeededBitsPerSecond))
	rows := [][]string{{"  part", "round trip", "loss", "95 %", "rate", "leaves the whole", ""}}
	for i := range s.Segments {
		one := &s.Segments[i]
		loss, within := "-", "-"
		if one.LossRatio != nil {
			loss, within = percentage(one.LossRatio.Value), percentage(one.LossRatio.Low)+" to "+percentage(one.LossRatio.High)
		}
		leaves := "-"
		if one.CouldReach != nil {
			leaves = quantity.FormatRate(one.CouldReach.Value)
		}
		rows = append(rows, []string{"  " + one.Name(), ifTold(one.RTTSeconds, quantity.FormatSeconds), loss, within,
			ifTold(one.Throughput, quantity.FormatRate), leaves, sectionWords[one.Outcome]})
	}
	printTable(w, rows, 6)
	for _, p := range s.Points {
		if p.State != diagnose.PointUsed {
			fmt.Fprintln(w, chart.Fold(fmt.Sprintf("%s %s: %s", p.Name, pointWords[p.State], p.Means), "  ", chart.Width))
		}
	}
	fmt.Fprintln(w, chart.Fold(s.Says, "  ", chart.Width))
}

// pointWords are why a point does not divide the path, as people read them.
var pointWords = map[diagnose.PointState]string{diagnose.PointAway: "could not be measured", diagnose.PointOffRoute: "is not along the route",
	diagnose.PointWorse: "cannot judge the path"}

// percentage prints a small ratio in as few digits as its neighbours in a table.
func percentage(ratio float64) string { return strings.TrimSpace(fmt.Sprintf("%.3f %%", 100*ratio)) }

// ifTold prints a number, or a dash where there is none.
func ifTold(value *float64, format func(float64) string) string {
	if value == nil {
		return "-"
	}
	return format(*value)
}
