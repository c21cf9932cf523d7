package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

const (
	loadPeers  = 100
	loadEvery  = time.Minute      // each run begins anew, at a time of its own within it
	loadSettle = 65 * time.Second // then all are under way
	loadWatch  = 30 * time.Second
)

// loadedAgent prints what one agent takes that pings a hundred peers once a second and finds one route to each a minute. Its
// controller is a hub in this process, which files everything at once.
func (b *bench) loadedAgent(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "pathwise-bench-")
	if err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	server, hub, err := openHub(ctx, dir)
	if err != nil {
		return err
	}
	defer server.Close()
	defer hub.Close()
	filed := &countingArchive{}
	serving, cancel := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- hub.Serve(serving, filed) }()
	defer func() { cancel(); err = errors.Join(err, <-served) }()
	agent, err := startAgent(b.pathwise, filepath.Join(dir, "credentials"), filepath.Join(dir, "agent"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, endProcess(agent)) }()
	if err := hub.Plan(ctx, hundredPeers(time.Now().Add(2*time.Second))); err != nil {
		return err
	}
	if err := linger(ctx, loadSettle); err != nil {
		return err
	}
	var before, after crowdUsage
	began := time.Now()
	if err := before.add(agent.Process.Pid); err != nil {
		return err
	}
	if err := linger(ctx, loadWatch); err != nil {
		return err
	}
	if err := after.add(agent.Process.Pid); err != nil {
		return err
	}
	share := (after.processor[0] - before.processor[0]).Seconds() / time.Since(began).Seconds()
	peak, err := readKilobytes(fmt.Sprintf("/proc/%d/status", agent.Process.Pid), "VmHWM")
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "one agent, %d peers pinged once a second and a route to each once a minute, over %v: %.2f %% of a core; "+
		"%.1f MB resident, %.1f of them its own, %.1f at most\n%s\n", loadPeers, loadWatch, 100*share, after.resident[0]/1e6,
		after.own[0]/1e6, peak/1e6, filed)
	return nil
}

// openHub makes keys in dir, the agent's among them, and a server and a hub with these.
func openHub(ctx context.Context, dir string) (*fleet.Server, *fleet.NATSHub, error) {
	keys, err := fleet.OpenKeyring(filepath.Join(dir, "keys"))
	if err != nil {
		return nil, nil, err
	}
	credentials, err := keys.Issue(hostName(0), fleet.Reach{})
	if err != nil {
		return nil, nil, err
	}
	agents, err := keys.Agents()
	if err != nil {
		return nil, nil, err
	}
	server, err := fleet.StartServer(context.WithoutCancel(ctx), fleet.ServerConfig{Keys: keys, Agents: agents,
		Listen: "127.0.0.1:0"})
	if err != nil {
		return nil, nil, err
	}
	credentials.Reach = keys.Embedded(server.Addr().String())
	err = credentials.WriteFile(filepath.Join(dir, "credentials"))
	if err == nil {
		var hub *fleet.NATSHub
		if hub, err = fleet.OpenHub(ctx, fleet.HubConfig{Keys: keys, Server: server}); err == nil {
			return server, hub, nil
		}
	}
	server.Close()
	return nil, nil, err
}

// hundredPeers is a plan from then on, of runs that fill a minute each.
func hundredPeers(from time.Time) fleet.Plan {
	const length = time.Hour
	p := fleet.Plan{Host: hostName(0), Number: 1, Issued: from, From: from, Until: from.Add(length)}
	add := func(start time.Time, task measure.Task, limit time.Duration) {
		p.Runs = append(p.Runs, measure.Run{ID: ulid.MustNew(ulid.Timestamp(start), ulid.DefaultEntropy()).String(), Test: "load",
			Tool: task.Kind, Source: p.Host, Target: task.Target, Start: start, LimitSeconds: limit.Seconds(), SlotSeconds: 10, Task: task})
	}
	for n := range loadPeers {
		peer := hostAddress(n)
		for at := time.Duration(n) * loadEvery / loadPeers; at < length; at += loadEvery {
			add(from.Add(at), measure.Task{Kind: "ping", Target: peer, Parameters: map[string]any{"count": 60.0}}, 75*time.Second)
			add(from.Add(at), measure.Task{Kind: "trace", Target: peer}, 30*time.Second)
		}
	}
	return p
}

// countingArchive files Results and forgets them.
type countingArchive struct {
	mu      sync.Mutex
	ok, bad int
	why     string // one of those that are bad
}

// File implements fleet.Receiver.
func (c *countingArchive) File(_ context.Context, _ string, results []*measure.Result) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range results {
		if r.Error == nil {
			c.ok++
			continue
		}
		c.bad++
		c.why = r.Kind + ": " + *r.Error
	}
	return nil
}

// Heard implements fleet.Receiver.
func (c *countingArchive) Heard(fleet.Status) {}

func (c *countingArchive) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bad == 0 {
		return fmt.Sprintf("its Results: %d, all ok", c.ok)
	}
	return fmt.Sprintf("its Results: %d ok, %d not: %s", c.ok, c.bad, c.why)
}
