package main

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
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
