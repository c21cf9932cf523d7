package spool

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDiskFull has a disk that takes no more for a while: new Results wait in memory, as many as there is room for, are
// delivered from there, and go to the disk once it takes them.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir, MemoryBytes: 1000})
	put(t, s, result(0))
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	defer full.Close()
	disk := s.active.file
	s.active.file = full
	for n := 1; n <= 20; n++ {
		if err := s.Put(result(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Begin(Mark{}, run(30)); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a run that could not be noted gave %v", err)
	}
	_ = s.Commit()
	state := s.State()
	if !errors.Is(state.Trouble, syscall.ENOSPC) || state.Memory == 0 || state.Dropped+state.Memory != 20 || s.held > 1000 {
		t.Errorf("%+v with %d bytes in memory; want a full disk, at most 1000 bytes, and every Result kept or counted", state, s.held)
	}
	want := []string{id(0)}
	for n := 20 - state.Memory + 1; n <= 20; n++ {
		want = append(want, id(n))
	}
	if diff := cmp.Diff(want, ids(due(t, s))); diff != "" {
		t.Errorf("due (-want +got):\n%s", diff)
	}
	s.Filed(id(20))
	want = want[:len(want)-1]

	s.active.file = disk
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	if state := s.State(); state.Memory != 0 || state.Trouble != nil || s.held != 0 {
		t.Errorf("with room again: %+v, %d bytes in memory", state, s.held)
	}
	s.Close()
	if diff := cmp.Diff(want, ids(due(t, open(t, Config{Dir: dir})))); diff != "" {
		t.Errorf("after a restart (-want +got):\n%s", diff)
	}
}
