package main

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/proto/transact"
)

// programFlags tell a diagnosis of the program that is slow.
type programFlags struct {
	pattern       parameterFlags
	service, port int
	connection    int // the port of connections that it has
}

func (f *programFlags) add(c *cobra.Command) {
	f.pattern.kind, _ = probe.KindOf("transact")
	f.pattern.addParameters(c, "request", "response", "writes", "turns", "nodelay")
	for _, v := range f.pattern.values {
		flag := c.Flags().Lookup(v.flag())
		flag.Usage, flag.DefValue = "of the program that is slow: "+flag.Usage, ""
	}
	c.Flags().IntVar(&f.connection, "program", 0, "port, at either end, of the connections that the slow program has with HOST now")
	c.Flags().Lookup("program").DefValue = "0" // which help leaves out
	c.Flags().IntVar(&f.service, "service", 0, "port of a service at HOST that is slow to take connections")
	c.Flags().IntVar(&f.port, "transact-port", transact.DefaultPort, "port where transactions are answered")
}

// read returns what the flags tell.
func (f *programFlags) read(c *cobra.Command) (p diagnose.Program, err error) {
	if c.Flags().Changed("service") {
		err = checkPort("service", f.service)
	}
	if err == nil && c.Flags().Changed("program") {
		err = checkPort("program", f.connection)
	}
	if err == nil {
		err = checkPort("transact-port", f.port)
	}
	p = diagnose.Program{Service: f.service, Port: f.connection}
	pattern := f.pattern.set(c)
	if err != nil || len(pattern) == 0 {
		return p, err
	}
	p.Pattern = pattern
	_, err = probe.New(measure.Task{Kind: "transact", Target: "target", Parameters: pattern}, probe.Options{})
	return p, err
}

// connectsOnly reports whether a step of transactions opens connections to a service and sends nothing.
func connectsOnly(s diagnose.Step) bool {
	only, _ := s.Parameters["connect"].(bool)
	return only
}

// transactProber is what makes a step of transactions. It is nil where nothing answers them.
func (v *survey) transactProber(s diagnose.Step) (measure.Prober, error) {
	if v.noTransactions && !connectsOnly(s) {
		return nil, nil
	}
	parameters := maps.Clone(s.Parameters)
	parameters["family"] = string(v.family)
	if !connectsOnly(s) {
		parameters["port"] = v.transactPort
	}
	return probe.New(measure.Task{Kind: s.Kind, Target: v.target, Parameters: parameters}, probe.Options{})
}

// takeTransactions is what came of a step of transactions, as a diagnosis takes it: no Result where nothing answers them.
func (v *survey) takeTransactions(ctx context.Context, s diagnose.Step, r *measure.Result, err error) (*measure.Result, error) {
	v.session.measured(r)
	switch {
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case err == nil:
		return r, nil
	case r.Status == measure.StatusFailed:
		v.noTransactions = noTransactions(err)
		if !v.noTransactions {
			v.session.log().Info("no transactions", "error", err)
		}
		return nil, nil
	}
	r.Note(fmt.Sprintf("%s failed: %v", s.Name, err))
	return r, nil
}

// noTransactions says whether nothing answers transactions.
func noTransactions(err error) bool {
	return errors.Is(err, endpoint.ErrRefused) || errors.Is(err, endpoint.ErrNoAnswer) || errors.Is(err, transact.ErrBusy)
}

// watch looks at the connections that the program has. Where it has none, that is said, and the diagnosis goes on without.
func (v *survey) watch(ctx context.Context, s diagnose.Step) (*measure.Result, error) {
	p, err := probe.New(measure.Task{Kind: s.Kind, Target: v.target, Parameters: s.Parameters}, probe.Options{})
	if err != nil {
		return nil, err
	}
	r, err := p.Do(ctx)
	v.session.measured(r)
	switch {
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case err != nil:
		r.Note(fmt.Sprintf("%s failed: %v", s.Name, err))
	case len(r.Samples.Connections) == 0:
		r.Note(fmt.Sprintf("no connection with %s has port %d at either end: nothing is said of the program, which has to run meanwhile", v.target,
			v.program.Port))
	}
	return r, nil
}
