package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminalOf opens a pseudo-terminal of that size: what a user holds, and what a program gets.
func terminalOf(t *testing.T, columns, rows int) (user, program *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { user.Close() })
	number, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(user.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(columns)})
	}
	if err != nil {
		t.Fatal(err)
	}
	if program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { program.Close() })
	return user, program
}

// drawing collects what a program draws.
type drawing struct {
	mu    sync.Mutex
	drawn bytes.Buffer
}

func (s *drawing) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drawn.Write(b)
}

func (s *drawing) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drawn.String()
}

// await waits until the program has drawn a text since the last call, and forgets what was drawn.
func (s *drawing) await(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * ms) {
		s.mu.Lock()
		drawn := s.drawn.String()
		if strings.Contains(drawn, text) {
			s.drawn.Reset()
		}
		s.mu.Unlock()
		switch {
		case strings.Contains(drawn, text):
			return
		case time.Now().After(deadline):
			t.Fatalf("%q was not drawn:\n%q", text, drawn)
		}
	}
}

// The view of a real lab on a terminal: it shows, changes and leaves, by q and by a signal.
func TestLiveOnATerminal(t *testing.T) {
	name := fmt.Sprintf("live-%d", os.Getpid())
	file := filepath.Join(t.TempDir(), "path.yaml")
	if err := os.WriteFile(file, []byte("hosts: {bob: {}, carol: {}}\nlinks: [{between: [bob, carol], rate: 10mbit, delay: 5ms}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := selfProcess(t, "lab", "up", file, "--name", name).CombinedOutput(); err != nil {
		t.Fatalf("lab up: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if out, err := selfProcess(t, "lab", "down", "--name", name).CombinedOutput(); err != nil {
			t.Errorf("lab down: %v\n%s", err, out)
		}
	})
	for _, leave := range []func(user *os.File, p *os.Process) error{
		func(user *os.File, _ *os.Process) error { _, err := user.WriteString("q"); return err },
		func(user *os.File, _ *os.Process) error { _, err := user.WriteString("\x03"); return err },
		func(_ *os.File, p *os.Process) error { return p.Signal(syscall.SIGTERM) },
	} {
		user, program := terminalOf(t, 120, 30)
		var drawn drawing
		go io.Copy(&drawn, user) //nolint:errcheck // ends when the terminal is closed
		c := selfProcess(t, "lab", "show", "--live", "--name", name)
		c.Env = append(c.Env, "TERM=xterm-256color")
		c.Stdin, c.Stdout, c.Stderr = program, program, program
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		drawn.await(t, "carol > bob")
		if _, err := user.WriteString("D"); err != nil {
			t.Fatal(err)
		}
		drawn.await(t, "set bob carol forward.delay=")
		began := time.Now()
		if err := leave(user, c.Process); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err != nil {
			t.Errorf("ended with %v, and drew\n%q", err, drawn.text())
		}
		if took := time.Since(began); took > 3*time.Second { // a second on a machine that does nothing else
			t.Errorf("took %v to end", took)
		}
	}
	out, err := selfProcess(t, "lab", "show", "--name", name).Output()
	if want := "forward {rate: 10mbit, delay: 15ms}"; err != nil || !strings.Contains(string(out), want) {
		t.Errorf("the lab shows (%v):\n%swant %s", err, out, want)
	}
}
