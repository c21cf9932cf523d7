package link

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/chance"
	"github.com/pathwise-net/pathwise/lab/notation"
)

func TestReadFiles(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"cell.trace": "1\n5\n", "delays.txt": "4\n0.5\n", "bad": "x\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	trace := &Trace{File: "cell.trace", Opportunities: []int64{1, 5}}
	whole := &Trace{File: filepath.Join(folder, "cell.trace"), Opportunities: []int64{1, 5}}
	jitter := &chance.Jitter{TableFile: "delays.txt", Table: []notation.Delay{5e5, 4e6}}
	for text, want := range map[string]Shape{
		"{}":                                 {},
		"{trace: cell.trace}":                {Trace: trace},
		"{trace: " + whole.File + "}":        {Trace: whole},
		"{jitter: {table_file: delays.txt}}": {Jitter: jitter},
		"{rules: [{}, {trace: cell.trace, jitter: {table_file: delays.txt}}]}": {
			Rules: &Rules{{}, {Shape: Shape{Trace: trace, Jitter: jitter}}}},
	} {
		got, err := read(text)
		for range 2 { // the second time nothing is left to be read
			err = errors.Join(err, got.ReadFiles(folder), got.Complete())
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: error %v (-want +got):\n%s", text, err, diff)
		}
	}
	var known Contents
	shape := Shape{Trace: trace, Rules: &Rules{{}, {Shape: Shape{Jitter: jitter}}}}
	known.Note(shape)
	bare := shape.Bare()
	if bare.Trace.Opportunities != nil || (*bare.Rules)[1].Jitter.Table != nil || shape.Trace.Opportunities == nil || (*shape.Rules)[1].Jitter.Table == nil {
		t.Errorf("%+v is bare, of %+v", bare, shape)
	}
	known.Fill(&bare)
	if diff := cmp.Diff(shape, bare); diff != "" {
		t.Errorf("filled again (-want +got):\n%s", diff)
	}
	for text, want := range map[string]string{
		"{trace: none.trace}":         "trace: open ",
		"{trace: bad}":                `trace: bad: 1:1: "x": want milliseconds`,
		"{jitter: {table_file: bad}}": `jitter: table_file: bad: 1:1: "x": want milliseconds`,
		"{rules: [{}, {trace: bad}]}": `rules: number 2: trace: bad: 1:1: "x": want milliseconds`,
	} {
		s, err := read(text)
		if err == nil {
			err = s.ReadFiles(folder)
		}
		if !errors.As(err, new(*document.Error)) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v; want %s…", text, err, want)
		}
	}
}
