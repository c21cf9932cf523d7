package accuracy

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/scenario"
	"github.com/pathwise-net/pathwise/measure"
)

// follow does what the first advice of a finding says, and measures what that reached: a transfer like the one that was diagnosed.
func (p *player) follow(ctx context.Context, stage *scenario.Stage, f *measure.Finding) {
	p.Advice = &Advice{Finding: f.ID, Predicted: f.Predicted.BitsPerSecond, How: Unfit}
	var err error
	switch first := f.Advice[0]; {
	case strings.HasPrefix(first.Command, "sysctl ") || strings.HasPrefix(first.Command, "ip "):
		p.Advice.How, err = ByCommand, commands(ctx, stage.Lab, f.Advice)
	case p.Sample.called(f.ID) && !p.Sample.Lasts:
		p.Advice.How, err = ByMending, mend(stage.Lab, p.Sample.Mend)
	default:
		return
	}
	if err == nil {
		p.Advice.Reached, err = p.again(ctx, stage, f.Way)
	}
	if err != nil {
		p.Advice.Failed = err.Error()
	}
}

func mend(l *lab.Lab, changes []Change) error {
	for i := range changes {
		if err := changes[i].apply(l); err != nil {
			return err
		}
	}
	return nil
}

// again measures the goodput of a way, for as long as the diagnosis did: its prediction is for that.
func (p *player) again(ctx context.Context, stage *scenario.Stage, way measure.Way) (float64, error) {
	lasted := float64(transferSeconds)
	if r := transferOf(p.Results, way); r != nil && len(r.Samples.TCPInfo) > 0 {
		lasted = r.Samples.TCPInfo[len(r.Samples.TCPInfo)-1].ElapsedSeconds
	}
	run := transfer(&p.Sample.Path, max(lasted, leastTransfer))
	if way == measure.Reverse {
		run = append(run, "-R")
	}
	text, err := stage.Run(ctx, "a", slices.Concat(p.self, run, []string{"--json"}))
	if err != nil {
		return 0, err
	}
	r, err := resultOf(text)
	if err != nil {
		return 0, err
	}
	return r.Metrics[measure.Throughput], nil
}

// leastTransfer is the shortest transfer that is made, in seconds: a shorter one carries too few packets to give a rate.
const leastTransfer = 0.2

// called reports whether a finding names one of the sample's faults.
func (s *Sample) called(id string) bool {
	return slices.ContainsFunc(s.Expect, func(e Expected) bool { return e.fits(id) })
}

// commands runs the first advice, and those behind it that are the same command at the other end.
func commands(ctx context.Context, l *lab.Lab, all []measure.Advice) error {
	for _, a := range all {
		if a.Command != all[0].Command {
			break
		}
		if err := command(ctx, l, a); err != nil {
			return err
		}
	}
	return nil
}

// command runs an advice on its host: a setting is the lab's to change, as hosts of a lab share /proc/sys.
func command(ctx context.Context, l *lab.Lab, a measure.Advice) error {
	if setting, ok := strings.CutPrefix(a.Command, "sysctl -w "); ok {
		key, value, _ := strings.Cut(setting, "=")
		return l.SetSysctl(a.Host, key, strings.Trim(value, `"`))
	}
	p, err := l.Start(ctx, a.Host, lab.Command{Argv: []string{"sh", "-c", a.Command}, Env: os.Environ(), Stderr: os.Stderr})
	if err != nil {
		return err
	}
	status, err := p.Wait()
	if err == nil && status != 0 {
		err = fmt.Errorf("%s: exit status %d", a.Command, status)
	}
	return err
}
