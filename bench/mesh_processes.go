package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// processes are agents as hosts have them: `pathwise agent`, each with credentials and a folder of its own.
type processes struct {
	all    []*exec.Cmd
	states string // folder of the agents' folders
}

func (p *processes) start(ctx context.Context, c *controller) (err error) {
	if p.states, err = os.MkdirTemp(memoryFolder(), "pathwise-bench-"); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	for n := range c.hosts {
		agent, err := startAgent(c.binary, credentialsFile(c.dir, n), filepath.Join(p.states, hostName(n)))
		if err != nil {
			return err
		}
		p.all = append(p.all, agent)
		if err := linger(ctx, startApart); err != nil {
			return err
		}
	}
	return nil
}

// startApart is about what an agent's start takes of a processor: closer together, they only wait for each other.
const startApart = 50 * time.Millisecond

// memoryFolder is where files are in memory, or else the system's folder for temporary ones. Each host of a mesh has a disk of
// its own, which these have not.
func memoryFolder() string {
	const shared = "/dev/shm"
	if info, err := os.Stat(shared); err == nil && info.IsDir() {
		return shared
	}
	return ""
}

// startAgent starts an agent that ends with this program at the latest.
func startAgent(binary, credentials, state string) (*exec.Cmd, error) {
	agent := exec.Command(binary, "agent", "--credentials", credentials, "--state", state)
	agent.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := agent.Start(); err != nil {
		return nil, fmt.Errorf("start agent: %w", err)
	}
	return agent, nil
}

func (p *processes) usage() (u crowdUsage, err error) {
	for _, agent := range p.all {
		if err := u.add(agent.Process.Pid); err != nil {
			return u, err
		}
	}
	return u, nil
}

// add reads what a process took.
func (u *crowdUsage) add(pid int) error {
	processor, err := processorTime(pid)
	if err != nil {
		return err
	}
	file := fmt.Sprintf("/proc/%d/status", pid)
	resident, err := readKilobytes(file, "VmRSS")
	if err != nil {
		return err
	}
	own, err := readKilobytes(file, "RssAnon")
	if err != nil {
		return err
	}
	u.processor = append(u.processor, processor)
	u.resident = append(u.resident, resident)
	u.own = append(u.own, own)
	return nil
}

// stop ends all at once: one after the other would take each its time.
func (p *processes) stop() error {
	errs := make([]error, len(p.all))
	var group sync.WaitGroup
	for i, agent := range p.all {
		group.Go(func() { errs[i] = endProcess(agent) })
	}
	group.Wait()
	if p.states != "" {
		errs = append(errs, os.RemoveAll(p.states))
	}
	return errors.Join(errs...)
}
