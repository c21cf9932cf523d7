package scenario

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/link"
)

// running is a program on a host, from its start to what is left of it: its document.
type running struct {
	program *Program
	process *lab.Process
	step    int // that started it, from 0
	began   time.Time
	since   float64 // the same, in the lab's own seconds
	out     output  // what it printed on standard output
	all     output  // that and standard error
	errors  output  // standard error alone
	ended   chan struct{}

	// From here on only once ended is closed.
	took     time.Duration
	status   int
	err      error
	document any
}

// program starts a program. One in the background is left to itself once it is ready; for the others it waits.
func (p *play) program(ctx context.Context, one *Program, argv []string) (string, error) {
	r, err := p.start(ctx, one, argv)
	if err != nil {
		return "", err
	}
	p.started = append(p.started, r)
	if one.As != "" {
		p.programs[one.As] = r
	}
	if one.Background {
		return "", r.ready(ctx)
	}
	return r.await(ctx)
}

func (p *play) start(ctx context.Context, one *Program, argv []string) (*running, error) {
	r := &running{program: one, step: len(p.report.Steps), began: time.Now(), ended: make(chan struct{})}
	if one.As != "" { // expectations may ask for the packets since now
		truth, err := p.lab.TruthOf(lab.Window{From: -1e-3})
		if err != nil {
			return nil, err
		}
		r.since = truth.Seconds
	}
	var pipes [2]*os.File
	var readers sync.WaitGroup
	for i, write := range []func([]byte){
		func(b []byte) { _, _ = r.out.Write(b); _, _ = r.all.Write(b) }, // an output takes everything
		func(b []byte) { _, _ = r.errors.Write(b); _, _ = r.all.Write(b) },
	} {
		reader, writer, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("create pipe: %w", err)
		}
		defer writer.Close() // the process has its own
		pipes[i] = writer
		readers.Go(func() { drain(reader, write) })
	}
	process, err := p.lab.Start(ctx, one.On, lab.Command{Argv: argv, Env: p.environment(), Stdout: pipes[0], Stderr: pipes[1]})
	if err != nil {
		return nil, err
	}
	r.process = process
	go func() {
		defer close(r.ended)
		r.status, r.err = process.Wait()
		r.took = time.Since(r.began)
		readers.Wait()
		r.document = documentOf(r.out.bytes())
	}()
	return r, nil
}

// readyTimeout is how long a program in the background may take to be ready.
const readyTimeout = 10 * time.Second

// ready waits until a program has printed what it is to print once it is ready.
func (r *running) ready(ctx context.Context) error {
	if r.program.Ready == "" {
		return nil
	}
	give := time.After(readyTimeout)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !bytes.Contains(r.all.bytes(), []byte(r.program.Ready)) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-r.ended:
			if r.err != nil {
				return r.err
			}
			return fmt.Errorf("ended before it was ready: %s", r.complaint())
		case <-give:
			return fmt.Errorf("did not print %q within %v: %s", r.program.Ready, readyTimeout, r.complaint())
		case <-tick.C:
		}
	}
	return nil
}

// graceful is how long a program may take to end when it is asked to.
const graceful = 3 * time.Second

// await waits for a program's end, and checks how it ended.
func (r *running) await(ctx context.Context) (string, error) {
	timeout := cmp.Or(time.Duration(r.program.Timeout), time.Duration(DefaultTimeout))
	select {
	case <-r.ended:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case <-time.After(timeout - time.Since(r.began)):
		r.interrupt()
		if _, err := r.outcome(); err != nil {
			return "", err
		}
		if r.program.Status != AnyStatus {
			return "", fmt.Errorf("took longer than %v", timeout)
		}
	}
	if r.err != nil {
		return "", r.err
	}
	if r.program.Status != AnyStatus && r.status != int(r.program.Status) {
		return "", fmt.Errorf("exit status %d, wanted %d: %s", r.status, r.program.Status, r.complaint())
	}
	return r.gist(), nil
}

// stop asks a program to end, and waits until it has.
func (r *running) stop() (string, error) {
	r.interrupt()
	return r.outcome()
}

// outcome is a program's gist, or why there is none.
func (r *running) outcome() (string, error) {
	select {
	case <-r.ended:
		return r.gist(), r.err
	default:
		return "", errors.New("could not be ended")
	}
}

// interrupt asks a program to end, and ends it if it does not.
func (r *running) interrupt() {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		_ = r.process.Signal(signal) // it may have ended in between
		select {
		case <-r.ended:
			return
		case <-time.After(graceful):
		}
	}
}

// set changes the lab.
func (p *play) set(s *Set) error { return s.apply(p.lab) }

func (s *Set) apply(l *lab.Lab) error {
	switch {
	case s.Route != nil:
		return l.SetRoute(*s.Route)
	case s.Host != "":
		for key, value := range s.Sysctl {
			if err := l.SetSysctl(s.Host, key, value); err != nil {
				return err
			}
		}
		return nil
	}
	return l.Set(s.Between[0], s.Between[1], s.settings()...)
}

// Fault makes in the lab of the case the changes that precede its diagnosis, or all where it has none. It starts no programs, and returns those that
// run in the background then, and the diagnosis; nil: the case has none.
func (c *Case) Fault(l *lab.Lab) (programs []*Program, diagnosis *Program, err error) {
	for _, s := range c.Steps {
		switch {
		case s.Diagnose != nil:
			return programs, s.Diagnose, nil
		case s.Set != nil:
			if err := s.Set.apply(l); err != nil {
				return nil, nil, fmt.Errorf("set up the fault: %w", err)
			}
		case s.Exec != nil && s.Exec.Background:
			programs = append(programs, s.Exec)
		case s.Stop != nil:
			programs = slices.DeleteFunc(programs, func(p *Program) bool { return p.As == *s.Stop })
		}
	}
	return programs, nil, nil
}

// settings are the changes as lab.Set takes them.
func (s *Set) settings() []string {
	both := s.Shape
	all := shapeSettings("", &both)
	all = append(all, shapeSettings("forward.", s.Forward)...)
	return append(all, shapeSettings("reverse.", s.Reverse)...)
}

func shapeSettings(prefix string, s *link.Shape) (all []string) {
	if s == nil {
		return nil
	}
	v := reflect.ValueOf(*s)
	for i := range v.NumField() {
		if !v.Field(i).IsNil() {
			all = append(all, fmt.Sprintf("%s%s=%v", prefix, v.Type().Field(i).Tag.Get("yaml"), v.Field(i).Elem().Interface()))
		}
	}
	return all
}
