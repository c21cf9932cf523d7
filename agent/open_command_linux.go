package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/agent/policy"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

const (
	// A program that is to answer on a port listens within some tens of milliseconds, unless it is a script. One may also use its
	// port for something else: then whoever asked is not kept for longer.
	listensWithin = time.Second
	lookEvery     = 20 * time.Millisecond
	// lastWords in bytes bound what the log shows of what a program said last.
	lastWords = 200
)

// openCommand starts the program that a run's other end talks to, as far as the policy allows, and returns when it listens.
// Whom it answers is the program's to say: the peer only tells the class. When the opening is over the program is ended, with
// its process group; that it ends by itself, as many do after one test, is no error.
func (a *Agent) openCommand(ctx context.Context, o fleet.Opening) (answer, error) {
	if len(o.Responder.Command) == 0 {
		return nil, fmt.Errorf("open for run %s: no program to start", o.Run)
	}
	peer, err := peerOf(o)
	if err != nil {
		return nil, err
	}
	path, err := pathOf(o.Responder.Command[0])
	if err != nil {
		return nil, err
	}
	err = a.decide(policy.Request{Host: o.Source, Address: peer, Open: o.Responder.Kind, Port: o.Responder.Port, Program: path})
	if err != nil {
		return nil, err
	}
	if err := a.roomForServer(); err != nil {
		return nil, err
	}
	last, started, ended := "", make(chan error, 2), make(chan error, 1)
	program := probe.Program{
		Argv:    slices.Concat([]string{path}, o.Responder.Command[1:]),
		Line:    func(line string) { last = line },
		Before:  a.shield,
		Started: func(pid int) { a.confine(pid, path); started <- nil },
	}
	a.group.Go(func() {
		_, err := program.Run(ctx)
		started <- err // counts only if it did not
		ended <- err
	})
	if err := <-started; err != nil {
		return nil, err
	}
	until := time.Now().Add(listensWithin)
	for len(ended) == 0 && !listens(o.Responder.Port) && time.Now().Before(until) && ctx.Err() == nil {
		time.Sleep(lookEvery)
	}
	return func(ctx context.Context) error {
		err := <-ended
		a.log.Info("the program for a test ended", "run", o.Run, "program", path, "how", howEnded(ctx, err),
			"last", last[:min(len(last), lastWords)])
		return nil
	}, nil
}

// roomForServer says why one more program may not be started for another host's run: none of them shall be able to start more
// than a host bears.
func (a *Agent) roomForServer() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	running := 0
	for _, d := range a.responders {
		if d.open && d.opening.Responder.Kind == measure.ResponderCommand {
			running++
		}
	}
	if running >= int(a.bounds.Light) {
		return fmt.Errorf("%d programs answer tests, as many as limits.light allows", running)
	}
	return nil
}

func howEnded(ctx context.Context, err error) string {
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "with its time"
	case errors.As(err, &exit):
		return exit.Error()
	case err != nil:
		return err.Error()
	}
	return "by itself"
}

// listens reports whether a program on this host listens on a TCP port, or that it cannot be told. 0 is no port.
func listens(port int) bool {
	if port == 0 {
		return true
	}
	unknown := true
	for _, table := range []string{"tcp", "tcp6"} { // of a host without IPv6 there is only one
		text, err := os.ReadFile("/proc/self/net/" + table) // where net stands, however little else of /proc a service may see
		if err != nil {
			continue
		}
		unknown = false
		if listensIn(string(text), port) {
			return true
		}
	}
	return unknown
}

// listensIn looks for a port in a table of TCP sockets (proc(5)): a line a socket, its second field the local address and
// port in hexadecimal, its fourth the state.
func listensIn(table string, port int) bool {
	const listening = "0A" // TCP_LISTEN (include/net/tcp_states.h)
	suffix := fmt.Sprintf(":%04X", port)
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) > 3 && f[3] == listening && strings.HasSuffix(f[1], suffix) {
			return true
		}
	}
	return false
}
