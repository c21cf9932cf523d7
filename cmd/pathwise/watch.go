package main

import (
	"context"
	"io"
	"maps"
	"sync"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/sock"
	"github.com/pathwise-net/pathwise/terminal"
)

// watcher shows on a terminal what measurements of a kind do while they run, and what came of them. Its methods are called one at a
// time, but for equip.
type watcher interface {
	// equip has the i-th measurement tell the watcher what happens on its way. What the watcher starts meanwhile ends with ctx.
	equip(ctx context.Context, i int, o probe.Options, live *terminal.Live) probe.Options
	// view is the drawing as it is now.
	view(columns int) []string
	// finished says that the i-th measurement ended; r may be nil where err is not.
	finished(i int, r *measure.Result, err error)
	// outcome prints what stands at the end, in place of the drawing.
	outcome(w io.Writer, columns int)
}

// watchers make the watcher of a kind, on the screen of a session; tasks are of that kind.
var watchers = map[string]func(s *session, tasks []measure.Task) watcher{
	"ping":       func(s *session, tasks []measure.Task) watcher { return newPingWatch(s.screen(), tasks) },
	"fetch":      func(s *session, tasks []measure.Task) watcher { return newThroughputWatch(s.screen(), tasks[0]) },
	"owd":        func(s *session, tasks []measure.Task) watcher { return newOWDWatch(s.screen(), tasks[0]) },
	"throughput": func(s *session, tasks []measure.Task) watcher { return newThroughputWatch(s.screen(), tasks[0]) },
	"trace": func(s *session, tasks []measure.Task) watcher {
		return newTraceWatch(s.screen(), tasks[0], s.nameFinder())
	},
}

// watcherOf makes the watcher of so many measurements of a kind; nil: none shows them. Windows take all of a path, so that several are not made at once;
// of a sweep each test is told in a line; and all paths of a trace are no list of hops.
func watcherOf(k probe.Kind, parameters map[string]any, several int) func(*session, []measure.Task) watcher {
	switch {
	case parameters["group"] != nil, parameters["sweep"] != nil, parameters["multipath"] != nil, parameters["window"] != nil && several > 1:
		return nil
	case parameters["window"] != nil:
		return func(s *session, tasks []measure.Task) watcher { return newWindowWatch(s.screen(), tasks[0]) }
	}
	return watchers[k.Name]
}

// overEach is each task over each family.
func overEach(tasks []measure.Task, families []sock.Family) (all []measure.Task) {
	for _, task := range tasks {
		for _, family := range families {
			one := task
			one.Parameters = maps.Clone(task.Parameters)
			if family != "" {
				one.Parameters["family"] = string(family)
			}
			all = append(all, one)
		}
	}
	return all
}

// watchTasks does all tasks at once, while the terminal shows how they go.
func (s *session) watchTasks(ctx context.Context, tasks []measure.Task, o probe.Options, w watcher) error {
	o.Say = nil
	results, failed := make([]*measure.Result, len(tasks)), make([]error, len(tasks))
	live := s.screen().Start(w.view)
	var all sync.WaitGroup
	for i, task := range tasks {
		all.Go(func() {
			p, err := probe.New(task, w.equip(ctx, i, o, live))
			if err == nil {
				results[i], err = s.do(ctx, p)
			}
			failed[i] = err
			live.Change(func() { w.finished(i, results[i], err) })
		})
	}
	all.Wait()
	live.End(false)
	measured := false
	for i, r := range results {
		if r != nil && !input.Bad(failed[i]) {
			s.measured(r)
			measured = true
		}
	}
	if measured {
		w.outcome(s.out, s.screen().Width())
	}
	for _, r := range results {
		if r != nil {
			probe.WriteNotes(s.out, r)
		}
	}
	return firstOf(failed, len(tasks) > 1 || measured)
}
