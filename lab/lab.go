package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Lab is a handle on a running lab. Its methods may be used from several goroutines.
type Lab struct {
	Name   string
	Status Status

	bootstrap net.Conn // of an attached lab: the engine ends when it closes
	command   *exec.Cmd
	detach    func() bool
}

// ErrNoLab means that no lab of that name is up.
var ErrNoLab = errors.New("no such lab is up; start one with `pathwise lab up FILE`")

// Open returns a handle on a lab of this user that another process started.
func Open(name string) (*Lab, error) {
	l := &Lab{Name: name}
	if _, err := l.State(); err != nil {
		return nil, err
	}
	return l, nil
}

// ErrGone means that the lab ended while something was asked of it, or ran in it.
var ErrGone = errors.New("the lab has ended")

// dial opens a connection to the engine.
func (l *Lab) dial() (*net.UnixConn, error) {
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socketName(l.Name), Net: "unix"})
	if errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, unix.ENOENT) {
		return nil, fmt.Errorf("lab %s: %w", l.Name, ErrNoLab)
	}
	if err != nil {
		return nil, fmt.Errorf("reach lab %s: %w", l.Name, err)
	}
	// Anyone may take a name in the abstract name space, so the other end may be a program of somebody else.
	if peer, err := peerOf(c); err != nil || int(peer.Uid) != os.Geteuid() {
		c.Close()
		return nil, errors.Join(err, fmt.Errorf("lab %s: belongs to another user", l.Name))
	}
	return c, nil
}

// peerOf returns who is at the other end, as this process's namespaces know them.
func peerOf(c *net.UnixConn) (*unix.Ucred, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("open control connection: %w", err)
	}
	var peer *unix.Ucred
	controlErr := raw.Control(func(fd uintptr) { peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err := errors.Join(controlErr, err); err != nil {
		return nil, fmt.Errorf("read peer's credentials: %w", err)
	}
	return peer, nil
}

// ask sends a request and returns its one answer.
func (l *Lab) ask(r request) (answer, error) {
	c, err := l.dial()
	if err != nil {
		return answer{}, err
	}
	defer c.Close()
	if err := sendRequest(c, r); err != nil {
		return answer{}, err
	}
	if err := c.SetReadDeadline(time.Now().Add(answerPatience)); err != nil {
		return answer{}, fmt.Errorf("await lab's answer: %w", err)
	}
	a, err := readAnswer(c)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("lab %s: no answer within %v; it has too much to do, or is stopped", l.Name, answerPatience)
	}
	return a, err
}

// answerPatience is several times what the answer with the most data, the truth of the largest lab, takes on a loaded machine.
const answerPatience = 20 * time.Second

func readAnswer(c net.Conn) (answer, error) {
	var a answer
	err := json.NewDecoder(c).Decode(&a)
	if errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET) {
		return a, ErrGone
	}
	if err != nil {
		return a, fmt.Errorf("read lab's answer: %w", err)
	}
	switch {
	case a.Stale:
		return a, ErrStale
	case a.Error != "":
		return a, &engineError{a.Error, a.Input}
	}
	return a, nil
}

// State returns the lab as it stands now.
func (l *Lab) State() (*State, error) {
	a, err := l.ask(request{Do: "show"})
	return a.State, err
}

// Truth returns what every link did so far, and what became of the packets of each flow.
func (l *Lab) Truth() (*Truth, error) { return l.TruthOf(Window{}) }

// TruthOf returns what Truth does, but of flows only the packets sent within a window. Links are counted since the lab came up.
func (l *Lab) TruthOf(w Window) (*Truth, error) {
	if err := w.Validate(); err != nil {
		return nil, err
	}
	a, err := l.ask(request{Do: "truth", Window: w})
	return a.Truth, err
}

// Follow calls a function with what becomes of each packet, as it happens, until ctx ends or the function returns an
// error, which Follow returns then; nil if it was ctx.
func (l *Lab) Follow(ctx context.Context, o FollowOptions, each func(*Event) error) error {
	c, err := l.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if err := sendRequest(c, request{Do: "follow", Follow: o}); err != nil {
		return err
	}
	for answers := json.NewDecoder(c); ; {
		var a answer
		switch err := answers.Decode(&a); {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, io.EOF):
			return ErrGone
		case err != nil:
			return fmt.Errorf("read lab's answer: %w", err)
		case a.Error != "":
			return &engineError{a.Error, a.Input}
		}
		if a.Event == nil {
			continue
		}
		if err := each(a.Event); err != nil {
			return err
		}
	}
}

// Capture writes what passes nodes, or single interfaces (NODE.eth0), to a file in pcapng, with the lab's own time stamps,
// until ctx ends or the file takes no more.
func (l *Lab) Capture(ctx context.Context, file *os.File, at ...string) error {
	c, err := l.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	if err := sendRequest(c, request{Do: "capture", At: at}, file); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = c.CloseWrite() })()
	_, err = readAnswer(c)
	return err
}

// SetRoute makes a router send what it has for a node by way of a neighbour, from now on.
func (l *Lab) SetRoute(r Route) error {
	_, err := l.ask(request{Do: "route", Route: &r})
	return err
}

// Set changes the links between two nodes while packets flow: "loss=1%", "forward.delay=20ms", "queue=500p".
// Forward is from a to b; files are looked for from the working directory. Packets that are on the link already keep their fate.
func (l *Lab) Set(a, b string, settings ...string) error {
	folder, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find working directory: %w", err)
	}
	_, err = l.ask(request{Do: "set", Between: []string{a, b}, Settings: settings, Dir: folder})
	return err
}

// SetSysctl changes a network setting of a host, such as net.ipv4.tcp_rmem.
func (l *Lab) SetSysctl(host, key, value string) error {
	_, err := l.ask(request{Do: "sysctl", Host: host, Sysctl: map[string]string{key: value}})
	return err
}

// Down ends the lab, whoever started it, and returns when its engine has gone.
func (l *Lab) Down() error {
	if l.command != nil {
		return l.Close()
	}
	c, err := l.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	peer, err := peerOf(c)
	if err != nil {
		return err
	}
	engine, err := unix.PidfdOpen(int(peer.Pid), 0)
	if err != nil {
		return fmt.Errorf("watch lab's engine: %w", err)
	}
	defer unix.Close(engine)
	if err := sendRequest(c, request{Do: "down"}); err != nil {
		return err
	}
	if _, err = readAnswer(c); err != nil {
		return err
	}
	return awaitEnd(engine)
}

// awaitEnd returns when the process that a pidfd stands for has gone, and with it, as it is the first of its PID
// namespace, all that ran in the lab.
func awaitEnd(pidfd int) error {
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, -1)
		if err == nil {
			return nil
		}
		if err != unix.EINTR {
			return fmt.Errorf("await end of lab's engine: %w", err)
		}
	}
}

// Close ends an attached lab and returns when its engine has gone; it lets go of a detached one.
func (l *Lab) Close() error {
	if l.command == nil {
		return nil
	}
	l.detach()
	l.bootstrap.Close()
	err := l.command.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled() {
		return nil // someone ended it before us; it is gone, which was the point
	}
	return err
}
