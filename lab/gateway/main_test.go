package gateway

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"testing"
)

// What a process of this test binary is. The tests run again in a user and a network namespace of their own, so that they
// need no root and touch nothing outside.
const (
	roleKey     = "PATHWISE_GATEWAY_TEST"
	roleInside  = "inside"
	roleGateway = "gateway" // between the interfaces that the arguments name, until it is killed
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleKey) {
	case roleInside:
		os.Exit(m.Run())
	case roleGateway:
		os.Exit(beGateway(os.Args[1], os.Args[2]))
	}
	status, err := runInside()
	if err != nil {
		fmt.Fprintf(os.Stderr, "without namespaces, so tests that need them are skipped: %v\n", err)
		status = m.Run()
	}
	os.Exit(status)
}

func runInside() (status int, err error) {
	runtime.LockOSThread() // the death signal is tied to the thread
	c := exec.Command("/proc/self/exe", os.Args[1:]...)
	c.Args[0] = os.Args[0]
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.Env = append(os.Environ(), roleKey+"="+roleInside)
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	signal.Ignore(os.Interrupt) // it comes to both
	if err := c.Start(); err != nil {
		return 0, err
	}
	if err := c.Wait(); c.ProcessState == nil {
		return 1, err
	}
	return max(c.ProcessState.ExitCode(), -c.ProcessState.ExitCode()), nil
}

// beGateway says a line once it carries frames.
func beGateway(first, second string) int {
	g, err := Open(first, second, Config{})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("ready")
	_ = g.Run(context.Background())
	return 0
}
