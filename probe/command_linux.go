package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// ErrNotAllowed means that this host runs no programs for a mesh.
var ErrNotAllowed = errors.New("no program may run here")

// Do runs the program until it ends, or until ctx does.
func (c *Command) Do(ctx context.Context) (*measure.Result, error) {
	return measured(ctx, "command", c.Target, c.measure)
}

func (c *Command) measure(ctx context.Context, r *measure.Result) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if c.Family != "" {
		r.Parameters["family"] = string(c.Family)
	}
	target, source, err := c.addresses(ctx, r)
	if err != nil {
		return err
	}
	argv, err := fill(c.Argv, c.values(target, source))
	if err != nil {
		return err
	}
	r.Parameters["argv"] = argv
	if c.Allow == nil {
		return fmt.Errorf("run %s: %w", argv[0], ErrNotAllowed)
	}
	if err := c.Allow(argv); err != nil {
		return fmt.Errorf("run %s: %w", argv[0], err)
	}
	r.Started = time.Now().UTC()
	program := Program{Argv: argv, Keep: KeptBytes, Line: c.Line, Before: c.Before, Started: c.Started}
	output, failed := program.Run(ctx)
	if output == nil {
		return failed
	}
	r.Samples.Output = output
	found, missing := c.parser.ReadOutput(output)
	r.Metrics = found
	var left *LeftError
	switch {
	case errors.As(failed, &left):
		r.Note(left.Error())
		return missing
	case failed != nil:
		return explain(failed, output) // which is why anything is missing
	}
	return missing
}

// explain adds to how a program failed what it said last.
func explain(err error, o *measure.Output) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	for _, text := range []string{o.Stderr, o.Stdout} {
		if said := lastLine(text); said != "" {
			return fmt.Errorf("%w: %s", err, said)
		}
	}
	return err
}

// addresses fills in both ends as far as they are known: a program may measure what is no address, unless a family is asked
// for.
func (c *Command) addresses(ctx context.Context, r *measure.Result) (target string, source netip.Addr, err error) {
	to, unknown := netip.ParseAddr(c.Target)
	if c.Family != "" || unknown != nil && strings.Contains(strings.Join(c.Argv, " "), "{source}") {
		to, unknown = Resolve(ctx, c.Target, c.Family)
	}
	switch {
	case unknown != nil && c.Family != "":
		return "", source, unknown
	case unknown != nil:
		return c.Target, source, nil
	}
	r.Target.Address = to.String()
	if source, unknown = sock.Source(to); unknown == nil {
		r.Source.Address = source.String()
	}
	if c.Family != "" {
		return to.String(), source, nil
	}
	return c.Target, source, nil
}
