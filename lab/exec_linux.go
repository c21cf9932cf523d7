package lab

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/sock"
)

// exec runs a command on a host for a user, until it ends or the user goes.
func (e *engine) exec(r request, files []*os.File, lines *bufio.Reader, reply *json.Encoder) {
	pid, ended, err := e.start(r, files)
	for _, f := range files {
		f.Close() // the process has its own now; a pipe must end when the process does
	}
	if err != nil {
		_ = reply.Encode(errorAnswer(err))
		return
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		decoder := json.NewDecoder(lines)
		for {
			var s request
			if decoder.Decode(&s) != nil {
				return
			}
			_ = unix.Kill(-pid, unix.Signal(s.Signal)) // it may have ended in between
		}
	}()
	select {
	case status := <-ended:
		_ = unix.Kill(-pid, unix.SIGKILL) // what it left behind; the group's number is taken as long as there is any
		code := exitCode(status)
		_ = reply.Encode(answer{Exit: &code})
	case <-gone:
		_ = unix.Kill(-pid, unix.SIGKILL)
		<-ended
	}
}

// start forks on the thread that lives in the host's namespace, which the child inherits.
func (e *engine) start(r request, files []*os.File) (pid int, ended <-chan unix.WaitStatus, err error) {
	ns, err := e.host(r.Host)
	if err != nil {
		return 0, nil, err
	}
	if len(files) != 3 || len(r.Argv) == 0 {
		return 0, nil, errors.New("exec: want a command and three descriptors")
	}
	path, err := lookPath(r.Argv[0], r.Dir, r.Env)
	if err != nil {
		return 0, nil, err
	}
	attr := &syscall.ProcAttr{Dir: r.Dir, Env: e.environment(r.Host, r.Env), Sys: &syscall.SysProcAttr{Setsid: true}}
	for _, f := range files {
		attr.Files = append(attr.Files, f.Fd())
	}
	err = ns.do(func() (err error) {
		pid, ended, err = e.processes.start(path, r.Argv, attr)
		return err
	})
	if err != nil {
		return 0, nil, fmt.Errorf("start %s on %s: %w", r.Argv[0], r.Host, err)
	}
	return pid, ended, nil
}

// environment tells a command on a host of this lab's meter, adapters and clock, and of no other's: a lab may stand in a lab.
func (e *engine) environment(host string, env []string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{MeterVariable, sock.AdapterVariable, sock.ClockVariable}, name)
	})
	for _, n := range e.plan.Nodes {
		if n.Name == host && n.Host.Clock > 0 {
			env = append(env, sock.ClockVariable+"="+n.Host.Clock.String())
		}
	}
	return append(env, e.variables...)
}

// exitCode is what a shell would show: the exit status, or 128 and the signal.
func exitCode(s unix.WaitStatus) int {
	if s.Signaled() {
		return 128 + int(s.Signal())
	}
	return s.ExitStatus()
}

// lookPath finds a command by the caller's PATH and from the caller's folder, not the engine's.
func lookPath(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, nil
	}
	for _, v := range env {
		list, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, folder := range filepath.SplitList(list) {
			if path, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
				return path, nil
			}
		}
	}
	return "", specErrorf("command: %q: not found; check the name, or give its path", name)
}

// processes starts children and waits for every child there is: the engine is process 1 of its PID namespace, so the
// orphans of what it ran become its own.
type processes struct {
	mu    sync.Mutex
	ended map[int]chan unix.WaitStatus
}

func reapProcesses() *processes {
	p := &processes{ended: map[int]chan unix.WaitStatus{}}
	died := make(chan os.Signal, 1)
	signal.Notify(died, syscall.SIGCHLD)
	go func() {
		for range died {
			p.reap()
		}
	}()
	return p
}

func (p *processes) reap() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil || pid == 0 {
			return
		}
		if done := p.ended[pid]; done != nil {
			done <- status
			delete(p.ended, pid)
		}
	}
}

// start holds the lock across the fork, so that a child that ends at once is still known.
func (p *processes) start(path string, argv []string, attr *syscall.ProcAttr) (int, <-chan unix.WaitStatus, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pid, err := syscall.ForkExec(path, argv, attr)
	if err != nil {
		return 0, nil, err
	}
	done := make(chan unix.WaitStatus, 1)
	p.ended[pid] = done
	return pid, done, nil
}
