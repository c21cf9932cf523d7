package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/vishvananda/netlink"
)

// meshFlag makes this program the part mesh in a network of its own, which has nothing but a loopback:
//
//	bench -mesh AGENTS SIMULATED PATHWISE
//
// There, ICMP goes through datagram sockets, whatever this machine's settings are. Without them each ping needs a raw socket,
// for each of which the kernel looks at what all others receive: no matter on a host of its own, but for hundreds of agents on one.
const meshFlag = "-mesh"

// mesh runs the part in a network of its own, which a user other than root may have within a user namespace.
func (b *bench) mesh(ctx context.Context) error {
	c := exec.CommandContext(ctx, "/proc/self/exe", meshFlag, strconv.Itoa(b.agents), strconv.Itoa(b.simulated), b.pathwise)
	c.Stdout, c.Stderr = b.out, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		c.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		c.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		c.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 2 * endTime // it has processes to end
	if err := c.Run(); err != nil {
		return fmt.Errorf("in a network of its own: %w", err)
	}
	return nil
}

func runMesh(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("%s: want AGENTS SIMULATED PATHWISE", meshFlag)
	}
	b := &bench{out: os.Stdout, pathwise: args[2], settle: meshSettle, watch: meshWatch}
	var err error
	if b.agents, err = strconv.Atoi(args[0]); err != nil {
		return err
	}
	if b.simulated, err = strconv.Atoi(args[1]); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	lo, err := netlink.LinkByName("lo")
	if err == nil {
		err = netlink.LinkSetUp(lo)
	}
	if err != nil {
		return fmt.Errorf("set up loopback: %w", err)
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ping_group_range", []byte("0 0"), 0o644); err != nil {
		return fmt.Errorf("let root ping: %w", err)
	}
	return b.meshes(ctx)
}
