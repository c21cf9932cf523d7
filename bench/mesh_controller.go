package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// controller is `pathwise serve`, a process of its own.
type controller struct {
	dir, binary string
	hosts       int
	rate        float64 // runs a second that its mesh file asks for
	process     *exec.Cmd
	said        *bytes.Buffer // read only once the process has ended
	http        http.Client
}

// startController writes a mesh file, makes all keys, starts a controller, and returns when it has its first plan.
func (b *bench) startController(ctx context.Context, dir string, hosts int, every time.Duration) (_ *controller, err error) {
	peers := min(meshPeers, hosts-1)
	c := &controller{dir: dir, binary: b.pathwise, hosts: hosts, rate: float64(hosts*peers) / every.Seconds(), said: new(bytes.Buffer)}
	c.http.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(c.path("data"), "control.sock"))
	}}
	text, err := meshFile(c.path("data"), hosts, peers, every)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(c.path("mesh.yaml"), text, 0o600); err != nil {
		return nil, err
	}
	deploy := exec.CommandContext(ctx, c.binary, "mesh", "deploy", c.path("mesh.yaml"), "--out", dir)
	if out, err := deploy.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("deploy: %w\n%s", err, out)
	}
	c.process = exec.Command(c.binary, "serve", c.path("mesh.yaml"))
	c.process.Stderr = c.said
	c.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.process.Start(); err != nil {
		return nil, fmt.Errorf("start controller: %w", err)
	}
	if err := c.awaitPlan(ctx); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

func (c *controller) path(name string) string { return filepath.Join(c.dir, name) }

// meshFile is a mesh in which each host measures to the next ones in a ring.
func meshFile(data string, hosts, peers int, every time.Duration) ([]byte, error) {
	pages, err := freePort()
	if err != nil {
		return nil, err
	}
	messages, err := freePort()
	if err != nil {
		return nil, err
	}
	b := &bytes.Buffer{}
	fmt.Fprintf(b, "controller: {data: %q, listen: %q, nats: {listen: %q}, horizon: 10m}\nhosts:\n", data, pages, messages)
	for n := range hosts {
		fmt.Fprintf(b, "  %s: {address: %s, reach: agent}\n", hostName(n), hostAddress(n))
	}
	b.WriteString("tools:\n  rtt: {probe: ping, parameters: {count: 5, interval: 200ms}}\ngroups:\n  ring:\n    pairs:\n")
	for n := range hosts {
		for p := range peers {
			fmt.Fprintf(b, "      - [%s, %s]\n", hostName(n), hostName((n+p+1)%hosts))
		}
	}
	fmt.Fprintf(b, "tests:\n  - {tool: rtt, group: ring, schedule: {every: %gs}}\n", every.Seconds())
	return b.Bytes(), nil
}

// freePort is an address of this machine that nobody listens on just now.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

// get asks the controller's API for a document.
func (c *controller) get(ctx context.Context, path string, doc any) error {
	body, err := c.open(ctx, path)
	if err != nil {
		return err
	}
	defer body.Close()
	if err := json.NewDecoder(body).Decode(doc); err != nil {
		return fmt.Errorf("ask controller for %s: %w", path, err)
	}
	return nil
}

// controllerStatus is what bench reads of the controller's status.
type controllerStatus struct {
	Plan  uint64 `json:"plan"`
	Hosts []struct {
		State  string `json:"state"`
		Status *struct {
			Plan uint64 `json:"plan"`
		} `json:"status"`
	} `json:"hosts"`
	Archive struct{ Filed int64 } `json:"archive"`
}

// awaitPlan returns when the controller has a plan, which it makes at once.
func (c *controller) awaitPlan(ctx context.Context) error {
	why := "it does not answer"
	for end := time.Now().Add(meshCome); time.Now().Before(end); {
		var status controllerStatus
		err := c.get(ctx, "status?misses=1", &status)
		if err == nil && status.Plan > 0 {
			return nil
		}
		if err != nil {
			why = err.Error()
		}
		if err := linger(ctx, lookEvery); err != nil {
			return err
		}
	}
	return fmt.Errorf("the controller has no plan after %v: %s", meshCome, why)
}

// awaitHosts returns how many hosts report that they have a plan, when these are all, or after meshCome.
func (c *controller) awaitHosts(ctx context.Context) (here int, err error) {
	for end := time.Now().Add(meshCome); ; {
		var status controllerStatus
		if err := c.get(ctx, "status?misses=1", &status); err != nil {
			return 0, err
		}
		here = 0
		for _, h := range status.Hosts {
			if h.State == "here" && h.Status != nil && h.Status.Plan > 0 {
				here++
			}
		}
		if here == c.hosts || time.Now().After(end) {
			return here, nil
		}
		if err := linger(ctx, lookEvery); err != nil {
			return here, err
		}
	}
}

// lookEvery is how often the controller is asked for its status, which is long, while something is awaited.
const lookEvery = time.Second

// controllerUse is what a controller took and did so far.
type controllerUse struct {
	at             time.Time
	processor      time.Duration
	resident, peak float64 // bytes
	filed          int64
	missed         int
}

func (c *controller) snapshot() (u controllerUse, err error) {
	var status controllerStatus
	var misses struct{ Misses []json.RawMessage }
	pid := c.process.Process.Pid
	if err = errors.Join(c.get(context.Background(), "status?misses=1", &status),
		c.get(context.Background(), "misses?limit=1000", &misses)); err != nil {
		return u, err
	}
	u.filed, u.missed = status.Archive.Filed, len(misses.Misses)
	if u.processor, err = processorTime(pid); err != nil {
		return u, err
	}
	u.at = time.Now()
	file := fmt.Sprintf("/proc/%d/status", pid)
	if u.resident, err = readKilobytes(file, "VmRSS"); err != nil {
		return u, err
	}
	u.peak, err = readKilobytes(file, "VmHWM")
	return u, err
}

// stop ends the controller, and says what it complained of if it did not end well.
func (c *controller) stop() error {
	err := endProcess(c.process)
	if text := strings.TrimSpace(c.said.String()); err != nil || strings.Contains(text, "level=ERROR") {
		err = errors.Join(err, fmt.Errorf("the controller said: %s", text[max(0, len(text)-1000):]))
	}
	return err
}

// endProcess asks a process to end, and kills it if it takes too long.
func endProcess(p *exec.Cmd) error {
	if err := p.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	late := time.AfterFunc(endTime, func() { _ = p.Process.Kill() })
	defer late.Stop()
	return p.Wait()
}

// endTime is how long a process may take to end: a controller has values to file yet.
const endTime = time.Minute
