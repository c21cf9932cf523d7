package fleet

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStdioReadsOneLine(t *testing.T) {
	k := testKeyring(t)
	want := issue(t, k, "ucl", Reach{})
	var in bytes.Buffer
	if err := want.WriteLine(&in); err != nil {
		t.Fatal(err)
	}
	in.WriteString("INFO {}\r\n")
	out := &closer{closed: make(chan struct{})}
	got, dial, err := Stdio(&in, out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	c, err := dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	if n, err := c.Read(b); err != nil || string(b[:n]) != "INFO {}\r\n" {
		t.Errorf("what follows the credentials: %q, %v", b[:n], err)
	}
	if _, err := c.Read(b); err == nil {
		t.Error("the channel goes on after its end")
	}
	<-out.closed
	if _, err := dial(t.Context()); err == nil {
		t.Error("a channel was dialled twice")
	}
	for _, in := range []string{"", "\n", "{}\n", strings.Repeat("x", 100<<10) + "\n"} {
		if _, _, err := Stdio(strings.NewReader(in), out); err == nil {
			t.Errorf("%.10q: taken as credentials", in)
		}
	}
}

type closer struct {
	bytes.Buffer
	closed chan struct{}
}

func (c *closer) Close() error { close(c.closed); return nil }
