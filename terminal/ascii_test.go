package terminal

import (
	"io"
	"os"
	"testing"
)

// What is written to a terminal that shows ASCII only becomes that, wherever a letter is cut in two; all else is left as it is.
func TestLetters(t *testing.T) {
	user, program, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer user.Close()
	if Letters(program, []string{"LC_ALL=C"}) != program {
		t.Error("a pipe is taken for a terminal")
	}
	w := &asciiWriter{File: program}
	if File(w) != program {
		t.Error("the file is lost")
	}
	text := "35 µs… über"
	for i := range len(text) { // a byte at a time
		if n, err := w.Write([]byte(text[i : i+1])); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	program.Close()
	if got, err := io.ReadAll(user); string(got) != "35 us... ?ber" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestClipped(t *testing.T) {
	for _, c := range []struct {
		ascii      bool
		text, want string
	}{{false, "gateway", "gate…"}, {true, "gateway", "ga..."}, {true, "short", "short"}} {
		if got := (&Screen{ASCII: c.ascii}).Clipped(c.text, 5); got != c.want {
			t.Errorf("%q, ASCII %v: %q, want %q", c.text, c.ascii, got, c.want)
		}
	}
}
