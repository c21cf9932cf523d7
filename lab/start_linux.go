package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Options say how a lab is started. The zero value is an attached lab with a name of its own.
type Options struct {
	Name     string     // by which Open finds it; empty: one that nothing else has
	Detached bool       // the lab outlives the process that starts it, until Lab.Down
	Device   DeviceKind // what host interfaces are made of
}

// ErrRunning means that a lab of that name is up already.
var ErrRunning = errors.New("a lab of that name is up already")

// startTimeout bounds how long a lab may take to stand; 100 hosts take under two seconds.
const startTimeout = 30 * time.Second

// Start stands a lab up. It returns when every host can send. An attached lab ends with Close, with ctx, or with the
// calling process, however that ends.
func Start(ctx context.Context, spec *Spec, o Options) (*Lab, error) {
	if err := errors.Join(spec.Validate(), o.Device.Validate()); err != nil {
		return nil, err
	}
	if o.Name == "" {
		o.Name = fmt.Sprintf("private-%d-%d", os.Getpid(), time.Now().UnixNano())
	}
	if !nodeName.MatchString(o.Name) {
		return nil, specErrorf("name: %q: want letters, digits and inner hyphens, 63 at most", o.Name)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socketName(o.Name), Net: "unix"})
	if errors.Is(err, unix.EADDRINUSE) {
		return nil, fmt.Errorf("lab %s: %w", o.Name, ErrRunning)
	}
	if err != nil {
		return nil, fmt.Errorf("open control socket: %w", err)
	}
	defer listener.Close() // the engine has its own
	bootstrap, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	command, err := spawnEngine(o, theirs, listener)
	theirs.Close()
	if err != nil {
		bootstrap.Close()
		return nil, err
	}
	l := &Lab{Name: o.Name, Status: Status{PID: command.Process.Pid}}
	if err := l.await(ctx, bootstrap, assignment{o.Name, spec, o.Device, o.Detached}); err != nil {
		bootstrap.Close()
		_ = command.Process.Kill()
		_ = command.Wait()
		return nil, err
	}
	if o.Detached {
		bootstrap.Close()
		return l, command.Process.Release()
	}
	l.bootstrap, l.command = bootstrap, command
	l.detach = context.AfterFunc(ctx, func() { bootstrap.Close() })
	return l, nil
}

// await hands over the assignment and waits for the engine's word.
func (l *Lab) await(ctx context.Context, bootstrap net.Conn, task assignment) error {
	stop := context.AfterFunc(ctx, func() { _ = bootstrap.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	_ = bootstrap.SetDeadline(time.Now().Add(startTimeout))
	if err := json.NewEncoder(bootstrap).Encode(task); err != nil {
		return fmt.Errorf("start lab: %w", err)
	}
	var a answer
	if err := json.NewDecoder(bootstrap).Decode(&a); err != nil {
		return fmt.Errorf("start lab: %w", errors.Join(context.Cause(ctx), err))
	}
	if a.Error != "" {
		return fmt.Errorf("start lab: %w", &engineError{a.Error, a.Input})
	}
	l.Status.Device = a.Ready.Device
	return bootstrap.SetDeadline(time.Time{})
}

// spawnEngine starts this same binary in namespaces of its own. Root needs no user namespace, and keeps what root may
// do outside; everyone else becomes root of a user namespace in which only they exist.
func spawnEngine(o Options, bootstrap *os.File, listener *net.UnixListener) (*exec.Cmd, error) {
	control, err := listener.File()
	if err != nil {
		return nil, fmt.Errorf("open control socket: %w", err)
	}
	defer control.Close()
	attr := &syscall.SysProcAttr{
		Setsid:     true, // a terminal's Ctrl-C is for the user's command; it decides about the lab
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID,
	}
	if os.Geteuid() != 0 || !mayMakeNamespaces() {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	c := &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{engineName + " " + o.Name}, Env: os.Environ(), Dir: "/", SysProcAttr: attr,
		ExtraFiles: []*os.File{bootstrap, control}, // become bootstrapFD and listenerFD
	}
	if !o.Detached { // a detached engine must not hold on to a pipe that its starter was given
		c.Stderr = os.Stderr
	}
	if err := c.Start(); err != nil {
		return nil, explainSpawn(err)
	}
	return c, nil
}

// mayMakeNamespaces reports whether this process has CAP_SYS_ADMIN, which root lacks in many a container.
func mayMakeNamespaces() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	err := unix.Capget(&header, &data[0])
	return err == nil && data[0].Effective&(1<<unix.CAP_SYS_ADMIN) != 0
}

// explainSpawn adds what to do where namespaces are closed to the user.
func explainSpawn(err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EACCES) {
		return fmt.Errorf("create namespaces: %w: run with CAP_SYS_ADMIN, or let users create them: sysctl -w "+
			"user.max_user_namespaces=15000 kernel.unprivileged_userns_clone=1 (Debian), "+
			"kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu)", err)
	}
	return fmt.Errorf("start lab engine: %w", err)
}

// socketPair returns two ends of a connection: one to use, one to hand to a child.
func socketPair() (net.Conn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("create socket pair: %w", err)
	}
	ours := os.NewFile(uintptr(fds[0]), "bootstrap")
	defer ours.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		unix.Close(fds[1])
		return nil, nil, fmt.Errorf("create socket pair: %w", err)
	}
	return conn, os.NewFile(uintptr(fds[1]), "bootstrap"), nil
}
