package main

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/sock"
)

// survey makes the measurements that a diagnosis needs, as diagnose.Plan lists them. The far end answers one test at a time.
type survey struct {
	session  *session
	target   string
	family   sock.Family       // zero: as v.target allows
	other    string            // the family that the target has addresses of, too; "": none
	transfer *probe.Throughput // what the command line says of it
	asked    map[string]any    // the parameters that it is made of
	options  probe.Options
	fetch    map[string]any // of the kind fetch, where the target is a URL; nil: it is a host

	before         []*measure.Result // of the path, from earlier; nil: none
	program        diagnose.Program
	transactPort   int
	noTransactions bool  // nothing answers them
	reflectors     []int // ports where the far end may reflect what one-way delays are measured by; none: nothing does

	mayEndEarly bool            // a transfer, when its goodput is known
	budget      diagnose.Budget // zero: no limit
	without     string          // which steps the budget had no room for, for people

	files probe.Files // one of which is moved, too; the zero value: none

	reach         *fleet.SSH // how the far end is reached to run this program there; nil: something answers there
	far           *farEnd    // once it runs there
	transactNamed bool       // the call says at which port transactions are answered
	id            string     // of the diagnosis, in the roles of its steps

	points []*survey // of hosts along the path; none: it is not divided

	reference *measure.Result // what this host moved to a near one; nil: nobody tried
	unused    string          // why a reference is not used; "": it is, or there is none

	responder responderState
	failed    error // what a test with the far end failed for, the first that did
}

const (
	surveyPatience = 2 * time.Second
	surveyPause    = 100 * time.Millisecond
)

// newSurvey reads a call of the command.
func newSurvey(c *cobra.Command, s *session, flags *parameterFlags, target string) (*survey, error) {
	v := &survey{session: s, reflectors: reflectorPorts(), id: measure.NewResult("diagnosis", time.Now()).ID}
	var err error
	if v.asked, v.options, err = flags.read(c, s); err != nil {
		return nil, err
	}
	v.options.Say, v.options.Files = nil, probe.Files{} // which one step of the diagnosis has
	if isURL(target) {
		err = v.readURL(c, target)
	} else {
		v.target, err = flags.host(c, target, v.asked)
	}
	if err != nil {
		return nil, err
	}
	if v.family, err = flags.over.family(oneFamily); err != nil {
		return nil, err
	}
	if _, given := v.asked["duration"]; !given {
		v.asked["duration"], v.mayEndEarly = diagnoseTime, true
	}
	p, err := probe.New(measure.Task{Kind: flags.kind.Name, Target: v.target, Parameters: v.asked}, v.options)
	if err != nil {
		return nil, err
	}
	v.transfer = p.(*probe.Throughput)
	return v, nil
}

// settle chooses the family of all steps, and the address: those over which the target answers.
func (v *survey) settle(ctx context.Context) (netip.Addr, error) {
	both := v.family == ""
	address, err := probe.Answering(ctx, v.target, v.family, v.targetPort())
	if err != nil {
		return address, err
	}
	v.family = sock.FamilyOf(address)
	if both {
		v.other = otherFamily(ctx, v.target, v.family)
	}
	return address, nil
}

// otherFamily is the family that a target has addresses of beside the given one, where this host has a way to one of them; "": none.
func otherFamily(ctx context.Context, target string, taken sock.Family) string {
	other := sock.IPv6
	if taken == sock.IPv6 {
		other = sock.IPv4
	}
	all, err := sock.Addresses(ctx, nil, target, other)
	if err != nil || !slices.ContainsFunc(all, func(a netip.Addr) bool { _, err := sock.Source(a); return err == nil }) {
		return ""
	}
	return string(other)
}

// run returns what was measured, and the first error that the diagnosis cannot do without.
func (v *survey) run(ctx context.Context) ([]*measure.Result, error) {
	var plan []diagnose.Step
	if v.fetch != nil {
		plan = diagnose.PlanFetch(v.transfer.Config.Duration, v.fetch)
	} else {
		plan = diagnose.WithTransactions(diagnose.Plan(v.transfer.Config.Duration, v.directions()...), v.program)
	}
	if v.mayEndEarly {
		plan = diagnose.EndEarly(plan)
	}
	plan = diagnose.WithFamily(v.withFile(plan), v.other)
	plan = diagnose.WithProgram(diagnose.WithMark(plan, v.transfer.Config.DSCP), v.program.Port)
	executor := diagnose.Executor{Make: v.step, AtOnce: v.together, Beside: v.under, Far: v.far != nil, Budget: v.budget, Cost: v.cost}
	results, without, err := executor.Execute(ctx, plan)
	v.without = without
	return results, cmp.Or(err, v.failed)
}

// cost is what a step says that it moves.
func (v *survey) cost(s diagnose.Step) float64 {
	d, err := probe.Demand(measure.Task{Kind: s.Kind, Target: v.target, Parameters: s.Parameters})
	if err != nil { // then the step fails for it, and moves nothing
		return 0
	}
	return d.Bytes
}

// step makes one measurement, and shows it. What goes wrong ends the survey only if all that follows would, too.
func (v *survey) step(ctx context.Context, s diagnose.Step) (*measure.Result, error) {
	of := v.target
	if s.Kind == "audit" && !s.Far {
		of = "this host"
	}
	ended := v.session.beginStep(s.Name, of, s.Why)
	r, err := v.makeStep(ctx, s)
	ended(r, err)
	return r, err
}

func (v *survey) makeStep(ctx context.Context, s diagnose.Step) (*measure.Result, error) {
	switch {
	case s.Kind == "transact":
		return v.transact(ctx, s)
	case s.Kind == "sockets":
		return v.watch(ctx, s)
	case s.Kind == "owd":
		return v.idle(ctx, s)
	case v.cannot(s):
		return nil, nil
	}
	p, err := v.prober(s)
	if err != nil || p == nil {
		return nil, err
	}
	r, err := v.again(ctx, p)
	return v.takeTest(ctx, s, r, err)
}

// cannot reports whether a step would say nothing here.
func (v *survey) cannot(s diagnose.Step) bool {
	return s.Parameters["middlebox"] == true && !mayTraceSYNs() ||
		s.NeedsResponder() && v.responder == responderAway ||
		s.Compares() && v.options.Source != nil // which is read once, by the transfer
}

// takeTest is what came of a step, as a diagnosis takes it: an error ends the diagnosis.
func (v *survey) takeTest(ctx context.Context, s diagnose.Step, r *measure.Result, err error) (*measure.Result, error) {
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil && (!s.Transfer() || s.Compares()):
		r.Note(s.Name + " failed: " + err.Error())
	}
	v.session.measured(r)
	r.Role = measure.DiagnosisRole(v.id, s.Name)
	switch {
	case ctx.Err() != nil:
		return r, err
	case s.Compares() && err != nil: // as where a host has no other congestion control
		return r, nil
	case input.Bad(err):
		return r, err
	case s.NeedsResponder() && notThere(err):
		v.responder, v.failed = responderAway, cmp.Or(v.failed, err)
	case v.fetch != nil && s.Transfer():
		v.failed = cmp.Or(v.failed, err)
	case s.Transfer():
		v.responder, v.failed = responderThere, cmp.Or(v.failed, err)
	case s.NeedsResponder():
		v.responder = responderThere
	}
	return r, nil
}

// mayTraceSYNs reports whether this process may open raw sockets for TCP.
func mayTraceSYNs() bool {
	for _, kind := range probe.Kinds() {
		for _, need := range kind.Needs {
			if need.What == "raw-tcp" {
				return need.Try() == nil
			}
		}
	}
	return false
}

// responderState is what is known of the far end of tests.
type responderState int

const (
	responderUnknown responderState = iota
	responderThere
	responderAway // it answers no tests
)

// prober is what makes a step's measurement, a transfer with what the command line says of it. It is nil where the far end does not answer the step.
func (v *survey) prober(s diagnose.Step) (measure.Prober, error) {
	task := measure.Task{Kind: s.Kind, Target: v.target, Parameters: maps.Clone(s.Parameters)}
	if _, planned := task.Parameters["family"]; !planned {
		task.Parameters["family"] = string(v.family)
	}
	options := probe.Options{}
	switch {
	case s.Far:
		options.Audit = v.far.audit
	case (probe.Catalogue{}).Itself(s.Kind):
		task.Target = ""
	}
	if s.Transfer() && v.fetch == nil {
		options = v.options
		v.ask(task.Parameters)
		if s.File {
			options.Files = v.files
		}
	} else if port, given := v.asked["port"]; given && s.NeedsResponder() {
		task.Parameters["port"] = port
	} else if s.Locates() && v.far != nil && !v.far.tellPort(task) { // else it answers at the usual ports
		return nil, nil
	}
	options.TripsKnown = true // by the pings of the plan
	v.session.figures(s.Kind, &options)
	return probe.New(task, options)
}

// ask adds to the parameters of a transfer what the command line says of it, but for what the step is about and what the budget leaves it.
// How a program writes is the step's to say only where the command line does not.
func (v *survey) ask(parameters map[string]any) {
	for name, value := range v.asked {
		if _, planned := parameters[name]; !planned || name == "length" || name == "event-loop" {
			parameters[name] = value
		}
	}
}

// again makes a measurement, and makes it again while the far end is not ready for it: after a test that worked, an iperf3 server
// opens its port anew, and a responder may still be ending that test.
func (v *survey) again(ctx context.Context, p measure.Prober) (*measure.Result, error) {
	patience := time.After(surveyPatience)
	for {
		r, err := p.Do(ctx)
		if v.responder != responderThere || !notThere(err) {
			return r, err
		}
		select {
		case <-patience:
			return r, err
		case <-ctx.Done():
			return r, err
		case <-time.After(surveyPause):
		}
	}
}

// notThere says whether the far end answers no test, or not now.
func notThere(err error) bool {
	return errors.Is(err, iperf3.ErrBusy) || errors.Is(err, iperf3.ErrRefused) || errors.Is(err, iperf3.ErrNoAnswer)
}
