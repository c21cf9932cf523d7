package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/terminal"
)

// session is what every command shares: where it reads and writes, and how much it says.
type session struct {
	in       io.Reader
	out, err io.Writer
	json     bool
	lines    bool // JSON has a line of each thing that happens, as event prints it
	quiet    bool
	verbose  int
	meter    lab.Meter // of the emulator around this process, at the last look
	emulated bool      // there is one
	seen     *terminal.Screen
	steps    *stepScreen // while a diagnosis runs that is shown; else nil
	// after adds to a Result what a call asks for beside the measurement; nil: nothing.
	after func(context.Context, *measure.Result)
	// known is where to look up what is known of the addresses on routes; nil: nowhere.
	known *knownFlags
}

// screen is what out is to people.
func (s *session) screen() *terminal.Screen {
	if s.seen == nil {
		s.seen = terminal.New(s.out, os.Environ())
	}
	return s.seen
}

// do makes a measurement, and adds to its Result what the call asks for beside it.
func (s *session) do(ctx context.Context, p measure.Prober) (*measure.Result, error) {
	r, err := p.Do(ctx)
	if r != nil && s.after != nil {
		s.after(ctx, r)
	}
	return r, err
}

// live says whether what goes on is drawn on a terminal.
func (s *session) live() bool { return !s.json && !s.quiet && s.screen().Live() }

// emit prints the outcome: doc as one JSON document under --json, else what text writes, on a terminal in lines that fit it.
func (s *session) emit(doc any, text func(w io.Writer)) error {
	if !s.json {
		s.fitted(text)
		return nil
	}
	if s.lines {
		return s.event("result", doc)
	}
	enc := json.NewEncoder(s.out)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("write outcome: %w", err)
	}
	return nil
}

// event prints a JSON line of what happened: {"event": "interval", "data": …}.
func (s *session) event(name string, data any) error {
	if err := json.NewEncoder(s.out).Encode(map[string]any{"event": name, "data": data}); err != nil {
		return fmt.Errorf("write outcome: %w", err)
	}
	return nil
}

// measured notes in a Result if it was measured in a lab whose emulator could not keep up meanwhile, and so says more
// about this machine than about a path.
func (s *session) measured(r *measure.Result) {
	meter, ok := lab.ReadMeter()
	if !ok || !s.emulated {
		return
	}
	if why := meter.Since(s.meter); why != "" && r != nil {
		r.Note(why)
		switch {
		case s.steps != nil:
			s.steps.live.Print("note: " + why)
		case terminal.Is(s.err) && !s.json:
			fmt.Fprintln(s.err, "note:", why)
		}
	}
	s.meter = meter
}

// say prints a line on the way to the outcome, such as an interval; JSON and quiet output have none.
func (s *session) say(format string, args ...any) {
	if !s.json && !s.quiet {
		fmt.Fprintf(s.out, format+"\n", args...)
	}
}

// progress shows what is going on now, on a terminal only: each call overwrites the last; an empty text clears it.
func (s *session) progress(format string, args ...any) {
	if s.quiet || s.json || s.steps != nil || !terminal.Is(s.err) {
		return
	}
	fmt.Fprint(s.err, "\r\x1b[K"+fmt.Sprintf(format, args...))
}

// log returns the logger that the command's parts get: warnings only, more with -v.
func (s *session) log() *slog.Logger {
	level := slog.LevelWarn - slog.Level(4*s.verbose)
	return slog.New(slog.NewTextHandler(s.err, &slog.HandlerOptions{Level: level}))
}

// serverLog is log for what runs for months: it tells of hosts that come and go, too.
func (s *session) serverLog() *slog.Logger {
	level := slog.LevelInfo - slog.Level(4*s.verbose)
	if s.quiet {
		level = slog.LevelWarn
	}
	return slog.New(slog.NewTextHandler(s.err, &slog.HandlerOptions{Level: level}))
}

// printTable prints rows in columns, as chart.Table has them.
func printTable(w io.Writer, rows [][]string, left ...int) {
	for _, line := range chart.Table(rows, left...) {
		fmt.Fprintln(w, line)
	}
}

// table prints rows as printTable does, and on a terminal with a heading that stands out, without columns in spare where there is no room
// for them.
func (s *session) table(w io.Writer, rows [][]string, spare []int, left ...int) {
	if !s.live() {
		printTable(w, rows, left...)
		return
	}
	rows = slices.Clone(rows)
	rows[0] = slices.Clone(rows[0])
	for i := range rows[0] {
		rows[0][i] = s.screen().Strong(rows[0][i])
	}
	for _, line := range chart.Fitted(rows, s.screen().Width(), spare, left...) {
		fmt.Fprintln(w, line)
	}
}

// marked is a text that a terminal shows as a mark says, where a condition holds.
func (s *session) marked(text string, mark func(terminal.Palette, string) string, when bool) string {
	if !when || !s.live() {
		return text
	}
	return mark(s.screen().Palette, text)
}
