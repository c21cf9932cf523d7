package export

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// JSONLines writes the Results that q selects, whole, one JSON object a line, newest first. Like CSV and WideCSV it
// holds one page of Results in memory, whatever there is to write; when ctx ends or the archive fails, what was written
// so far ends with a whole line.
func JSONLines(ctx context.Context, w io.Writer, a archive.Archive, q archive.ResultQuery) error {
	buffer := bufio.NewWriterSize(w, 1<<16) // a Result is some kilobytes: several a write
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	for r, err := range results(ctx, a, q) {
		if err == nil {
			err = encoder.Encode(r)
		}
		if err != nil {
			buffer.Flush()
			return fmt.Errorf("write JSON lines: %w", err)
		}
	}
	if err := buffer.Flush(); err != nil {
		return fmt.Errorf("write JSON lines: %w", err)
	}
	return nil
}

// CSV writes one row a value of the Results that q selects, newest first, beneath a row of names: time, source, target, test, tool,
// metric, value, way, role, subject. Source and target are who asked and who was asked, way says how the data went between them. The
// time is when the measurement began, RFC 3339 in UTC with nanoseconds. A Result that measured nothing has no row. A text that a
// spreadsheet would run as a formula gets an apostrophe before it.
func CSV(ctx context.Context, w io.Writer, a archive.Archive, q archive.ResultQuery) error {
	header := []string{"time", "source", "target", "test", "tool", "metric", "value", "way", "role", "subject"}
	return writeCSV(ctx, w, header, results(ctx, a, q), func(write func([]string) error, r *measure.Result) error {
		s := streamOf(r)
		for _, m := range slices.Sorted(maps.Keys(r.Metrics)) {
			row := []string{stamp(r), text(s.source), text(s.target), text(s.test), text(s.tool), text(string(m)),
				number(r.Metrics[m]), text(string(r.Way)), text(string(roleOf(r))), text(r.Subject.String())}
			if err := write(row); err != nil {
				return err
			}
		}
		return nil
	})
}

// WideCSV writes one row a Result: time, id, source, target, test, tool, status, duration_seconds, error, a column a metric, empty
// where it was not measured, and way, role and subject as CSV does. Without metrics it goes through the archive twice: first for the
// names of all metrics that the selected Results have. A Result that is filed meanwhile and has others is left out.
func WideCSV(ctx context.Context, w io.Writer, a archive.Archive, q archive.ResultQuery,
	metrics ...measure.Metric) error {
	chosen := len(metrics) > 0
	if !chosen {
		names := map[measure.Metric]bool{}
		for r, err := range results(ctx, a, q) {
			if err != nil {
				return fmt.Errorf("find metrics for CSV: %w", err)
			}
			for m := range r.Metrics {
				names[m] = true
			}
		}
		metrics = slices.Sorted(maps.Keys(names))
	}
	header := []string{"time", "id", "source", "target", "test", "tool", "status", "duration_seconds", "error"}
	for _, m := range metrics {
		header = append(header, text(string(m)))
	}
	header = append(header, "way", "role", "subject")
	return writeCSV(ctx, w, header, results(ctx, a, q), func(write func([]string) error, r *measure.Result) error {
		s, found := streamOf(r), 0
		row := append(make([]string, 0, len(header)), stamp(r), text(r.ID), text(s.source), text(s.target), text(s.test),
			text(s.tool), text(string(r.Status)), number(r.DurationSeconds), text(errorOf(r)))
		for _, m := range metrics {
			cell := ""
			if v, measured := r.Get(m); measured {
				cell = number(v)
				found++
			}
			row = append(row, cell)
		}
		if !chosen && found < len(r.Metrics) {
			return nil
		}
		return write(append(row, text(string(r.Way)), text(string(roleOf(r))), text(r.Subject.String())))
	})
}

func errorOf(r *measure.Result) string {
	if r.Error == nil {
		return ""
	}
	return *r.Error
}

// writeCSV writes the header and what rows makes of each Result.
func writeCSV(ctx context.Context, w io.Writer, header []string, all iter.Seq2[*measure.Result, error],
	rows func(write func([]string) error, r *measure.Result) error) error {
	out := csv.NewWriter(w)
	if err := out.Write(header); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	for r, err := range all {
		if err == nil {
			err = rows(out.Write, r)
		}
		if err != nil {
			out.Flush()
			return fmt.Errorf("write CSV: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}

// results goes through what q selects and ends with the error of ctx as soon as that ends.
func results(ctx context.Context, a archive.Archive, q archive.ResultQuery) iter.Seq2[*measure.Result, error] {
	return func(yield func(*measure.Result, error) bool) {
		for r, err := range a.All(ctx, q) {
			if err == nil {
				err = ctx.Err()
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

func stamp(r *measure.Result) string {
	return r.Started.UTC().Format("2006-01-02T15:04:05.000000000Z07:00")
}

// number writes a value as JSON does: the shortest text that reads back as the same float64.
func number(v float64) string {
	if text, err := json.Marshal(v); err == nil {
		return string(text)
	}
	return strconv.FormatFloat(v, 'g', -1, 64) // NaN and infinities, which JSON lacks
}

// text makes a cell of a text. Spreadsheets run what begins like a formula, and names, errors and addresses come from
// outside: such a text gets an apostrophe before it, which spreadsheets hide. Numbers are never touched.
func text(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
