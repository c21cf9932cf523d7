package fleet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/crypto/ssh"
)

// Run pushes the binary to a host, runs it there once with arguments, and takes it away again, whatever came of it. What it prints goes to
// out; status is its exit status, and says what it printed last where it complained. Nothing of the fleet is needed: no Credentials, no Dial.
// Folder, if it is empty, is a new one in the user's home.
func (s *SSH) Run(ctx context.Context, out io.Writer, arguments ...string) (status int, says string, err error) {
	if err := s.validateReach(); err != nil {
		return 0, "", err
	}
	one := *s
	if one.Folder == "" {
		one.Folder = ".pathwise-run-" + rand.Text()
	}
	client, err := one.connect(ctx)
	if err != nil {
		return 0, "", err
	}
	defer client.Close()
	log := logger(one.Log).With("host", one.Host)
	binary, err := one.install(ctx, client, log)
	if err == nil {
		complaints := &lines{log: log}
		status, err = one.execute(ctx, client, out, complaints, append([]string{binary}, arguments...))
		says = complaints.last()
	}
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer cancel()
	return status, says, errors.Join(err, one.remove(leaving, client))
}

// watched runs a command until it ends, or until standard input does, which is when the channel closes or is lost: a signal would not
// reach it, as sshd refuses to send any for root.
const watched = `exec 3<&0
%s </dev/null 3<&- & program=$!
{ cat <&3; kill $program; } >/dev/null 2>&1 & watch=$!
exec 3<&-
wait $program
status=$?
kill $watch
exit $status`

// execute runs a command on the host. The end of ctx ends it there, for which it has endTime.
func (s *SSH) execute(ctx context.Context, client *ssh.Client, out, complaints io.Writer, command []string) (status int, err error) {
	session, err := newSession(ctx, client)
	if err != nil {
		return 0, fmt.Errorf("open session on %s: %w", s.Host, err)
	}
	defer session.Close()
	session.Stdout, session.Stderr = out, complaints
	stdin, err := session.StdinPipe()
	if err != nil {
		return 0, err
	}
	if err := session.Start(shell(fmt.Sprintf(watched, words(command)))); err != nil {
		return 0, fmt.Errorf("run %s on %s: %w", command[0], s.Host, err)
	}
	over := make(chan error, 1)
	go func() { over <- session.Wait() }() // it ends with the client at the latest
	select {
	case err = <-over:
	case <-ctx.Done():
		_ = stdin.Close() // it may have ended in between
		select {
		case <-over:
		case <-time.After(endTime):
		}
		return 0, context.Cause(ctx)
	}
	var exit *ssh.ExitError
	if errors.As(err, &exit) && exit.Signal() == "" {
		return exit.ExitStatus(), nil
	}
	if err != nil {
		return 0, fmt.Errorf("run %s on %s: %w", command[0], s.Host, err)
	}
	return 0, nil
}
