package terminal

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/charmbracelet/x/vt"
	"github.com/google/go-cmp/cmp"
)

// shown is what an emulated terminal of that size shows of what was written to it.
func shown(t *testing.T, columns, rows int, written string) []string {
	t.Helper()
	emulator := vt.NewEmulator(columns, rows)
	if _, err := emulator.WriteString(written); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(emulator.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// What was printed stays, in its order; below it is one drawing, the last, or none; a line that is too long is cut; and what comes
// after begins on a line of its own.
func TestLive(t *testing.T) {
	for name, c := range map[string]struct {
		columns, rows int
		keep          bool
		want          []string
	}{
		"kept":    {20, 10, true, []string{"before", "line 1", "line 2", "drawing 2", "of two lines, and …", "after"}},
		"taken":   {30, 10, false, []string{"before", "line 1", "line 2", "after"}},
		"no room": {20, 2, true, []string{"drawing 2", "after"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			out.WriteString("before\r\n")
			n := 0
			l := Sized(&out, c.columns, c.rows).Start(func(int) []string {
				return []string{fmt.Sprint("drawing ", n), "of two lines, and the second is long"}
			})
			for i := range 2 {
				l.Print(fmt.Sprint("line ", i+1))
				l.Change(func() { n++ })
				l.draw()
			}
			l.End(c.keep)
			l.End(c.keep)
			out.WriteString("after")
			if diff := cmp.Diff(c.want, shown(t, c.columns, c.rows, out.String())); diff != "" {
				t.Errorf("(-want +shown):\n%s\nwritten %q", diff, out.String())
			}
		})
	}
}

// What is printed after the end is written at once, below what was kept.
func TestPrintAfterEnd(t *testing.T) {
	var out bytes.Buffer
	l := Sized(&out, 20, 8).Start(func(int) []string { return []string{"drawing"} })
	l.End(true)
	l.Print("late")
	l.End(false)
	if diff := cmp.Diff([]string{"drawing", "late"}, shown(t, 20, 8, out.String())); diff != "" {
		t.Errorf("(-want +shown):\n%s", diff)
	}
}

// Of several calls of End at once each returns when the drawing is done with, and not before.
func TestEndAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drawing, ended := make(chan struct{}), 0
		l := Sized(io.Discard, 20, 8).Start(func(int) []string {
			<-drawing
			return nil
		})
		synctest.Wait() // the first drawing is under way
		var all sync.WaitGroup
		var lock sync.Mutex
		for range 3 {
			all.Go(func() {
				l.End(true)
				lock.Lock()
				ended++
				lock.Unlock()
			})
		}
		synctest.Wait()
		if ended != 0 {
			t.Errorf("%d calls returned before the drawing was done with", ended)
		}
		close(drawing)
		all.Wait()
	})
}

// A terminal that shows ASCII only gets nothing else, and lines are cut to its width.
func TestLiveInASCII(t *testing.T) {
	var out bytes.Buffer
	s := Sized(&out, 12, 8)
	s.ASCII = true
	l := s.Start(func(int) []string { return []string{"pinging zürich…", "35 µs"} })
	l.Print("40 µs…")
	l.End(true)
	if diff := cmp.Diff([]string{"40 us...", "pinging ...", "35 us"}, shown(t, 12, 8, out.String())); diff != "" {
		t.Errorf("(-want +shown):\n%s", diff)
	}
}

// On a terminal that became narrower, and broke the drawing's lines, the next drawing takes their place.
func TestLiveOnANarrowerTerminal(t *testing.T) {
	var out bytes.Buffer
	columns := 30
	s := &Screen{out: &out, size: func() (int, int) { return columns, 8 }}
	l := &Live{screen: s, view: func(int) []string { return []string{"a line of 25 letters, or so", "short"} }}
	l.draw()
	columns = 10
	if got := l.back(columns); !strings.Contains(got, "\x1b[3A") { // three lines of the first, one of the second
		t.Errorf("goes back by %q, want three lines up", got)
	}
}

// The environment says what the words are marked with; what is no terminal has neither marks nor live drawings.
func TestNew(t *testing.T) {
	var out bytes.Buffer
	if s := New(&out, []string{"TERM=xterm-256color"}); s.Live() || s.Bad("x") != "x" || s.Width() != usualColumns {
		t.Errorf("a buffer is taken for a terminal: %+v", s)
	}
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	defer tty.Close()
	for _, c := range []struct {
		environ     []string
		live, ascii bool
		bad, accent string
	}{
		{[]string{"TERM=xterm-256color", "LANG=en_GB.UTF-8"}, true, false, "\x1b[1;31mx\x1b[m", "\x1b[36mx\x1b[m"},
		{[]string{"TERM=xterm-256color", "NO_COLOR=1", "LC_ALL=C", "LANG=en_GB.UTF-8"}, true, true, "\x1b[1mx\x1b[m", "x"},
		{[]string{"TERM=dumb"}, false, false, "x", "x"},
		{nil, false, false, "x", "x"},
	} {
		s := New(tty, c.environ)
		if s.Live() != c.live || s.ASCII != c.ascii || s.Bad("x") != c.bad || s.Accent("x") != c.accent {
			t.Errorf("%v: live %v, ASCII %v, bad %q, accent %q; want %+v", c.environ, s.Live(), s.ASCII, s.Bad("x"), s.Accent("x"), c)
		}
	}
}
