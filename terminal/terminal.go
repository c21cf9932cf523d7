// Package terminal writes to the terminal that a person looks at: words in colour, and drawings that change in place while a command
// runs.
//
// It knows what terminal there is, how large it is and what it can show. What is drawn it does not know: its callers give it lines.
// Nothing here changes the terminal's modes, so that a program that is killed leaves nothing behind but its last drawing. Of an output
// that is no terminal a Screen has no colours, and nothing is drawn live on it.
package terminal

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"golang.org/x/sys/unix"
)

// Screen is an output that people read.
type Screen struct {
	Palette
	ASCII bool // the locale says that it shows nothing beyond ASCII
	out   io.Writer
	size  func() (columns, rows int) // nil: it is no terminal, or one that cannot move its cursor
}

// The size of a terminal that does not say how large it is, and of what is no terminal.
const (
	usualColumns = 80
	usualRows    = 24
)

// New is the screen that out writes to, as the environment ("NAME=value") describes it: TERM, NO_COLOR (https://no-color.org) and the
// locale.
func New(out io.Writer, environ []string) *Screen {
	file := File(out)
	if file == nil || !Is(file) {
		return &Screen{out: out}
	}
	profile := colorprofile.Env(environ)
	s := &Screen{out: out, ASCII: asciiOnly(environ), Palette: Palette{Marks: profile >= colorprofile.ASCII, Colors: profile >= colorprofile.ANSI}}
	if profile > colorprofile.NoTTY {
		s.size = func() (columns, rows int) { return sizeOf(file) }
	}
	return s
}

// Sized is a screen of a fixed size with all colours, whatever out is: of a terminal that is emulated.
func Sized(out io.Writer, columns, rows int) *Screen {
	return &Screen{Palette: Palette{Marks: true, Colors: true}, out: out, size: func() (int, int) { return columns, rows }}
}

// Live says whether drawings can change in place on this screen.
func (s *Screen) Live() bool { return s.size != nil }

// Width is how many columns it has now.
func (s *Screen) Width() int {
	if s.size == nil {
		return usualColumns
	}
	columns, _ := s.size()
	return columns
}

// Is says whether w is a terminal.
func Is(w any) bool {
	file := File(w)
	if file == nil {
		return false
	}
	_, err := unix.IoctlGetTermios(int(file.Fd()), unix.TCGETS)
	return err == nil
}

func sizeOf(file *os.File) (columns, rows int) {
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 || size.Row == 0 {
		return usualColumns, usualRows
	}
	return int(size.Col), int(size.Row)
}

// asciiOnly says whether the locale names a character set, and it is not UTF-8. One that is not set says nothing of the terminal.
func asciiOnly(environ []string) bool {
	for _, name := range []string{"LC_ALL=", "LC_CTYPE=", "LANG="} { // the first that is set holds (POSIX, 8.2)
		i := slices.IndexFunc(environ, func(e string) bool { return strings.HasPrefix(e, name) && len(e) > len(name) })
		if i >= 0 {
			locale := strings.ToLower(environ[i][len(name):])
			return !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
		}
	}
	return false
}
