package disk

import (
	"context"
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func empty(t *testing.T, folder string) {
	t.Helper()
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// Each kind of access is measured, within the limits, and nothing stays.
func TestTry(t *testing.T) {
	folder := t.TempDir()
	limits := Limits{Bytes: 2 * behind, Each: 200 * time.Millisecond}
	all, err := Try(t.Context(), folder, limits)
	if err != nil {
		t.Fatal(err)
	}
	if want := len(plan(all[len(all)-1].Direct)); len(all) != want {
		t.Errorf("%d rates, want %d", len(all), want)
	}
	for _, r := range all {
		if r.Bytes <= 0 || r.Bytes > limits.Bytes || !(r.BitsPerSecond() > 0) {
			t.Errorf("%s: %+v", r.What(), r)
		}
	}
	empty(t, folder)
}

// The end of a caller ends a trial, and a folder that is not there is an error.
func TestTryEnds(t *testing.T) {
	folder := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if all, err := Try(ctx, folder, Limits{}); !errors.Is(err, context.Canceled) || len(all) > 0 {
		t.Errorf("ended: %+v, %v", all, err)
	}
	empty(t, folder)
	if _, err := Try(t.Context(), folder+"/none", Limits{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// A file system that fills up ends a trial with that as its error, and has its room back.
func TestFullDisk(t *testing.T) {
	runtime.LockOSThread() // never unlocked: the thread, with its mounts, ends with the test
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		t.Skip("mounts of one's own need root: ", err)
	}
	folder := t.TempDir()
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Skip("mounts of one's own: ", err)
	}
	if err := unix.Mount("none", folder, "tmpfs", 0, "size=4m"); err != nil {
		t.Skip("mount a file system in memory: ", err)
	}
	defer unix.Unmount(folder, 0)
	room := func() uint64 {
		var s unix.Statfs_t
		if err := unix.Statfs(folder, &s); err != nil {
			t.Fatal(err)
		}
		return s.Bfree
	}
	before := room()
	if all, err := try(t.Context(), folder, Limits{Bytes: 8 << 20, Each: time.Minute}); !errors.Is(err, unix.ENOSPC) || len(all) > 0 {
		t.Errorf("%+v, %v", all, err)
	}
	if after := room(); after != before {
		t.Errorf("%d blocks free, before %d", after, before)
	}
	if all, err := Try(t.Context(), folder, Limits{Each: time.Minute}); err != nil || all[0].Bytes != 2<<20 {
		t.Errorf("with half of what is free: %+v, %v", all, err)
	}
}
