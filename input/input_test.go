package input

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestBad(t *testing.T) {
	for _, c := range []struct {
		err  error
		text string
		bad  bool
	}{
		{&Error{"df", "true", "leave it out"}, `df "true": leave it out`, true},
		{fmt.Errorf("read: %w", &Error{"port", "0", "give 1 to 65535"}), `read: port "0": give 1 to 65535`, true},
		{Errorf("name: %q: want a word", ""), `name: "": want a word`, true},
		{fmt.Errorf("query: %w", Errorf("pattern: %w", io.EOF)), "query: pattern: EOF", true},
		{io.EOF, "EOF", false},
	} {
		if got := Bad(c.err); got != c.bad || c.err.Error() != c.text {
			t.Errorf("%v: bad input: %t; want %q, %t", c.err, got, c.text, c.bad)
		}
	}
	if !errors.Is(Errorf("pattern: %w", io.EOF), io.EOF) {
		t.Error("what Errorf wraps is not found in it")
	}
	if Bad(nil) {
		t.Error("no error is bad input")
	}
}
