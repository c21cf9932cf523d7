package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/lab"
)

// Hosts of a lab reach nothing outside of it. So their agents speak through standard input and output, as agents behind SSH
// do, and this process carries that to the controller's NATS server:
//
//	agent in the lab <-- socket pair --> this process <-- TCP --> NATS server of the controller, outside

// agents are the agents of the mesh.
type agents struct {
	lab         *lab.Lab
	nats        string // address of the controller's server
	folder      string // of what agents keep
	said        *os.File
	credentials map[string]*fleet.Credentials // by host
}

// issue makes the agents' keys.
func (a *agents) issue(folder string) error {
	keys, err := fleet.OpenKeyring(folder)
	if err != nil {
		return err
	}
	a.credentials = map[string]*fleet.Credentials{}
	for _, h := range members {
		if a.credentials[h.name], err = keys.Issue(h.name, keys.Embedded(a.nats)); err != nil {
			return err
		}
	}
	return nil
}

// keep keeps the agent of a host running until ctx ends: after a machine slept, say, its channel is lost. It returns before
// if the agent cannot run.
func (a *agents) keep(ctx context.Context, host string) error {
	for {
		began := time.Now()
		err := a.run(ctx, host)
		switch {
		case ctx.Err() != nil:
			return nil
		case time.Since(began) < agentLasts:
			return fmt.Errorf("the agent of %s ended: %w", host, err)
		}
		fmt.Fprintf(a.said, "the agent of %s ended, and is started again: %v\n", host, err)
	}
}

// agentLasts is how long an agent lasts that can do its work at all.
const agentLasts = 5 * time.Second

// run runs the agent of a host until it or ctx ends.
func (a *agents) run(ctx context.Context, host string) error {
	near, far, err := channelPair()
	if err != nil {
		return err
	}
	defer near.Close()
	p, err := a.lab.Start(ctx, host, lab.Command{
		Argv: []string{lab.Self(), "agent", "--stdio", "-q", "--state", filepath.Join(a.folder, host)}, Stdin: far, Stdout: far, Stderr: a.said,
	})
	far.Close()
	if err != nil {
		return err
	}
	err = a.carry(ctx, near, a.credentials[host])
	_ = p.Kill() // it ends with its channel; at once, it is to
	_, waitErr := p.Wait()
	return errors.Join(err, waitErr)
}

// carry hands an agent its credentials, and then bytes both ways until one end is over or ctx ends.
func (a *agents) carry(ctx context.Context, agent net.Conn, credentials *fleet.Credentials) error {
	server, err := (&net.Dialer{}).DialContext(ctx, "tcp", a.nats)
	if err != nil {
		return fmt.Errorf("reach the message server: %w", err)
	}
	end := func() { server.Close(); agent.Close() }
	defer context.AfterFunc(ctx, end)()
	if err := credentials.WriteLine(agent); err != nil {
		end()
		return err
	}
	back := make(chan struct{})
	go func() {
		defer close(back)
		_, _ = io.Copy(agent, server)
		end()
	}()
	_, err = io.Copy(server, agent)
	end()
	<-back
	return err
}

// channelPair is a socket pair: our end, and the one that a program gets.
func channelPair() (near net.Conn, far *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("create socket pair: %w", err)
	}
	ours := os.NewFile(uintptr(fds[0]), "channel")
	defer ours.Close() // FileConn has its own
	far = os.NewFile(uintptr(fds[1]), "channel")
	if near, err = net.FileConn(ours); err != nil {
		far.Close()
		return nil, nil, fmt.Errorf("create socket pair: %w", err)
	}
	return near, far, nil
}
