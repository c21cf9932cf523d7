package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/quantity"
)

// goesOn reports whether parameters ask for a measurement that goes on.
func goesOn(parameters map[string]any) bool {
	text, _ := parameters["continuous"].(string)
	on, _ := strconv.ParseBool(text)
	return on
}

// measureOn makes a measurement that goes on, and prints each Result when it is done: under --json as a line of JSON, in a format that was chosen, or as a
// line for people, on a terminal above figures that change with each packet.
func (s *session) measureOn(ctx context.Context, flags *parameterFlags, task measure.Task, o probe.Options, format string, write textFormat) error {
	family, err := flags.over.family("a continuous measurement is of one")
	if err != nil {
		return err
	}
	if family != "" {
		task.Parameters["family"] = string(family)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	line := func(text string) { fmt.Fprintln(s.out, text) }
	if format == ownFormat && s.live() {
		o.Say = nil
		w := newOWDWatch(s.screen(), task)
		live := s.screen().Start(w.view)
		defer live.End(false)
		o, line = w.equip(ctx, 0, o, live), live.Print
	}
	var failed error // of printing
	tell := func(r *measure.Result) {
		s.measured(r)
		if err := s.tellResult(r, format, write, line); err != nil && failed == nil {
			failed = err
			stop()
		}
	}
	o.Finished = tell
	p, err := probe.New(task, o)
	if err != nil {
		return err
	}
	r, err := p.Do(ctx)
	if !input.Bad(err) && (s.json || r.Status != measure.StatusFailed) {
		tell(r)
	}
	if failed != nil {
		return fmt.Errorf("write outcome: %w", failed)
	}
	return err
}

// tellResult prints one of several Results.
func (s *session) tellResult(r *measure.Result, format string, write textFormat, line func(string)) error {
	switch {
	case s.json:
		return json.NewEncoder(s.out).Encode(r)
	case format != ownFormat:
		write(s.out, r)
		return nil
	}
	line(resultLine(r))
	var notes strings.Builder
	probe.WriteNotes(&notes, r)
	for note := range strings.Lines(notes.String()) {
		line("  " + strings.TrimSuffix(note, "\n"))
	}
	return nil
}

// resultLine is what people want to know of one of several Results: when it began, and what each way took and lost.
func resultLine(r *measure.Result) string {
	m := r.Metrics
	parts := []string{fmt.Sprintf("%s  %.0f sent", r.Started.Local().Format(time.TimeOnly), m[measure.SentPackets])}
	there, known := r.Get(measure.LostOn(measure.Forward))
	back := m[measure.LostOn(measure.Reverse)]
	lost := m[measure.LostPackets]
	switch unknown := lost - there - back; {
	case lost == 0:
		parts = append(parts, "0 lost")
	case known && unknown <= 0:
		parts = append(parts, fmt.Sprintf("%.0f lost (%.0f there, %.0f back)", lost, there, back))
	default:
		parts = append(parts, fmt.Sprintf("%.0f lost (%s)", lost, quantity.FormatRatio(m[measure.LossRatio])))
	}
	for _, way := range []string{measure.Forward, measure.Reverse} {
		if median, any := r.Get(measure.OneWay(way, "median")); any {
			parts = append(parts, fmt.Sprintf("%s %s, jitter %s", way, quantity.FormatSeconds(median), quantity.FormatSeconds(m[measure.OneWaySpread(way)])))
		}
	}
	if median, any := r.Get(measure.RTTMedian); any {
		parts = append(parts, "round trip "+quantity.FormatSeconds(median))
	}
	return strings.Join(parts, "; ")
}
