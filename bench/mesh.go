package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pathwise-net/pathwise/stat"
)

const (
	meshPeers  = 5 // that each host measures to
	meshSettle = 8 * time.Second
	meshWatch  = 20 * time.Second
	meshCome   = 2 * time.Minute // for all agents to be there, on a machine that is busy with others; then those count that are
	maxAgents  = 10_000          // as many addresses as hostAddress has
)

// crowd is the agents of one mesh.
type crowd interface {
	start(ctx context.Context, c *controller) error
	usage() (crowdUsage, error)
	stop() error
}

// crowdUsage is what agents took so far.
type crowdUsage struct {
	processor []time.Duration // of each process
	resident  []float64       // bytes, of each process
	own       []float64       // bytes of these that no file backs
	failed    int             // Results that were not ok, where the crowd knows
}

// meshes prints what a controller and its agents take: agents that are processes, agents that bench itself plays, and one
// agent with a hundred peers.
func (b *bench) meshes(ctx context.Context) error {
	fmt.Fprintf(b.out, "mesh: each host measures to %d others by ping, 5 echoes a run; %v after %v of settling\n",
		meshPeers, b.watch, b.settle)
	if err := b.crowded(ctx, "processes", b.agents, 30*time.Second, &processes{}); err != nil {
		return err
	}
	if err := b.crowded(ctx, "simulated", b.simulated, time.Minute, &simulation{}); err != nil {
		return err
	}
	return b.loadedAgent(ctx)
}

// crowded runs one mesh and prints its figures. Each pair is measured once in every.
func (b *bench) crowded(ctx context.Context, kind string, hosts int, every time.Duration, agents crowd) (err error) {
	if hosts == 0 {
		return nil
	}
	dir, err := os.MkdirTemp("", "pathwise-bench-")
	if err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	began := time.Now()
	c, err := b.startController(ctx, dir, hosts, every)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	served := time.Since(began)
	defer func() { err = errors.Join(err, agents.stop()) }() // before the controller
	began = time.Now()
	if err := agents.start(ctx, c); err != nil {
		return err
	}
	here, err := c.awaitHosts(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "%d agents, %s; a pair every %v. Keys and first plan after %.1f s, %d agents there with it after %.1f s more\n",
		hosts, kind, every, served.Seconds(), here, time.Since(began).Seconds())
	if err := linger(ctx, b.settle); err != nil {
		return err
	}
	return b.watchCrowd(ctx, c, agents)
}

// watchCrowd measures for a while what everybody takes and how old Results are when they are answered.
func (b *bench) watchCrowd(ctx context.Context, c *controller, agents crowd) error {
	before, err := c.snapshot()
	if err != nil {
		return err
	}
	crowdBefore, err := agents.usage()
	if err != nil {
		return err
	}
	simulated, _ := agents.(*simulation)
	ages, err := c.answers(ctx, b.watch, simulated.deliveredAt)
	if err != nil {
		return err
	}
	after, err := c.snapshot()
	if err != nil {
		return err
	}
	crowdAfter, err := agents.usage()
	if err != nil {
		return err
	}
	seconds := after.at.Sub(before.at).Seconds()
	fmt.Fprintf(b.out, "controller: %.1f %% of a core; %.1f MB resident, %.1f MB at most; %.1f Results/s filed of %.1f planned; %d misses\n",
		100*(after.processor-before.processor).Seconds()/seconds, after.resident/1e6, after.peak/1e6,
		float64(after.filed-before.filed)/seconds, c.rate, after.missed)
	b.printCrowd(crowdBefore, crowdAfter, seconds)
	what := "the end of its measurement"
	if simulated != nil {
		what = "its delivery"
	}
	s := stat.Summarize(ages)
	fmt.Fprintf(b.out, "a Result is answered by the API %.1f ms after %s at the median, %.1f at the 99th percentile, "+
		"%.1f at most; %d asked for\n",
		1e3*s.Median, what, 1e3*s.P99, 1e3*s.Max, len(ages))
	return nil
}

func (b *bench) printCrowd(before, after crowdUsage, seconds float64) {
	var each []float64
	var all float64
	for i := range after.processor {
		share := 100 * (after.processor[i] - before.processor[i]).Seconds() / seconds
		each = append(each, share)
		all += share
	}
	cpu := stat.Summarize(each)
	if len(each) == 1 {
		fmt.Fprintf(b.out, "bench itself, for all agents: %.1f %% of a core; %.1f MB resident\n", all, after.resident[0]/1e6)
	} else {
		fmt.Fprintf(b.out, "agent: %.2f %% of a core at the median, %.2f at most, %.1f all together; %.1f MB resident, %.1f of them its own\n",
			cpu.Median, cpu.Max, all, stat.Summarize(after.resident).Median/1e6, stat.Summarize(after.own).Median/1e6)
	}
	if after.failed > 0 {
		fmt.Fprintf(b.out, "(%d plans or deliveries failed)\n", after.failed)
	}
}

// linger waits, unless ctx ends.
func linger(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hostName is the nth host of a mesh, from 0, and hostAddress where it is: all of 127.0.0.0/8 are this machine.
func hostName(n int) string { return fmt.Sprintf("h%04d", n) }

func hostAddress(n int) string { return fmt.Sprintf("127.1.%d.%d", n/250, n%250+1) }

func credentialsFile(dir string, host int) string {
	return filepath.Join(dir, hostName(host)+".credentials")
}
