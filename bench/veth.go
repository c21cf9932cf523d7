package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/pathwise-net/pathwise/lab"
)

// Addresses of the two hosts of a plain pair, from the block for documentation (RFC 5737).
const (
	clientAddress = "192.0.2.1"
	serverAddress = "192.0.2.2"
)

// startPair stands up two hosts, client and server, that a veth pair joins with no emulation between them: the
// kernel hands super-packets from one TCP to the other, so that the tools are the limit and not the path.
func startPair(ctx context.Context) (*lab.Lab, error) {
	// The kernel must not carry what one test learned into the next.
	forgetful := lab.Host{Sysctl: map[string]string{"net.ipv4.tcp_no_metrics_save": "1"}}
	spec := &lab.Spec{Hosts: map[string]lab.Host{"client": forgetful, "server": forgetful}}
	l, err := lab.Start(ctx, spec, lab.Options{})
	if err != nil {
		return nil, err
	}
	if err := joinPair(ctx, l); err != nil {
		l.Close()
		return nil, fmt.Errorf("join hosts by a veth pair: %w", err)
	}
	return l, nil
}

func joinPair(ctx context.Context, l *lab.Lab) error {
	// A process that is there names the server's namespace to ip; its number holds in the whole lab.
	holder, err := start(ctx, l, "server", "\n", "sh", "-c", "echo $$; exec sleep infinity")
	if err != nil {
		return err
	}
	pid := strings.TrimSpace(holder.out.String())
	for _, step := range []struct{ host, command string }{
		{"client", "link add v0 type veth peer name v0 netns " + pid},
		{"client", "address add " + clientAddress + "/24 dev v0"},
		{"server", "address add " + serverAddress + "/24 dev v0"},
		{"client", "link set v0 up"},
		{"server", "link set v0 up"},
	} {
		if _, err = output(ctx, l, step.host, append([]string{"ip"}, strings.Fields(step.command)...)...); err != nil {
			break
		}
	}
	_ = holder.process.Kill()
	_, _ = holder.wait() // killed, and says so
	return err
}
