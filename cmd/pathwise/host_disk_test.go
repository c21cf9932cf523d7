package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/host"
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
