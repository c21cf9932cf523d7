package screen

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
)

// goingLab is a fake lab that does not answer any more after so many answers.
type goingLab struct {
	*fakeLab
	answers int
}

func (g *goingLab) State() (*lab.State, error) {
	if g.answers--; g.answers < 0 {
		return nil, errGone
	}
	return g.fakeLab.State()
}

var errGone = errors.New("gone")

// To leave by a key or by the context is no error; a lab that does not answer is one, from the beginning or later.
func TestShow(t *testing.T) {
	const always = 1 << 30
	for name, c := range map[string]struct {
		answers int
		typed   string
		ended   bool // the context is
		want    error
	}{
		"q": {always, "q", false, nil}, "ctrl+c": {always, "\x03", false, nil}, "the context ends": {always, "", true, nil},
		"no lab": {0, "", false, errGone}, "the lab goes": {2, "", false, errGone},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeLab(t)
			f.truth = truthAt(10, 1000, 0)
			in, keys, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			defer keys.Close()
			if _, err := keys.WriteString(c.typed); err != nil {
				t.Fatal(err)
			}
			ctx, end := context.WithCancel(t.Context())
			defer end()
			if c.ended {
				end()
			}
			if err := Show(ctx, &goingLab{f, c.answers}, in, io.Discard); !errors.Is(err, c.want) {
				t.Errorf("ended with %v, want %v", err, c.want)
			}
		})
	}
}
