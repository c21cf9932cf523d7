package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// remoteAgent is an agent that runs at the other end of a channel.
type remoteAgent struct {
	over  chan error // one value, when it is over
	close func()     // ends the channel, and so the agent; may be called twice
}

const (
	// keepAlive is how often the other end has to answer; a path that is cut is noticed within twice that.
	keepAlive = 20 * time.Second
	// maxSays bounds a line that the agent prints.
	maxSays = 1000
)

// start runs the binary and joins it to the NATS server.
func (s *SSH) start(ctx context.Context, client *ssh.Client, binary string, log *slog.Logger) (*remoteAgent, error) {
	session, err := newSession(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("open session on %s: %w", s.Host, err)
	}
	says := &lines{log: log}
	session.Stderr = says
	stdin, err := session.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := session.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := session.Start(shell("exec " + words(append([]string{binary}, s.arguments()...)))); err != nil {
		session.Close()
		return nil, fmt.Errorf("start agent on %s: %w", s.Host, err)
	}
	if err := s.Credentials.WriteLine(stdin); err != nil {
		session.Close()
		return nil, fmt.Errorf("start agent on %s: %w: %s", s.Host, err, says.last())
	}
	server, err := s.Dial(ctx)
	if err != nil {
		session.Close()
		return nil, fmt.Errorf("join %s to the message server: %w", s.Host, err)
	}
	go join(server, stdout, stdin)
	alive, stop := context.WithCancel(context.WithoutCancel(ctx))
	go keepAlives(alive, client)
	a := &remoteAgent{over: make(chan error, 1), close: func() { server.Close() }} // join then closes standard input
	go func() {
		err := session.Wait()
		stop()
		server.Close()
		if err == nil {
			err = errors.New("it ended by itself")
		}
		a.over <- fmt.Errorf("agent on %s: %w: %s", s.Host, err, says.last())
	}()
	return a, nil
}

// keepAlives ends the connection when the other end answers no more.
func keepAlives(ctx context.Context, client *ssh.Client) {
	for sleep(ctx, keepAlive) {
		late := time.AfterFunc(keepAlive, func() { client.Close() })
		_, _, err := client.SendRequest("keepalive@openssh.com", true, nil)
		late.Stop()
		if err != nil {
			client.Close()
			return
		}
	}
}

func (s *SSH) arguments() []string {
	if s.Arguments != nil {
		return s.Arguments
	}
	return []string{"agent", "--stdio", "--state", s.folder() + "/state"}
}

// lines passes on to the log what an agent prints to standard error, line by line, and remembers the last one.
type lines struct {
	log  *slog.Logger
	mu   sync.Mutex
	part []byte
	line string
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range bytes.SplitAfter(p, []byte("\n")) {
		l.part = append(l.part, b[:min(len(b), maxSays-len(l.part))]...)
		if bytes.HasSuffix(b, []byte("\n")) {
			l.line = strings.TrimRight(string(l.part), "\r\n")
			l.part = l.part[:0]
			l.log.Info("agent says", "line", l.line)
		}
	}
	return len(p), nil
}

func (l *lines) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.line == "" {
		return "it said nothing"
	}
	return l.line
}

// shell wraps a command so that any login shell of a user runs it alike.
func shell(script string) string { return "sh -c " + quote(script) }

func words(w []string) string {
	q := make([]string, len(w))
	for i := range w {
		q[i] = quote(w[i])
	}
	return strings.Join(q, " ")
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
