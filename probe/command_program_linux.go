package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/measure"
)

// Program is a program of others, and how to run it. It has no shell, no input, the C locale, and of this process's environment only
// the variables that handedOn lists. It leads a process group of its own. Before Run returns, it kills what is left of that group, so
// that of the processes which the program started only one that moved to another group can outlive Run.
type Program struct {
	Argv []string // with all that is filled in
	Keep int      // bytes of each of its outputs that Run returns: half from the beginning, half from the end

	// Line is called for each line of both outputs as it comes, by one goroutine at a time; cut at 4 KiB. It may be nil.
	Line func(string)
	// Before is called on the thread that starts the program and is used for nothing else after; it may change both. nil: none.
	Before func(*exec.Cmd) error
	// Started is called as soon as the program runs, with its number, which is its group's, too. It may be nil.
	Started func(pid int)
}

// LeftError says that a process may go on that a program started, since it left the program's group. The program itself ended
// as it should.
type LeftError struct{ Program string }

func (e *LeftError) Error() string {
	return "a process that " + e.Program + " started left its process group and may go on"
}

// How a program is asked to end once ctx has: first as by Ctrl-C, on which most sum up what they have. All within the
// second that a run has to end in.
var endings = []struct {
	after  time.Duration
	signal syscall.Signal
}{{0, unix.SIGINT}, {300 * time.Millisecond, unix.SIGTERM}, {600 * time.Millisecond, unix.SIGKILL}}

// Run runs the program until it ends, or until ctx does, and returns what it printed; nil, if it did not start. The error says
// that it did not start, ended with another status than 0 (an *exec.ExitError), or was ended (ctx.Err).
func (p *Program) Run(ctx context.Context) (output *measure.Output, err error) {
	OnOwnThread(func() {
		output, err = p.run(ctx)
	})
	return output, err
}

// OnOwnThread calls do on a thread of its own, which ends with it: the kernel ends a program when the thread that started it
// ends, and Before may have changed the thread. It is not the process's first one, which cannot end, and which stands for the
// process in what the kernel asks about it.
func OnOwnThread(do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if unix.Gettid() != unix.Getpid() {
			do()
			return
		}
		OnOwnThread(do) // with the first thread taken, it is another
		runtime.UnlockOSThread()
	}()
	<-done
}

// handedOn are the variables of this process that a program sees, if they are set: where programs are, where its user's files
// are, where short-lived files go, and what time it is here. Others may hold secrets.
var handedOn = []string{"PATH", "HOME", "TMPDIR", "TZ"}

func environment() []string {
	all := []string{"LC_ALL=C"}
	for _, name := range handedOn {
		if v, set := os.LookupEnv(name); set {
			all = append(all, name+"="+v)
		}
	}
	return all
}

func (p *Program) run(ctx context.Context) (*measure.Output, error) {
	var one sync.Mutex
	show := p.Line
	if p.Line != nil {
		show = func(text string) { one.Lock(); defer one.Unlock(); p.Line(text) }
	}
	stdout, stderr := &keeper{most: p.Keep, line: show}, &keeper{most: p.Keep, line: show}
	name := p.Argv[0]
	command := exec.Command(name, p.Argv[1:]...)
	command.Env = environment()
	command.Stdout, command.Stderr = stdout, stderr
	command.WaitDelay = time.Second // for a child that left the group and holds an output open
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if p.Before != nil {
		if err := p.Before(command); err != nil {
			return nil, fmt.Errorf("start %s: %w", name, err)
		}
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	if p.Started != nil {
		p.Started(command.Process.Pid)
	}
	stopped, err := wait(ctx, command)
	stdout.flush()
	stderr.flush()
	output := &measure.Output{Command: p.Argv, Stdout: stdout.String(), Stderr: stderr.String(),
		ExitCode: command.ProcessState.ExitCode(), Truncated: stdout.forgotten()+stderr.forgotten() > 0}
	switch {
	case stopped:
		output.ExitCode = -1 // however it ended: what it printed is not all
		return output, fmt.Errorf("run %s: %w", name, context.Cause(ctx))
	case errors.Is(err, exec.ErrWaitDelay):
		return output, &LeftError{name}
	case err != nil:
		return output, fmt.Errorf("run %s: %w", name, err)
	}
	return output, nil
}

// wait waits until the program has ended, ends it when ctx does, which it then says, and ends what is left of its group.
func wait(ctx context.Context, command *exec.Cmd) (stopped bool, err error) {
	group := -command.Process.Pid
	ended, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-ended:
			return
		case <-ctx.Done():
		}
		began := time.Now()
		stopped = true
		for _, e := range endings {
			select {
			case <-ended:
				return
			case <-time.After(time.Until(began.Add(e.after))):
				_ = unix.Kill(group, e.signal) // a group that is gone needs none
			}
		}
	}()
	// The program stays in the process table until Wait, so that its number means its group and no other's.
	for unix.Waitid(unix.P_PID, command.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	close(ended)
	<-watched
	_ = unix.Kill(group, unix.SIGKILL)
	return stopped, command.Wait()
}
