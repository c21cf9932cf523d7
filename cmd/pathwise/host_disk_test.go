package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/host"
	"github.com/pathwise-net/pathwise/input"
)

// Why a disk was not tried to the end is told, with what was measured before.
func TestHostTellsWhy(t *testing.T) {
	full := errors.New("no space left")
	var said bytes.Buffer
	s := &session{err: &said}
	all, err := s.tellingWhy(func(context.Context) ([]host.DiskRate, error) {
		return []host.DiskRate{{What: "write", Rate: 1e9}}, full
	})(t.Context())
	if want := "disk: write 1.00 Gbit/s\ndisk: no space left\n"; said.String() != want || len(all) != 1 || !errors.Is(err, full) {
		t.Errorf("%v, %v, said %q, want %q", all, err, said.String(), want)
	}
	said.Reset()
	var out bytes.Buffer
	c := rootCommand(&session{out: &out, err: &said})
	c.SetArgs([]string{"host", "--disk=/proc", "--only", "disk-rate"})
	if err := c.ExecuteContext(t.Context()); err != nil || !strings.HasPrefix(said.String(), "disk: ") {
		t.Errorf("%v, said %q", err, said.String())
	}
}

// A name behind a --disk that names no folder is a folder or a machine: where it may be either it is refused, with both ways to write it.
func TestHostDiskFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("data", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ disk, name, folder, left, wrong string }{
		{disk: here, folder: "."},
		{disk: here, name: "./data", folder: "./data"},
		{disk: here, name: "/data", folder: "/data"},
		{disk: here, name: "dtn1", folder: ".", left: "dtn1"},
		{disk: ".", name: "data", folder: ".", left: "data"},
		{disk: "data", name: "dtn1", folder: "data", left: "dtn1"},
		{disk: here, name: "data", folder: ".", left: "data", wrong: "--disk=data for the folder, or --disk=. data for the machine"},
	} {
		call, args := hostCall{disk: c.disk}, []string{}
		if c.name != "" {
			args = append(args, c.name)
		}
		left, err := call.readFolder(args)
		if call.disk != c.folder || strings.Join(left, " ") != c.left {
			t.Errorf("%+v: folder %q, left %q", c, call.disk, left)
		}
		if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	c := rootCommand(&session{out: io.Discard, err: io.Discard})
	c.SetArgs([]string{"host", "--disk", "data", "dtn1"})
	if err := c.ExecuteContext(t.Context()); !input.Bad(err) || !strings.Contains(err.Error(), "--disk=DIR") {
		t.Errorf("two names: %v", err)
	}
}
