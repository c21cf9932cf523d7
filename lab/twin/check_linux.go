package twin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// Options say how a twin is measured.
type Options struct {
	Self     []string                         // the argv that runs pathwise, such as {"/proc/self/exe"}
	Env      []string                         // of what it runs; nil: this process's
	Progress func(format string, args ...any) // nil: nobody is told
}

// Check stands the twin up, repeats on it each measurement that it was made from, with the same parameters, and
// compares. The lab is down again when it returns. A measurement that fails is an error; that the twin differs is
// not.
func Check(ctx context.Context, t *Twin, o Options) (*Report, error) {
	spec, err := t.Spec()
	if err != nil {
		return nil, fmt.Errorf("read twin's own lab file: %w", err)
	}
	l, err := lab.Start(ctx, spec, lab.Options{})
	if err != nil {
		return nil, fmt.Errorf("stand twin up: %w", err)
	}
	report, err := check(ctx, t, o, l)
	if closed := l.Close(); err == nil && closed != nil {
		return nil, fmt.Errorf("take twin down: %w", closed)
	}
	return report, err
}

func check(ctx context.Context, t *Twin, o Options, l *lab.Lab) (*Report, error) {
	done, err := respond(ctx, t, o, l)
	if err != nil {
		return nil, err
	}
	defer done()
	report := &Report{Schema: ReportSchema, OK: true, Notes: []string{}}
	var truth *lab.Truth
	for i, original := range t.originals {
		if !slices.Contains(repeated, original.Kind) {
			report.note("%s %s: not repeated; a twin is compared by ping, trace and throughput", original.Kind, original.ID)
			continue
		}
		if o.Progress != nil {
			o.Progress("measuring the twin: %s, %d of %d", original.Kind, i+1, len(t.originals))
		}
		again, err := repeat(ctx, t, o, l, original)
		if err != nil {
			return nil, fmt.Errorf("repeat %s %s on the twin: %w", original.Kind, original.ID, err)
		}
		report.Results = append(report.Results, again)
		if truth, err = l.Truth(); err != nil {
			return nil, fmt.Errorf("read twin's truth: %w", err)
		}
		for _, row := range compare(original, again, lateness(truth)) {
			report.Rows = append(report.Rows, row)
			report.OK = report.OK && row.OK
		}
	}
	if truth != nil && truth.Emulator.Bottleneck {
		report.note("the emulator was the bottleneck: %s", truth.Emulator.Why)
	}
	return report, nil
}

// lateness is by how much this machine handed over packets late, both ways together, at most of 99 in 100: it adds to the
// twin's round trips and is not the twin's fault.
func lateness(truth *lab.Truth) (seconds float64) {
	for _, k := range truth.Links {
		seconds += k.EmulatorLateSeconds
	}
	return seconds
}

// respond runs the far end of throughput on the target, if it is to be repeated, and returns when it
// answers.
func respond(ctx context.Context, t *Twin, o Options, l *lab.Lab) (done func(), err error) {
	needs := func(r *measure.Result) bool { return r.Kind == "throughput" }
	if !slices.ContainsFunc(t.originals, needs) {
		return func() {}, nil
	}
	p, err := l.Respond(ctx, t.Target.Name, lab.Command{Argv: o.Self, Env: o.Env, Stderr: os.Stderr})
	if err != nil {
		return nil, fmt.Errorf("start responder: %w", err)
	}
	return func() {
		_ = p.Kill()
		_, _ = p.Wait()
	}, nil
}

// repeat makes one measurement on the twin.
func repeat(ctx context.Context, t *Twin, o Options, l *lab.Lab, original *measure.Result) (*measure.Result, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("open pipe: %w", err)
	}
	defer reader.Close()
	argv := slices.Concat(o.Self, arguments(original, t.Target.Name))
	p, err := l.Start(ctx, t.Source.Name, lab.Command{Argv: argv, Env: o.Env, Stdout: writer, Stderr: os.Stderr})
	writer.Close()
	if err != nil {
		return nil, err
	}
	r := &measure.Result{}
	readErr := document.ReadJSON(reader, maxBytes, r)
	_, _ = io.Copy(io.Discard, reader) // nothing that it still says may hold the program up
	status, err := p.Wait()
	switch err := errors.Join(ctx.Err(), err); {
	case err != nil:
		return nil, err
	case status != 0:
		return nil, fmt.Errorf("%s: exit status %d", strings.Join(argv, " "), status)
	case readErr != nil:
		return nil, fmt.Errorf("read its result: %w", readErr)
	}
	return r, nil
}
