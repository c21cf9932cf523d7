package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/sock"
)

// measureTasks does each task over each family in turn. What was measured over two families is printed side by side,
// else text prints it. Under --json a single Result is the document; several stand in a list. Where measureOne returns no
// Result, it returns an error.
func (s *session) measureTasks(ctx context.Context, tasks []measure.Task, families []sock.Family, text func(io.Writer, *measure.Result),
	measureOne func(task measure.Task, family sock.Family) (*measure.Result, error)) error {
	several := len(tasks)*len(families) > 1
	results := []*measure.Result{}
	var failed []error
	measured := false
	for _, task := range tasks {
		var compared []*measure.Result
		var over []sock.Family // of those, in their order
		for _, family := range families {
			if ctx.Err() != nil {
				break
			}
			r, err := measureOne(task, family)
			s.progress("")
			failed, measured = append(failed, err), measured || !input.Bad(err)
			if r == nil {
				continue
			}
			if len(families) == 1 && !(s.json && several) {
				failed = append(failed, s.finish(r, err, text))
				continue
			}
			s.measured(r)
			compared, over = append(compared, r), append(over, family)
		}
		if results = append(results, compared...); len(compared) > 0 && measured && !s.json {
			printFamilies(s.out, over, compared)
		}
	}
	if s.json && several {
		failed = append(failed, s.emit(map[string]any{"schema": "pathwise.results/1", "results": results}, nil))
	}
	return firstOf(failed, len(tasks) > 1 || measured)
}

// firstOf keeps the message to one error: the others are in the Results. Where there are several targets, or something was
// measured, one that does not exist makes the call no wrong one.
func firstOf(errs []error, several bool) error {
	for _, err := range errs {
		switch {
		case err != nil && several:
			return errors.New(err.Error())
		case err != nil:
			return err
		}
	}
	return nil
}

// printFamilies prints Results of one measurement over several families, a column each.
func printFamilies(w io.Writer, families []sock.Family, results []*measure.Result) {
	head, address := []string{""}, []string{"address"}
	var metrics []measure.Metric
	hops := 0
	for i, r := range results {
		head = append(head, families[i].String())
		address = append(address, r.Target.Address)
		metrics = slices.AppendSeq(metrics, maps.Keys(r.Metrics))
		hops = max(hops, len(r.Samples.Hops))
	}
	rows := [][]string{head, address}
	slices.Sort(metrics)
	for _, m := range slices.Compact(metrics) {
		row := []string{string(m)}
		for _, r := range results {
			text := "-"
			if v, ok := r.Get(m); ok {
				unit := m.Unit()
				if unit == "packets" { // the name of the metric says so
					unit = "count"
				}
				text = quantity.Format(v, unit)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	for i := range hops {
		row := []string{fmt.Sprintf("hop %d", i+1)}
		for _, r := range results {
			row = append(row, hopText(r.Samples.Hops, i))
		}
		rows = append(rows, row)
	}
	printTable(w, rows)
	for i, r := range results {
		if r.Error != nil {
			fmt.Fprintf(w, "%s: %s\n", head[i+1], *r.Error)
		}
		for _, note := range r.Notes {
			fmt.Fprintf(w, "note: %s: %s\n", head[i+1], strings.TrimSpace(note))
		}
	}
}

// hopText is who answered at a hop, and the shortest of its round trips.
func hopText(hops []measure.Hop, i int) string {
	if i >= len(hops) || len(hops[i].Addresses) == 0 {
		return "-"
	}
	text := strings.Join(hops[i].Addresses, " ")
	if best, answered := hops[i].Least(); answered {
		text += " " + quantity.FormatSeconds(best)
	}
	return text
}
