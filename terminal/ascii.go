package terminal

import (
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Clipped is at most so many columns of a text. An ellipsis at its end says that there is more.
func (s *Screen) Clipped(text string, columns int) string {
	ellipsis := "…"
	if s.ASCII {
		ellipsis = "..."
	}
	return ansi.Truncate(text, columns, ellipsis)
}

// Legible is a text in letters that the screen shows.
func (s *Screen) Legible(text string) string {
	if s.ASCII {
		return ascii(text)
	}
	return text
}

// Letters is a writer to out in letters that it shows: out itself, or where that is a terminal whose locale says that it shows ASCII only,
// one that writes ASCII there. New and Is take it for out.
func Letters(out io.Writer, environ []string) io.Writer {
	if file, is := out.(*os.File); is && Is(file) && asciiOnly(environ) {
		return &asciiWriter{File: file}
	}
	return out
}

// File is the file behind a writer, which Letters may have made, or another that says what it writes to; nil: there is none.
func File(w any) *os.File {
	switch w := w.(type) {
	case interface{ Unwrap() io.Writer }:
		return File(w.Unwrap())
	case *os.File:
		return w
	case *asciiWriter:
		return w.File
	}
	return nil
}

// asciiWriter writes ASCII to a file.
type asciiWriter struct {
	File *os.File
	part []byte // of a letter whose other bytes come with the next Write
}

func (w *asciiWriter) Write(b []byte) (int, error) {
	all := slices.Concat(w.part, b)
	end := len(all)
	for back := 1; back < utf8.UTFMax && back <= len(all); back++ {
		if last := all[len(all)-back:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				end -= back
			}
			break
		}
	}
	w.part = all[end:]
	if _, err := w.File.WriteString(ascii(string(all[:end]))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// likeness is ASCII for what the program's own texts have beyond it.
var likeness = strings.NewReplacer("…", "...", "µ", "u", "·", ".", "×", "x", "→", "->", "–", "-", "—", "-", "’", "'", "“", `"`, "”", `"`)

// ascii puts ASCII in place of all else in a text: a question mark for what has no likeness there.
func ascii(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '?'
		}
		return r
	}, likeness.Replace(text))
}
