package gateway

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
)

func TestParseConfig(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "cell.trace"), []byte("1\n5\n9\n"), 0o600); err != nil { // and a table of delays
		t.Fatal(err)
	}
	for _, c := range []struct{ text, forward, reverse, fault string }{
		{"", "", "", ""},
		{"delay: 20ms\nforward: {rate: 10mbit, loss: 1%}\nreverse: {delay: 30ms}",
			"{rate: 10mbit, delay: 20ms, loss: 1%}", "{delay: 30ms}", ""},
		{"rules: [{match: {port: 5201}, delay: 100ms}]\nforward: {rules: [{loss: 1%}]}",
			"{rules: [{loss: 1%}]}", "{rules: [{match: {port: 5201}, delay: 100ms}]}", ""},
		{"trace: cell.trace", `{trace: {file: "cell.trace"}}`, `{trace: {file: "cell.trace"}}`, ""},
		{"rules: [{trace: cell.trace}]", `{rules: [{trace: {file: "cell.trace"}}]}`, `{rules: [{trace: {file: "cell.trace"}}]}`, ""},
		{"jitter: {table_file: cell.trace}\nreverse: {jitter: 1ms}", `{jitter: {table_file: "cell.trace"}}`, "{jitter: 1ms}", ""},
		{"delay: fast", "", "", "link.yaml:1:8: delay: "},
		{"\nforward:\n  lost: 1%", "", "", `link.yaml:3:3: unknown field "lost"; did you mean loss?`},
		{"hosts: {a: {}}", "", "", "link.yaml:1:1: "},
		{"trace: none.trace", "", "", "link.yaml: trace: "},
		{"forward: {rate: 10mbit, duplex: half}", "", "", "link.yaml: duplex: "},
		{strings.Repeat(" ", notation.MaxBytes+1), "", "", "link.yaml: too large: want at most 1048576 bytes"},
	} {
		name := filepath.Join(folder, "link.yaml")
		got, err := ParseConfig(name, []byte(c.text))
		if c.fault != "" {
			var bad *document.Error
			if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), filepath.Join(folder, c.fault)) {
				t.Errorf("%.80q: error %v; want %s…", c.text, err, c.fault)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if diff := cmp.Diff([2]string{c.forward, c.reverse}, [2]string{got.Forward.String(), got.Reverse.String()}); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestWith(t *testing.T) {
	below, err := ParseConfig("link.yaml", []byte("{seed: 7, delay: 20ms, loss: 1%}"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := below.With("delay=5ms", "reverse.rate=10mbit")
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{got.Forward.String(), got.Reverse.String()}
	if diff := cmp.Diff([]string{"{delay: 5ms, loss: 1%}", "{rate: 10mbit, delay: 5ms, loss: 1%}"}, texts); diff != "" || got.Seed != 7 {
		t.Errorf("seed %d, shapes (-want +got):\n%s", got.Seed, diff)
	}
	for _, bad := range []string{"delay", "delay=x", "speed=1", "sideways.loss=1%", "duplex=half", "trace={file: none.trace}"} {
		if _, err := below.With(bad); !errors.As(err, new(*document.Error)) {
			t.Errorf("%q: error %v; want one of the caller's", bad, err)
		}
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add("delay: 20ms\nforward: {rate: 10mbit, loss: 1%}\nrules: [{match: {port: 5201}, delay: 100ms}]")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "trace") || strings.Contains(text, "table_file") {
			return // it names files
		}
		c, err := ParseConfig("link.yaml", []byte(text))
		if err != nil {
			if !errors.As(err, new(*document.Error)) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q", err)
			}
			return
		}
		newPath(c, ports2, nil)
	})
}
