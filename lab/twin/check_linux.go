package twin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

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
		if _, can := flags[original.Kind]; !can {
			report.note("%s %s: not repeated; no command measures it by itself", original.Kind, original.ID)
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
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("open pipe: %w", err)
	}
	argv := slices.Concat(o.Self, []string{"respond", "--json"})
	p, err := l.Start(ctx, t.Target.Name, lab.Command{Argv: argv, Env: o.Env, Stdout: writer, Stderr: os.Stderr})
	writer.Close()
	if err != nil {
		reader.Close()
		return nil, fmt.Errorf("start responder: %w", err)
	}
	done = func() {
		_ = p.Kill()
		_, _ = p.Wait()
		reader.Close()
	}
	// It prints its document when it listens.
	if _, err := bufio.NewReader(reader).ReadString('{'); err != nil {
		done()
		return nil, errors.New("start responder: it ended before it answered")
	}
	return done, nil
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
	text, readErr := io.ReadAll(reader)
	status, err := p.Wait()
	if err := errors.Join(ctx.Err(), err, readErr); err != nil {
		return nil, err
	}
	if status != 0 {
		return nil, fmt.Errorf("%s: exit status %d", strings.Join(argv, " "), status)
	}
	r := &measure.Result{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("read its result: %w", err)
	}
	return r, nil
}

// flag is how a parameter of a Result is said on the command line.
type flag struct {
	parameter, name string
	form            func(float64) string
}

func whole(v float64) string { return strconv.FormatInt(int64(v), 10) }
func rate(v float64) string  { return whole(v) + "bit" }
func size(v float64) string  { return whole(v) + "B" }
func span(v float64) string  { return time.Duration(v * float64(time.Second)).String() }

var flags = map[string][]flag{
	"ping": {{"count", "--count", whole}, {"interval_seconds", "--interval", span}, {"size_bytes", "--size", whole},
		{"timeout_seconds", "--timeout", span}, {"dscp", "--dscp", whole}, {"ttl", "--ttl", whole}},
	"trace": {{"max_ttl", "--max-ttl", whole}, {"queries", "--queries", whole}, {"timeout_seconds", "--timeout", span}},
	"throughput": {{"duration_seconds", "--time", span}, {"bytes", "--bytes", size}, {"window_bytes", "--window", size},
		{"length_bytes", "--len", size}, {"rate_bits_per_second", "--rate", rate}, {"dscp", "--dscp", whole},
		{"mss_bytes", "--mss", whole}, {"parallel", "--parallel", whole}},
}

// switches are parameters that are true or false.
var switches = map[string][][2]string{
	"ping":       {{"dont_fragment", "--df"}},
	"throughput": {{"reverse", "--reverse"}, {"bidir", "--bidir"}, {"nodelay", "--nodelay"}},
}

// arguments are those that measure a target as a Result was measured.
func arguments(r *measure.Result, target string) []string {
	argv := []string{r.Kind, target, "--json"}
	for _, f := range flags[r.Kind] {
		if v := number(r.Parameters, f.parameter); v > 0 {
			argv = append(argv, f.name, f.form(v))
		}
	}
	for _, s := range switches[r.Kind] {
		if on, _ := r.Parameters[s[0]].(bool); on {
			argv = append(argv, s[1])
		}
	}
	if sampling, _ := r.Parameters["sampling"].(string); sampling == "poisson" {
		argv = append(argv, "--poisson")
	}
	if r.Kind != "throughput" {
		return argv
	}
	if proto, _ := r.Parameters["proto"].(string); proto == "udp" {
		return append(argv, "--proto", "udp")
	}
	if cc := congestion(r); cc != "" {
		argv = append(argv, "--cc", cc)
	}
	return argv
}

// congestion is what was asked for, or else what the sender had.
func congestion(r *measure.Result) string {
	if cc, _ := r.Parameters["cc"].(string); cc != "" {
		return cc
	}
	for _, way := range []string{measure.Forward, measure.Reverse} {
		if end := r.Samples.Find(way, measure.Sender); end != nil {
			return end.CongestionControl
		}
	}
	return ""
}
