package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// seated is a program on a terminal, and what an emulator shows of it.
type seated struct {
	*exec.Cmd
	user  *os.File
	shown *vt.SafeEmulator
}

// seat starts pathwise on a terminal of its own.
func seat(t *testing.T, args ...string) *seated {
	t.Helper()
	user, program := terminalOf(t, 110, 24)
	s := &seated{selfProcess(t, args...), user, vt.NewSafeEmulator(110, 24)}
	go io.Copy(s.shown, user)       //nolint:errcheck // ends when the terminal is closed
	go io.Copy(io.Discard, s.shown) //nolint:errcheck // what the emulator answers; ends with the test
	s.Env = append(s.Env, "TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=")
	s.Stdin, s.Stdout, s.Stderr = program, program, program
	s.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	program.Close()
	return s
}

// text is what the terminal shows now, without colours.
func (s *seated) text() string { return ansi.Strip(s.shown.Render()) }

// await waits until the terminal shows a text.
func (s *seated) await(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(s.text(), text); time.Sleep(10 * ms) {
		if time.Now().After(deadline) {
			t.Fatalf("%q is not shown:\n%s", text, s.text())
		}
	}
}

func (s *seated) press(t *testing.T, keys string) {
	t.Helper()
	if _, err := s.user.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// The screen shows hops and figures, each key does what the help says, and to leave by q, Ctrl-C or a signal takes a second at most and leaves the last table.
func TestTraceLiveOnATerminal(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(s *seated){
		"q":        func(s *seated) { s.press(t, "q") },
		"Ctrl-C":   func(s *seated) { s.press(t, "\x03") },
		"a signal": func(s *seated) { _ = s.Process.Signal(syscall.SIGTERM) },
	} {
		s := seat(t, "trace", "127.0.0.1", "--live", "--every", "0.1s")
		s.await(t, "Wrst")
		if name == "q" {
			s.press(t, "n")
			s.await(t, "  1  127.0.0.1 ")
			s.press(t, "d")
			s.await(t, "Jttr")
			s.press(t, "h")
			s.await(t, liveKeys[1])
			s.press(t, "p")
			s.await(t, "paused")
			s.press(t, "r")
			s.await(t, "round 0")
			s.press(t, "p")
			s.await(t, "round 3")
		}
		began := time.Now()
		leave(s)
		if err := s.Wait(); err != nil {
			t.Errorf("%s: ended with %v", name, err)
		}
		if took := time.Since(began); took > 3*time.Second { // a second on a machine that does nothing else
			t.Errorf("%s: took %v to end", name, took)
		}
		s.await(t, "route to 127.0.0.1 (127.0.0.1)")
		s.await(t, "Nothing is lost (at most")
	}
}

// A trace of so many rounds ends by itself.
func TestTraceLiveEnds(t *testing.T) {
	t.Parallel()
	s := seat(t, "trace", "127.0.0.1", "--live", "-c", "3", "--every", "0.1s")
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
	s.await(t, "0.0    3")
}

// On a terminal, too, files know the hops, and what they know stays when the screen is gone.
func TestLiveOnATerminalKnows(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "asns.txt")
	if err := os.WriteFile(file, []byte("127.0.0.0/8 64500\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := seat(t, "trace", "127.0.0.1", "--live", "--every", "0.1s", "--asn", file)
	s.await(t, "[AS64500]")
	s.press(t, "q")
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
	s.await(t, "route to 127.0.0.1 (127.0.0.1)")
	s.await(t, "[AS64500]")
}

// What does not hold for a trace that goes on is refused by one line.
func TestLiveBadCalls(t *testing.T) {
	for call, want := range map[string]string{
		"trace carol --live -n 5":          "--queries: not for --live and --report, which send one packet to each hop a round; leave it out",
		"trace carol --report --both":      "--both: not for --live and --report, which send one packet to each hop a round; leave it out",
		"trace carol -c 5":                 `--count: "5": it is for --live and --report; give one of them, too`,
		"trace carol --report -c 0":        `--count: "0": give a whole number from 1`,
		"trace carol --every 2s":           `--every: "2s": it is for --live, --report and --watch; give one of them, too`,
		"trace carol --report --every 0":   `--every: "0": want more than nothing, such as 10s`,
		"trace carol --report --every 1ms": `--every: "1ms": want 100ms at least`,
		"trace carol --report -4 -6":       "-4 -6: a trace that goes on is of one; give one of them",
	} {
		if got := refused(t, strings.Fields(call)...); got != want {
			t.Errorf("%s: %q, want %q", call, got, want)
		}
	}
}
