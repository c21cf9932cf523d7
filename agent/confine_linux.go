package agent

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/agent/policy"
)

// Confine bounds what this process takes of its host: memory, which the Go runtime tries to keep within by collecting
// sooner, and processors that work at the same time. It is for a process that is an agent and nothing else.
func Confine(p *policy.Policy) {
	bounds := p.Bounds()
	debug.SetMemoryLimit(int64(bounds.Memory))
	runtime.GOMAXPROCS(min(int(bounds.CPUs), runtime.NumCPU()))
}

// confine bounds a program that has just started. What it does in its first moments, a fraction of a millisecond as a rule, is
// not bounded.
func (a *Agent) confine(pid int, program string) {
	if err := confineChild(pid, a.bounds.Program); err != nil && !errors.Is(err, unix.ESRCH) { // it may have ended
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
