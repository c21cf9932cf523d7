package main

import (
	"io"
	"maps"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/input"
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
	k, _ := probe.KindOf("throughput")
	return k
}

func probeCommand(s *session, k probe.Kind) *cobra.Command {
	flags := parameterFlags{kind: k}
	var format *string
	c := &cobra.Command{
		Use: k.Name + " " + k.Usage.Hosts, Short: k.Usage.Short, Long: k.Usage.Long, Example: examples(k.Usage.Examples),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			parameters, options, err := flags.read(c, s)
			if err != nil {
				return err
			}
			defer flags.close()
			write, err := formatOf(k.Name, *format)
			if err != nil {
				return err
			}
			tasks, err := flags.tasks(c, args, parameters, options)
			if err != nil {
				return err
			}
			if goesOn(parameters) {
				return s.measureOn(c.Context(), &flags, tasks[0], options, *format, write)
			}
			families := flags.over.families()
			watcher := watcherOf(k, parameters, len(tasks)*len(families))
			if watcher != nil && s.live() && *format == ownFormat && (len(families) == 1 || k.Usage.Several) {
				tasks = overEach(tasks, families)
				return s.watchTasks(c.Context(), tasks, options, watcher(s, tasks))
			}
			measureOne := func(task measure.Task, family sock.Family) (*measure.Result, error) {
				if k.Usage.Doing != "" {
					s.progress("%s %s…", k.Usage.Doing, task.Target)
				} else if flags.over.four && flags.over.six {
					s.say("over %s", family)
				}
				if family != "" {
					task.Parameters["family"] = string(family)
				}
				p, err := probe.New(task, options)
				if err != nil {
					return nil, err
				}
				return s.do(c.Context(), p)
			}
			return s.measureTasks(c.Context(), tasks, families, write, measureOne)
		},
	}
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error { return flags.blame(c, run(c, args)) }
	switch {
	case k.Usage.Several:
		c.Args = someHosts
	case k.Usage.Optional:
		c.Use, c.Args = k.Name+" ["+k.Usage.Hosts+"]", cobra.MaximumNArgs(1)
	}
	flags.add(c)
	format = addFormat(c, k.Name)
	addMany(c, s, &flags)
	addConnect(c, s, &flags)
	addEvery(c, &flags)
	addLive(c, s, &flags)
	addTargets(c, s, &flags)
	addWatch(c, s, &flags)
	addRoute(c, s, &flags)
	return c
}

// someHosts demands hosts, or a group in place of any.
func someHosts(c *cobra.Command, args []string) error {
	if group := c.Flags().Lookup("group"); group != nil && group.Changed {
		return cobra.NoArgs(c, args)
	}
	return cobra.MinimumNArgs(1)(c, args)
}

// tasks are what the hosts of a call, its URLs or its group stand for, each with the parameters.
func (f *parameterFlags) tasks(c *cobra.Command, args []string, parameters map[string]any, options probe.Options) (tasks []measure.Task, err error) {
	if len(args) == 0 {
		task, isGroup := f.group(parameters)
		if !isGroup {
			task.Kind = f.kind.Name
		}
		tasks = append(tasks, task)
	}
	for _, text := range args {
		task := measure.Task{Parameters: maps.Clone(parameters)}
		if task.Kind, task.Target, err = f.target(c, text, task.Parameters); err != nil {
			return nil, err
		}
		tasks = append(tasks, task)
	}
	for _, task := range tasks {
		if _, err := probe.New(task, options); err != nil {
			return nil, err
		}
	}
	return tasks, nil
}

// oneTask reads the task of a call that is of one host, which args has; why it is of one family, why says.
func (f *parameterFlags) oneTask(c *cobra.Command, s *session, args []string, why string) (task measure.Task, options probe.Options, err error) {
	parameters, options, err := f.read(c, s)
	if err != nil {
		return task, options, err
	}
	family, err := f.over.family(why)
	if err != nil {
		return task, options, err
	}
	if family != "" {
		parameters["family"] = string(family)
	}
	tasks, err := f.tasks(c, args, parameters, options)
	if err != nil {
		return task, options, err
	}
	return tasks[0], options, nil
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
	if input.Bad(failed) {
		return nil
	}
	s.measured(r)
	return s.emit(r, func(w io.Writer) {
		if r.Status != measure.StatusFailed {
			text(w, r)
		}
	})
}
