package agent

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/vishvananda/netlink"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// beHub is the controller of TestLoad: in a network of its own, where 127.0.0.1 to 127.0.0.100 are the peers, it serves an agent
// that it starts, gives it a plan, and files everything at once. It prints the agent's process, and at the end what it filed.
func beHub(dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return err
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ping_group_range", []byte("0 0"), 0o644); err != nil {
		return err
	}
	hub, err := openHub(ctx, dir)
	if err != nil {
		return err
	}
	defer hub.Close()
	if err := hub.Plan(ctx, hundredPeers(os.Getenv(loadKind))); err != nil {
		return err
	}
	agent := exec.Command(os.Getenv(loadProgram), "agent", "--credentials", filepath.Join(dir, "credentials"), "--state", filepath.Join(dir, "agent"))
	agent.Env = append(os.Environ(), loadProgram+"=") // which makes this program the agent, not a hub
	agent.Stderr = os.Stderr
	agent.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := agent.Start(); err != nil {
		return err
	}
	fmt.Println(agent.Process.Pid)
	archive := &countingArchive{}
	serving, cancel := context.WithCancel(context.Background())
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- hub.Serve(serving, archive) }()
	<-ctx.Done()
	if err := agent.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := agent.Wait(); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	cancel()
	err = <-served
	fmt.Println(archive)
	return err
}

func openHub(ctx context.Context, dir string) (*fleet.NATSHub, error) {
	keys, err := fleet.OpenKeyring(filepath.Join(dir, "keys"))
	if err != nil {
		return nil, err
	}
	credentials, err := keys.Issue(host, fleet.Reach{})
	if err != nil {
		return nil, err
	}
	agents, err := keys.Agents()
	if err != nil {
		return nil, err
	}
	server, err := fleet.StartServer(context.WithoutCancel(ctx), fleet.ServerConfig{Keys: keys, Agents: agents, Folder: dir, Listen: "127.0.0.1:0"})
	if err != nil {
		return nil, err
	}
	credentials.Reach = keys.Embedded(server.Addr().String())
	if err := credentials.WriteFile(filepath.Join(dir, "credentials")); err != nil {
		return nil, err
	}
	return fleet.OpenHub(ctx, fleet.HubConfig{Keys: keys, Server: server})
}

// hundredPeers is a plan of ten minutes, or of two of those runs that come every second. It begins when the agent is there.
func hundredPeers(kind string) fleet.Plan {
	now := time.Now().Add(5 * time.Second)
	every, count, length := time.Minute, 60, 6*time.Hour
	if kind == aSecond {
		every, count, length = time.Second, 1, 2*time.Minute
	}
	p := fleet.Plan{Host: host, Number: 1, Issued: now, From: now, Until: now.Add(length)}
	add := func(start time.Time, task measure.Task, limit time.Duration) {
		p.Runs = append(p.Runs, measure.Run{ID: ulid.MustNew(ulid.Timestamp(start), ulid.DefaultEntropy()).String(), Test: "load", Tool: task.Kind,
			Source: host, Target: task.Target, Start: start, LimitSeconds: limit.Seconds(), SlotSeconds: 10, Task: task})
	}
	for n := range 100 {
		peer := fmt.Sprintf("127.0.0.%d", n+1)
		for at := time.Duration(n) * every / 100; at < length; at += every {
			add(now.Add(at), measure.Task{Kind: "ping", Target: peer, Parameters: map[string]any{"count": float64(count)}}, every+15*time.Second)
		}
		for at := time.Duration(n) * time.Minute / 100; at < length; at += time.Minute {
			add(now.Add(at), measure.Task{Kind: "trace", Target: peer}, 30*time.Second)
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

func (c *countingArchive) Heard(fleet.Status) {}

func (c *countingArchive) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprintf("%d Results are ok, %d are not: %s", c.ok, c.bad, c.why)
}
