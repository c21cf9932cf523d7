package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/agent/spool"
	"github.com/pathwise-net/pathwise/durable/daily"
	"github.com/pathwise-net/pathwise/measure"
)

// bytesOfDay is the only kind of use that an agent counts: see package daily.
const bytesOfDay = "bytes"

// count adds the bytes of a test to what its class, and the parents of that, used today.
func (a *Agent) count(class string, bytes int64) {
	a.dailyBytes.Add(a.dailyBytes.Day(a.now().Local()), bytesOfDay, a.policy.Chain(class), float64(bytes))
}

// load reads the folder.
func (a *Agent) load() (err error) {
	if a.dailyBytes, err = daily.Open(a.path("bytes.json"), bytesOfDay); err != nil {
		a.log.Warn("the count of bytes of today cannot be read; it begins at zero", "error", err)
	}
	a.spool, err = spool.Open(spool.Config{Dir: a.path("spool"), MaxBytes: int64(a.policy.Spool), Log: a.log})
	if err != nil {
		return err
	}
	p, err := loadPlan(a.path("plan"))
	if err != nil {
		a.log.Warn("the plan on disk cannot be read; it is set aside until the controller sends another", "error", err)
		if err := setAside(a.path("plan")); err != nil {
			return err
		}
		p = &stored{}
	}
	if p.Host != "" && p.Host != a.config.Host {
		return fmt.Errorf("%s holds the plan of host %s, and this is %s", a.config.Dir, p.Host, a.config.Host)
	}
	a.adopt(p)
	if mark := a.spool.Mark(); mark.Plan == p.Number {
		a.agenda.runs.mark = mark.Until
	}
	a.failInterruptedRuns()
	return nil
}

// failInterruptedRuns gives the runs that were noted when the agent was killed their Result, but for those of the plan whose start has not
// come yet: they begin at their time.
func (a *Agent) failInterruptedRuns() {
	for _, run := range a.spool.Unfinished() {
		planned, ok := a.agenda.runs.find(parseID(run.ID), run.Start)
		if ok && run.Start.After(a.now()) {
			a.noting = append(a.noting, &job{run: planned.run()}) // the spool has it without its secret
		} else {
			a.agenda.runs.gone[parseID(run.ID)] = true
			a.put(failed(&run, errStopped))
		}
	}
}

func (a *Agent) path(name string) string { return filepath.Join(a.config.Dir, name) }

// adopt makes a plan the one to follow, but for the runs that are done with.
func (a *Agent) adopt(p *stored) {
	gone := make(map[ulid.ULID]bool, len(p.done))
	for _, id := range p.done {
		gone[parseID(id)] = true
	}
	a.agenda = newAgenda(&p.Plan, gone)
	a.plan, a.round, a.planReceivedAt = p.Plan, 0, time.Now()
	a.plan.Runs, a.plan.Opens = nil, nil
}

// put keeps a Result. One that is too large loses its samples first.
func (a *Agent) put(r *measure.Result) {
	err := a.spool.Put(r)
	if errors.Is(err, spool.ErrTooLarge) {
		r.Samples = measure.Samples{}
		r.Note(noSamples)
		err = a.spool.Put(r)
	}
	if err != nil {
		a.log.Error("a Result is lost", "run", r.ID, "error", err)
	}
}

// noSamples is noted in a Result that went without its samples, since it was too large to be kept or carried with them.
const noSamples = "the samples were too many to be kept"

// setAside keeps a file that cannot be read out of the way, for people to look at.
func setAside(path string) error { return os.Rename(path, path+".spoilt") }

// lockDir makes this process the only agent in a folder, until the file is closed, which the kernel does for a process that
// is killed.
func lockDir(dir string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		file.Close()
		if err == unix.EWOULDBLOCK {
			return nil, fmt.Errorf("%s: another agent uses it; end that one, or give this one a folder of its own", dir)
		}
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return file, nil
}

// unlockDir lets another agent use the folder. To close the file would not be enough at once: a program that is just being
// started has it, too, until it is there.
func unlockDir(lock *os.File) error {
	err := unix.Flock(int(lock.Fd()), unix.LOCK_UN)
	return errors.Join(err, lock.Close())
}
