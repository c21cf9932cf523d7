package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"golang.org/x/sys/unix"
)

// onTerminal runs pathwise on a terminal of its own, of that size, and returns what a terminal emulator then shows. act is called with
// what the user holds once the program has drawn the text begun; nil: nobody does anything.
func onTerminal(t *testing.T, columns, rows int, begun string, act func(user *os.File), args ...string) (lines []string, c *exec.Cmd, failed error) {
	t.Helper()
	s := sitting{columns: columns, rows: rows, environ: []string{"LANG=C.UTF-8"}, begun: begun, act: act}
	s.run(t, args...)
	return s.lines, s.command, s.failed
}

// sitting is a command on a terminal of its own.
type sitting struct {
	columns, rows int
	environ       []string            // beside TERM
	begun         string              // what the command draws before act is called
	act           func(user *os.File) // nil: nobody does anything
	output        *os.File            // of the command, where its standard output is not the terminal

	command *exec.Cmd
	failed  error    // of the command
	written string   // to the terminal
	lines   []string // that an emulator of the terminal shows then
}

// run runs pathwise until it ends. It must leave the terminal's modes as they were, and the cursor visible and at the beginning of a line.
func (s *sitting) run(t *testing.T, args ...string) {
	t.Helper()
	user, program := terminalOf(t, s.columns, s.rows)
	before, err := unix.IoctlGetTermios(int(program.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	var drawn, all drawing
	copied := make(chan struct{})
	emulator := vt.NewEmulator(s.columns, s.rows)
	go func() {
		defer close(copied)
		_, _ = io.Copy(io.MultiWriter(&drawn, &all, emulator), user) // ends when nobody has the program's side open any more
	}()
	c := selfProcess(t, args...)
	s.command = c
	c.Env = append(append(c.Env, "TERM=xterm-256color", "LC_ALL=", "LC_CTYPE="), s.environ...)
	c.Stdin, c.Stdout, c.Stderr = program, program, program
	if s.output != nil {
		c.Stdout = s.output
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if s.act != nil {
		drawn.await(t, s.begun)
		s.act(user)
	}
	s.failed = c.Wait()
	after, err := unix.IoctlGetTermios(int(program.Fd()), unix.TCGETS)
	if err != nil || *after != *before {
		t.Errorf("the terminal's modes were %+v and are %+v (%v)", before, after, err)
	}
	program.Close()
	<-copied
	if emulator.CursorHidden() || emulator.CursorPosition().X != 0 {
		t.Errorf("the cursor is hidden (%v) or not at the beginning of a line: %v", emulator.CursorHidden(), emulator.CursorPosition())
	}
	for _, line := range strings.Split(strings.TrimRight(emulator.String(), "\n "), "\n") {
		s.lines = append(s.lines, strings.TrimRight(line, " "))
	}
	s.written = all.text()
}

// showsInOrder says whether lines that match the patterns follow each other.
func showsInOrder(t *testing.T, lines []string, patterns ...string) {
	t.Helper()
	from := 0
	for _, p := range patterns {
		found := false
		for ; from < len(lines) && !found; from++ {
			found = regexp.MustCompile(p).MatchString(lines[from])
		}
		if !found {
			t.Fatalf("no line that matches %q in its place:\n%s", p, strings.Join(lines, "\n"))
		}
	}
}

// ping has a line for each reply, then how round trips were spread, then a sentence; of several targets a table.
func TestPingOnATerminal(t *testing.T) {
	t.Parallel()
	const args = "ping 127.0.0.1 -c 3 -i 0.02"
	lines, _, err := onTerminal(t, 80, 24, "", nil, strings.Fields(args)...)
	if err != nil {
		t.Fatal(err, lines)
	}
	showsInOrder(t, lines, `^ +1  \d`, `^ +2  \d`, `^ +3  \d`, ` to .*█+ [1-3]$`, `^127\.0\.0\.1 answered all 3\. A round trip took `)
	lines, _, err = onTerminal(t, 80, 24, "", nil, append(strings.Fields(args), "127.0.0.2", "no.such.host.invalid")...)
	if err == nil {
		t.Error("a host that does not exist is no failure")
	}
	showsInOrder(t, lines, `^host +sent +lost`, `^127.0.0.1 +3 +0 .*[▁-█]{3}$`, `^127.0.0.2 +3 +0 `, `^no.such.host.in… .*not measured$`,
		`^127.0.0.1 answered all 3`, `^127.0.0.2 answered all 3`, `^pathwise: resolve "no.such.host.invalid"`)
}

// ping --window has a line for each window as it ends, then the drawing and what its shape means.
func TestPingWindowOnATerminal(t *testing.T) {
	t.Parallel()
	lines, _, err := onTerminal(t, 80, 40, "", nil, "ping", "127.0.0.1", "--window", "3")
	if err != nil {
		t.Fatal(err, lines)
	}
	showsInOrder(t, lines, `^in flight +sent +lost +rate +least +median$`, `^ +1 +\d+ +`, `^ +2 +\d+ +`, `^ +3 +\d+ +`, `packets in flight`, `^note: `)
}

// Ctrl-C ends a live drawing within a second, with the sentence of what was measured, and leaves the terminal as it was.
func TestCtrlCOnATerminal(t *testing.T) {
	t.Parallel()
	var pressed time.Time
	lines, _, _ := onTerminal(t, 60, 12, "median", func(user *os.File) {
		pressed = time.Now()
		if _, err := user.WriteString("\x03"); err != nil {
			t.Error(err)
		}
	}, "ping", "127.0.0.1", "-c", "1000", "-i", "0.05")
	if took := time.Since(pressed); took > 3*time.Second { // a second on a machine that does nothing else
		t.Errorf("took %v to end", took)
	}
	showsInOrder(t, lines, `^127\.0\.0\.1 answered all \d+`)
	if all := fmt.Sprint(lines); strings.Contains(all, "sent, ") {
		t.Errorf("the live drawing is left behind: %s", all)
	}
}

// trace names the hops; throughput has a line for each interval, how the rate went, and both ends.
func TestTraceAndThroughputOnATerminal(t *testing.T) {
	t.Parallel()
	lines, _, err := onTerminal(t, 80, 24, "", nil, "trace", "127.0.0.1")
	if err != nil {
		t.Fatal(err, lines)
	}
	showsInOrder(t, lines, `^route to 127.0.0.1`, `^hop +host +answers`, `^ +1 +.*127.0.0.1.* 3 of 3 .*port unreachable`)
	lines = responding(t, true, func(r io.Reader) []string {
		var answering struct{ Address string }
		if err := json.NewDecoder(r).Decode(&answering); err != nil {
			t.Error(err)
			return nil
		}
		lines, _, err := onTerminal(t, 80, 30, "", nil, "throughput", answering.Address, "-t", "0.4", "-i", "0.1", "--rate", "50mbit")
		if err != nil {
			t.Error(err)
		}
		return lines
	}, "--bind", "127.0.0.1", "--any-port", "--again-port", fmt.Sprint(freePorts(t, 1)[0]))
	showsInOrder(t, lines, `^ +seconds +rate +round trip +window`, `^ +0\.\d\d - 0\.\d\d +\d.*bit/s .*s +[\d.]+ [kM]B +0$`, `^forward +[▁-█]{3,}  up to`, `^throughput +`,
		`^sender, forward .*segments of .* buffer`, `^receiver, forward .*segments of`)
}
