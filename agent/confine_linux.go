package agent

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/agent/policy"
	"github.com/pathwise-net/pathwise/probe"
)

// garbage is how much a process that is an agent may hold of it, in per cent of what it needs. Go's own 100 saves no time
// that counts: with a hundred peers an agent makes a quarter of a megabyte a second.
const garbage = 25

// Confine bounds what this process takes of its host: memory, which the Go runtime tries to keep within by collecting
// sooner, and processors that work at the same time. It is for a process that is an agent and nothing else; Config.Alone
// sets these bounds too, and more.
func Confine(p *policy.Policy) {
	bounds := p.Bounds()
	debug.SetGCPercent(garbage)
	debug.SetMemoryLimit(int64(bounds.Memory))
	runtime.GOMAXPROCS(min(int(bounds.CPUs), runtime.GOMAXPROCS(0)))
	debug.FreeOSMemory()
	shedProgram()
}

// settle makes this process as small as an agent can be.
func (a *Agent) settle() {
	Confine(a.policy)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.processors = runtime.GOMAXPROCS(0)
	a.weigh(0)
}

// shrink gives back the memory that a new plan took on its way here, some ticks after it came: the longest have a hundred
// thousand runs.
func (a *Agent) shrink() {
	a.mu.Lock()
	due := a.processors > 0 && !a.planReceivedAt.IsZero() && time.Since(a.planReceivedAt) > claimAhead
	if due {
		a.planReceivedAt = time.Time{}
	}
	a.mu.Unlock()
	if due {
		debug.FreeOSMemory()
		shedProgram() // of what connecting and reading a plan took, most is not needed again for hours
	}
}

// weigh notes that one more, or one less, test is under way that may fill a link. A process that is alone works on as many
// processors as it may while there is any, and on one else: what Go does to find work for a second costs a quarter of all
// that a hundred pings do.
func (a *Agent) weigh(n int) {
	a.heavy += n
	switch {
	case a.processors == 0:
	case a.heavy > 0:
		runtime.GOMAXPROCS(a.processors)
	default:
		runtime.GOMAXPROCS(1)
	}
}

// shield keeps a program that is about to start away from what this agent keeps.
func (a *Agent) shield(c *exec.Cmd) error {
	if a.exposed != nil {
		return a.exposed
	}
	return a.shelter.Prepare(c)
}

// confine bounds a program that has just started. What it does in its first moments, a fraction of a millisecond as a rule, is
// not bounded.
func (a *Agent) confine(pid int, program string) {
	err := confineChild(pid, a.bounds.Program)
	if errors.Is(err, unix.EPERM) { // root without CAP_SYS_RESOURCE, as in most containers, bounds no other user's
		probe.OnOwnThread(func() {
			if err = a.shelter.Become(); err == nil {
				err = confineChild(pid, a.bounds.Program)
			}
		})
	}
	if err != nil && !errors.Is(err, unix.ESRCH) { // it may have ended
		a.log.Warn("a program runs without limits", "program", program, "error", err)
	}
}

// confineChild bounds an external program that leads a process group of its own, and what it starts from now on. What each of
// its processes may take in excess ends it.
func confineChild(pid int, c policy.Child) error {
	seconds := uint64(time.Duration(c.CPU).Round(time.Second) / time.Second)
	for resource, limit := range map[int]uint64{
		unix.RLIMIT_AS: uint64(c.Memory), unix.RLIMIT_CPU: max(1, seconds), unix.RLIMIT_NOFILE: uint64(c.Files), unix.RLIMIT_CORE: 0,
	} {
		if err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: limit, Max: limit}, nil); err != nil {
			return fmt.Errorf("limit program: %w", err)
		}
	}
	const zero = 20 // the system call shows a niceness n as 20 - n (getpriority(2))
	if has, err := unix.Getpriority(unix.PRIO_PROCESS, pid); err == nil && zero-has >= int(c.Nice) {
		return nil
	}
	if err := unix.Setpriority(unix.PRIO_PGRP, pid, int(c.Nice)); err != nil {
		return fmt.Errorf("set niceness of program: %w", err)
	}
	return nil
}
