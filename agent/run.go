package agent

import (
	"context"
	"fmt"
	"net/netip"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/pathwise-net/pathwise/agent/policy"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// retryAfter is how long a failed try waits for the next: what was in its way, such as a listener that is not open yet,
// mostly takes as long.
const retryAfter = 2 * time.Second

// measure does a run, in as many tries as it may have, and returns its Result.
func (a *Agent) measure(ctx context.Context, j *job) *measure.Result {
	run := j.run
	limit := min(run.Limit().Sub(a.now()), time.Duration(run.LimitSeconds*float64(time.Second)))
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w of %gs", errLimit, run.LimitSeconds))
	defer cancel()
	demand, address, err := a.judge(ctx, &run)
	if err != nil {
		return failed(&run, err)
	}
	var notes []string
	for try := 1; ; try++ {
		began := time.Now()
		r, err := a.try(ctx, j, run.Task, address)
		if err != nil && ctx.Err() != nil && r.Status != measure.StatusOK {
			r.Fail(context.Cause(ctx))
		}
		a.count(a.policy.ClassOf(run.Target, address), moved(r, demand))
		a.log.Debug("run done", "run", run.ID, "tool", run.Tool, "target", run.Target, "status", r.Status, "took", time.Since(began))
		if r.Status != measure.StatusFailed || try >= max(1, run.Tries) || input.Bad(err) || !a.again(ctx, &run) {
			for _, note := range notes {
				r.Note(note)
			}
			return label(r, &run)
		}
		notes = append(notes, fmt.Sprintf("try %d of %d failed: %v", try, run.Tries, err))
	}
}

// again waits for the next try, if there is time for one.
func (a *Agent) again(ctx context.Context, run *measure.Run) bool {
	if a.now().Add(retryAfter).After(run.Latest()) {
		return false
	}
	select {
	case <-time.After(retryAfter):
		return true
	case <-ctx.Done():
		return false
	}
}

// try does the task once.
func (a *Agent) try(ctx context.Context, j *job, task measure.Task, address netip.Addr) (*measure.Result, error) {
	options := probe.Options{
		Responder: j.run.Responder,
		Start:     j.run.Start,
		Host:      j.run.Source,
		Allow:     func(argv []string) error { return a.allowProgram(&j.run, address, argv) },
		Before:    a.shield,
		Started:   func(pid int) { a.confine(pid, j.run.Tool) },
	}
	j.show.watch(&options)
	prober, err := a.config.Prober(task, options)
	if err != nil {
		return failed(&j.run, err), err
	}
	return prober.Do(ctx)
}

// judge asks the owner's policy. A target given by name is looked up first, and the address that was judged is the one
// that is measured.
func (a *Agent) judge(ctx context.Context, run *measure.Run) (demand measure.Demand, address netip.Addr, err error) {
	if demand, err = probe.Demand(run.Task); err != nil {
		return demand, address, err
	}
	if address, err = probe.Address(ctx, run.Task); err != nil {
		return demand, address, err
	}
	if address.IsValid() {
		run.Task.Target = address.String()
	}
	return demand, address, a.decide(request(run, demand, address))
}

func request(run *measure.Run, demand measure.Demand, address netip.Addr) policy.Request {
	return policy.Request{Host: run.Target, Address: address, Kind: run.Task.Kind, Exclusive: demand.Exclusive,
		Duration: time.Duration(demand.DurationSeconds * float64(time.Second)), Rate: demand.BitsPerSecond, Bytes: demand.Bytes}
}

// RefusedError says that the owner of this host does not allow something, and which limit it is beyond.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return "refused by the policy of this host: " + e.Why }

func (a *Agent) decide(r policy.Request) error {
	r.At = a.now().Local()
	a.dailyBytes.Day(r.At)
	if allowed, why := a.policy.Decide(r, a.dailyBytes.Used(bytesOfDay)); !allowed {
		return &RefusedError{why}
	}
	return nil
}

// allowProgram asks the policy about a program that is about to be started.
func (a *Agent) allowProgram(run *measure.Run, address netip.Addr, argv []string) (err error) {
	r := request(run, measure.Demand{}, address)
	if r.Program, err = pathOf(argv[0]); err != nil {
		return err
	}
	return a.decide(r)
}

// pathOf is where a program will be found, which the policy goes by.
func pathOf(program string) (string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}
