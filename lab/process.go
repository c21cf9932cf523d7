package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"syscall"
)

// Command is a program to run on a host. The zero value of all but Argv is fine.
type Command struct {
	Argv                  []string
	Env                   []string // nil: the caller's
	Dir                   string   // empty: the caller's
	Stdin, Stdout, Stderr *os.File // nil: /dev/null
}

// Process is a program that runs on a host. It ends with the lab, with the process that started it, and when its
// handle is given up: keep it, and call Wait.
type Process struct {
	conn *net.UnixConn
	stop func() bool
}

// Start runs a command on a host. When ctx ends, so do the process and its group.
func (l *Lab) Start(ctx context.Context, host string, cmd Command) (*Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	defer null.Close()
	files := []*os.File{cmd.Stdin, cmd.Stdout, cmd.Stderr}
	for i, f := range files {
		if f == nil {
			files[i] = null
		}
	}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	if cmd.Dir == "" {
		if cmd.Dir, err = os.Getwd(); err != nil {
			return nil, fmt.Errorf("find working directory: %w", err)
		}
	}
	c, err := l.dial()
	if err != nil {
		return nil, err
	}
	if err := sendRequest(c, request{Do: "exec", Host: host, Argv: cmd.Argv, Env: cmd.Env, Dir: cmd.Dir}, files...); err != nil {
		c.Close()
		return nil, err
	}
	return &Process{conn: c, stop: context.AfterFunc(ctx, func() { c.Close() })}, nil
}

// Self is the path of this very program, which hosts of labs run again.
func Self() string {
	if path, err := os.Executable(); err == nil {
		return path
	}
	return "/proc/self/exe" // without /proc there are no labs
}

// Respond runs `pathwise respond` on a host, where Argv of the command is what runs pathwise, and returns when it answers. Stdout is
// not the caller's to set.
func (l *Lab) Respond(ctx context.Context, host string, pathwise Command) (*Process, error) {
	out, outWriter, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("create pipe: %w", err)
	}
	defer out.Close()
	pathwise.Argv, pathwise.Stdout = append(slices.Clone(pathwise.Argv), "respond"), outWriter
	p, err := l.Start(ctx, host, pathwise)
	outWriter.Close()
	if err != nil {
		return nil, err
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it says one line, when it listens
		_ = p.Kill()
		_, _ = p.Wait()
		return nil, errors.Join(context.Cause(ctx), fmt.Errorf("the responder on %s did not start", host))
	}
	return p, nil
}

// Wait returns the exit status: the program's own, or 128 and the signal that ended it. The error is about running
// it, not about its status.
func (p *Process) Wait() (int, error) {
	defer p.conn.Close()
	defer p.stop()
	a, err := readAnswer(p.conn)
	if err != nil {
		return 0, err
	}
	if a.Exit == nil {
		return 0, errors.New("read lab's answer: no exit status")
	}
	return *a.Exit, nil
}

// Signal sends a signal to the process and its group.
func (p *Process) Signal(s syscall.Signal) error { return sendRequest(p.conn, request{Signal: int(s)}) }

// Kill ends the process and its group at once. Wait still has to be called.
func (p *Process) Kill() error { return p.Signal(syscall.SIGKILL) }
