package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/lab"
)

const (
	// agentAgain is how long after its end the agent of this host is started again.
	agentAgain = 10 * time.Second
	// agentEnds is how long it may take to end: it gives its tests five seconds.
	agentEnds = 8 * time.Second
)

// keepOwnAgent keeps an agent running on this host until ctx ends: a process of its own, since what a controller does at the same time would
// show in what it measures. It begins with the given credentials; one that ended may have left them to somebody, and has new ones.
func (s *session) keepOwnAgent(ctx context.Context, h *home, credentials *fleet.Credentials, p *messaging, log *slog.Logger) error {
	for {
		if err := s.runOwnAgent(ctx, h, credentials, p); ctx.Err() == nil {
			log.Error("the agent of this host ended, and is started again", "in", agentAgain, "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(agentAgain):
		}
		if fresh, err := p.issue(h.state.Host, fleet.Reach{}); err != nil {
			log.Error("make keys of the agent of this host", "error", err)
		} else {
			credentials = fresh
		}
	}
}

// runOwnAgent runs the agent of this host until it or ctx ends. It speaks through standard input and output, as one behind SSH does, and
// ends when they do, which the kernel sees to even if this process is killed.
func (s *session) runOwnAgent(ctx context.Context, h *home, credentials *fleet.Credentials, p *messaging) error {
	server, err := p.dial(ctx)
	if err != nil {
		return fmt.Errorf("reach the message server: %w", err)
	}
	defer server.Close()
	c := exec.CommandContext(ctx, lab.Self(), "agent", "--stdio", "-q", "--state", filepath.Join(h.folder, "agent"))
	c.Cancel, c.WaitDelay, c.Stderr = server.Close, agentEnds, s.err
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, c2, err := os.Pipe()
	if err != nil {
		return err
	}
	defer out.Close()
	c.Stdout = c2
	err = c.Start()
	c2.Close()
	if err != nil {
		return fmt.Errorf("start agent: %w", err)
	}
	err = fleet.Carry(credentials, server, out, in)
	return errors.Join(err, c.Wait())
}
