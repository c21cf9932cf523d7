package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/sock"
)

// probeCommands are a command for each kind of probe that says how the command line has it.
func probeCommands(s *session) (all []*cobra.Command) {
	for _, k := range probe.Kinds() {
		if k.Usage.Hosts != "" {
			all = append(all, probeCommand(s, k))
		}
	}
	return all
}

// throughputKind is the kind of probe whose parameters a diagnosis shares.
func throughputKind() probe.Kind {
	kinds := probe.Kinds()
	return kinds[slices.IndexFunc(kinds, func(k probe.Kind) bool { return k.Name == "throughput" })]
}

func probeCommand(s *session, k probe.Kind) *cobra.Command {
	flags := parameterFlags{kind: k}
	c := &cobra.Command{
		Use: k.Name + " " + k.Usage.Hosts, Short: k.Usage.Short, Long: k.Usage.Long, Example: examples(k.Usage.Examples), Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			parameters, options, err := flags.read(c, s)
			if err != nil {
				return err
			}
			defer flags.close()
			hosts := make([]string, len(args))
			for i, text := range args {
				if hosts[i], err = flags.host(c, text, parameters); err != nil {
					return err
				}
			}
			if _, err := probe.New(measure.Task{Kind: k.Name, Target: hosts[0], Parameters: parameters}, options); err != nil {
				return err
			}
			return s.measureHosts(c.Context(), hosts, flags.over.families(), probe.WriteText, func(host string, family sock.Family) (*measure.Result, error) {
				if k.Usage.Doing != "" {
					s.progress("%s %s…", k.Usage.Doing, host)
				} else if flags.over.four && flags.over.six {
					s.say("over %s", family)
				}
				if family != "" {
					parameters["family"] = string(family)
				}
				p, err := probe.New(measure.Task{Kind: k.Name, Target: host, Parameters: parameters}, options)
				if err != nil {
					return nil, err
				}
				return p.Do(c.Context())
			})
		},
	}
	if k.Usage.Several {
		c.Args = cobra.MinimumNArgs(1)
	}
	flags.add(c)
	return c
}

// examples are calls, as help shows them.
func examples(calls []string) (text string) {
	for i, call := range calls {
		if i > 0 {
			text += "\n"
		}
		text += "  pathwise " + call
	}
	return text
}

// finish prints a Result, if it holds anything. The error of the measurement is the command's own to return.
func (s *session) finish(r *measure.Result, failed error, text func(io.Writer, *measure.Result)) error {
	var bad interface{ BadInput() bool }
	if errors.As(failed, &bad) && bad.BadInput() {
		return nil
	}
	s.measured(r)
	return s.emit(r, func(w io.Writer) {
		if r.Status != measure.StatusFailed {
			text(w, r)
		}
	})
}

func printNotes(w io.Writer, r *measure.Result) {
	for _, note := range r.Notes {
		fmt.Fprintln(w, "note: "+strings.TrimSpace(note))
	}
}
