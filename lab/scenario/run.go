package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/lab"
)

// Options say what a case is played with. Self must be set.
type Options struct {
	Self     []string                         // the words before the command that run pathwise, such as {"/proc/self/exe"}
	Env      []string                         // for the programs of the case, beside this process's own
	Progress func(format string, args ...any) // is told of each step as it begins and ends; nil: nobody

	// Measured is given the document of each measurement in the foreground, by the name that it has in the case. May be nil.
	Measured func(as string, document []byte)

	// Diagnosed is given the document of the case's first diagnosis, which is the last step then. nil: diagnoses are left out.
	Diagnosed func(document []byte) error
	// After is called once Diagnosed has returned, while the lab stands. Its error is one of playing the diagnosis. May be nil.
	After func(context.Context, *Stage) error
}

// Run stands the lab of a case up, plays its steps and takes it down again, also when ctx ends. Programs of the lab are
// this binary or others: whoever calls Run must have called lab.RunEngineIfAsked when it began. A step that cannot be
// played ends the case; an expectation that is not met does not. The error is about playing, not about the verdict;
// there is a report in either case.
func Run(ctx context.Context, c *Case, o Options) (*Report, error) {
	r := &Report{Schema: ReportSchema, Name: c.Name, Title: c.Title, Finding: c.Finding, Cause: c.Cause,
		Steps: []StepReport{}, Notes: []string{}}
	if len(o.Self) == 0 {
		return r, errors.New("play case: no way to run pathwise was given")
	}
	if r.Why = c.unplayable(); r.Why != "" {
		r.Verdict = Skip
		return r, nil
	}
	began := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l, err := lab.Start(ctx, &c.Lab, lab.Options{})
	if err != nil {
		return r, fmt.Errorf("play case %s: %w", c.Name, err)
	}
	p := &play{Case: c, Options: o, lab: l, programs: map[string]*running{}, report: r}
	err = p.steps(ctx)
	if closeErr := p.end(); ctx.Err() == nil {
		err = errors.Join(err, closeErr)
	}
	if err == nil && ctx.Err() == nil {
		p.blame()
	}
	r.Duration = time.Since(began).Seconds()
	r.judge(err)
	return r, err
}

// unplayable says why a case cannot be played here; "" if it can.
func (c *Case) unplayable() string {
	if c.Skip != "" {
		return c.Skip
	}
	for _, program := range c.Needs {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Sprintf("needs %s, which is not installed", program)
		}
	}
	return ""
}

// play is a case that is being played.
type play struct {
	*Case
	Options
	lab      *lab.Lab
	started  []*running          // in their order
	programs map[string]*running // those with a name, by it
	report   *Report
}

// steps plays all steps, and reads the truth when they are over.
func (p *play) steps(ctx context.Context) error {
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Diagnose != nil && p.Diagnosed == nil {
			continue
		}
		report := StepReport{Number: i + 1, Line: s.place.line}
		report.Kind, report.What = s.describe()
		p.say("%s %s", report.Kind, report.What)
		began := time.Now()
		seen, err := p.step(ctx, s, &report.Figure)
		report.Seconds, report.Seen, report.OK = time.Since(began).Seconds(), seen, err == nil
		if err != nil {
			report.Seen = strings.TrimSpace(err.Error())
		}
		if ctx.Err() != nil {
			return fmt.Errorf("play case %s: step %d: %w", p.Name, i+1, context.Cause(ctx))
		}
		p.report.Steps = append(p.report.Steps, report)
		p.say("  %s", report.Seen)
		if err != nil && s.Expect == nil || s.Diagnose != nil {
			break
		}
	}
	truth, err := p.lab.Truth()
	if err != nil {
		return fmt.Errorf("play case %s: %w", p.Name, err)
	}
	p.report.keep(truth)
	return nil
}

func (p *play) say(format string, args ...any) {
	if p.Progress != nil {
		p.Progress(format, args...)
	}
}

// step plays one step. It returns what was seen, and puts what is to be shown into shown; an error is why the step failed.
func (p *play) step(ctx context.Context, s *Step, shown **Figure) (seen string, err error) {
	switch {
	case s.Set != nil:
		return "", p.set(s.Set)
	case s.Exec != nil:
		return p.program(ctx, s.Exec, p.command(s.Exec.Run))
	case s.Measure != nil:
		seen, err := p.program(ctx, s.Measure, append(append([]string{}, p.Self...), append(s.Measure.Run, "--json")...))
		if err == nil && p.Measured != nil && !s.Measure.Background {
			p.Measured(s.Measure.As, p.started[len(p.started)-1].out.bytes())
		}
		return seen, err
	case s.Diagnose != nil:
		return p.diagnose(ctx, s.Diagnose)
	case s.Wait != nil && s.Wait.For != "":
		return p.programs[s.Wait.For].await(ctx)
	case s.Wait != nil:
		timer := time.NewTimer(time.Duration(s.Wait.Time))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		return "", nil
	case s.Stop != nil:
		return p.programs[*s.Stop].stop()
	}
	return p.expect(s.Expect, shown)
}

// diagnose makes a diagnosis and hands it on.
func (p *play) diagnose(ctx context.Context, one *Program) (string, error) {
	whatever := *one // a diagnosis says in its document what could not be measured
	whatever.Status = AnyStatus
	earlier, done, err := p.earlier(one.Before)
	defer done()
	if err != nil {
		return "", err
	}
	seen, err := p.program(ctx, &whatever, slices.Concat(p.Self, []string{"diagnose"}, one.Run, earlier, []string{"--json"}))
	if err != nil {
		return seen, err
	}
	err = p.Diagnosed(p.started[len(p.started)-1].out.bytes())
	if err == nil && p.After != nil {
		err = p.After(ctx, &Stage{Lab: p.lab, play: p})
	}
	return seen, err
}

// earlier are the flags that tell a diagnosis of documents of programs, which stand in files until done is called.
func (p *play) earlier(names []string) (flags []string, done func(), err error) {
	if len(names) == 0 {
		return nil, func() {}, nil
	}
	folder, err := os.MkdirTemp("", "pathwise-case-")
	if err != nil {
		return nil, func() {}, fmt.Errorf("keep earlier results: %w", err)
	}
	for _, name := range names {
		path := filepath.Join(folder, name+".json")
		if err = os.WriteFile(path, p.programs[name].out.bytes(), 0o600); err != nil {
			break
		}
		flags = append(flags, "--before", path)
	}
	return flags, func() { _ = os.RemoveAll(folder) }, err
}

// command puts the program under test in place of the word pathwise.
func (p *play) command(run []string) []string {
	if run[0] != "pathwise" {
		return run
	}
	return append(append([]string{}, p.Self...), run[1:]...)
}

// end takes the lab down, and returns when nothing of it runs any more: what a program left behind ends with the lab.
func (p *play) end() error {
	err := p.lab.Close()
	for _, one := range p.started {
		<-one.ended
	}
	return err
}

// blame fails the steps of programs in the background that could not be run, which nobody else may have noticed. It is
// for a case that was played to its end: all programs have ended, those that were left with the lab.
func (p *play) blame() {
	for _, one := range p.started {
		step := &p.report.Steps[one.step]
		if step.OK && one.err != nil && !errors.Is(one.err, lab.ErrGone) {
			step.OK, step.Seen = false, one.err.Error()
		}
	}
}

// environment is what programs of the case see.
func (p *play) environment() []string { return append(os.Environ(), p.Env...) }
