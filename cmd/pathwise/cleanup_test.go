package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// selfProcess is this binary as pathwise, not yet started.
func selfProcess(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, args...)
	c.Env = append(os.Environ(), actAsPathwise+"=1")
	return c
}

// endAfter runs a command, sends it a signal after a while, and returns how long it took to end then.
func endAfter(t *testing.T, c *exec.Cmd, after time.Duration, sig syscall.Signal) time.Duration {
	t.Helper()
	var said bytes.Buffer
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var sent time.Time
	timer := time.AfterFunc(after, func() { sent = time.Now(); _ = c.Process.Signal(sig) })
	_ = c.Wait() // its status is that of an ended command
	if timer.Stop() {
		t.Fatalf("ended by itself before %v: %s", after, said.String())
	}
	return time.Since(sent)
}

// An end at any moment of the demonstration, by Ctrl-C or by kill -9, leaves no engine, and with it no namespace, no
// device and none of the processes that ran in the lab. Ctrl-C takes a second at most.
func TestDemoLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{20 * ms, 60 * ms, 150 * ms, 700 * ms, 2500 * ms, 9500 * ms} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
			t.Run(fmt.Sprintf("%v after %v", sig, after), func(t *testing.T) {
				t.Parallel()
				carrying(t)
				c := selfProcess(t, "demo")
				took := endAfter(t, c, after, sig)
				if took > 3*time.Second { // a second on a machine that does nothing else
					t.Errorf("took %v to end", took)
				}
				expectNoProcess(t, fmt.Sprintf("private-%d-", c.Process.Pid))
			})
		}
	}
}

// A diagnosis in a lab ends with whoever asked for it, and leaves the lab as it was, ready for the next.
func TestDiagnosisLeavesNothing(t *testing.T) {
	t.Parallel()
	name := fmt.Sprintf("cleanup-%d", os.Getpid())
	file := filepath.Join(t.TempDir(), "path.yaml")
	if err := os.WriteFile(file, []byte("hosts: {bob: {}, carol: {}}\nlinks: [{between: [bob, carol], rate: 10mbit, delay: 5ms}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	up := selfProcess(t, "lab", "up", file, "--name", name)
	if out, err := up.CombinedOutput(); err != nil {
		t.Fatalf("lab up: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if out, err := selfProcess(t, "lab", "down", "--name", name).CombinedOutput(); err != nil {
			t.Errorf("lab down: %v\n%s", err, out)
		}
		expectNoProcess(t, name)
	})
	self, _ := os.Executable()
	responder := selfProcess(t, "lab", "exec", "carol", "--name", name, "--", self, "respond")
	startBackground(t, responder, step{command: "respond", want: "answering on [::]:5201\n"})
	for _, after := range []time.Duration{100 * ms, 1500 * ms, 4 * time.Second} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
			marker := fmt.Sprintf("%d.%d", 100+after.Milliseconds()/100, sig) // an argument that no other diagnosis has
			c := selfProcess(t, "lab", "exec", "bob", "--name", name, "--", self, "diagnose", "carol", "-t", marker+"s")
			if took := endAfter(t, c, after, sig); took > 3*time.Second {
				t.Errorf("%v after %v: took %v to end", sig, after, took)
			}
			expectNoProcess(t, marker+"s")
		}
	}
}

// A case that is cut short leaves nothing of its lab, nor of what ran in it.
func TestCaseLeavesNothing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "case.yaml")
	if err := os.WriteFile(file, []byte("name: long\ntitle: A long wait\ncause: none\ncondition: never\n"+
		"lab: {hosts: {a: {}, b: {}}, links: [{between: [a, b]}]}\nsteps:\n"+
		"  - exec: {on: b, run: [pathwise, respond], background: true, ready: answering}\n  - wait: 1m\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		c := selfProcess(t, "lab", "run", file)
		if took := endAfter(t, c, time.Second, sig); took > 3*time.Second { // a second on a machine that does nothing else
			t.Errorf("%v: took %v to end", sig, took)
		}
		expectNoProcess(t, fmt.Sprintf("private-%d-", c.Process.Pid))
	}
}

// expectNoProcess waits until no process has an argument that contains the text, which an engine or a command in a
// lab may still have while the kernel takes it apart.
func expectNoProcess(t *testing.T, text string) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for _, pid := range processesNamed(t, text) {
		if !awaitProcessEnd(pid, time.Until(deadline)) {
			cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			t.Errorf("left behind: process %d: %s", pid, strings.ReplaceAll(string(cmdline), "\x00", " "))
		}
	}
}

func processesNamed(t *testing.T, text string) []int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, f := range files {
		line, _ := os.ReadFile(f) // gone in between: not found
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil && bytes.Contains(line, []byte(text)) {
			found = append(found, pid)
		}
	}
	return found
}

func awaitProcessEnd(pid int, patience time.Duration) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return true
	}
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(patience.Milliseconds()))
	return n == 1 && err == nil
}
