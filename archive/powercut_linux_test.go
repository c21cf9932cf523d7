package archive_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/archive/postgrestest"
)

// A power cut, as a file system sees one: from one moment on nothing reaches the disk any more, not even the journal's
// end, and what was only in memory is gone when it is mounted again. Linux's ext4 does this when asked.
//
//	image on a loop device -> mount -> children put ... cut -> unmount -> mount -> what was acknowledged is there, once
//
// The mounts are in a namespace of their own, and end with it: the test runs itself again there.
const powerCut = "PATHWISE_ARCHIVE_POWERCUT"

// ext4's ioctl, of linux/fs/ext4/ext4.h: _IOR('X', 125, __u32), and its EXT4_GOING_FLAGS_NOLOGFLUSH.
const (
	ext4Shutdown   = 0x8004587d
	withoutJournal = 2
)

func TestPowerCut(t *testing.T) {
	if os.Getenv(powerCut) != "" {
		t.Run("sqlite", cutSQLite)
		t.Run("postgres", cutPostgres)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root may mount an image")
	}
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestPowerCut$", "-test.v")
	cmd.Env = append(os.Environ(), powerCut+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, syscall.EPERM) || strings.Contains(string(out), "no image here"):
		t.Skipf("no mounts here: %v\n%s", err, out)
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// disk is an ext4 file system in a file.
type disk struct{ image, folder string }

func newDisk(t *testing.T, size int64) *disk {
	t.Helper()
	folder, err := os.MkdirTemp("", "pathwise-cut-") // PostgreSQL, which is not root, may not look into t.TempDir()
	if err != nil {
		t.Fatal(err)
	}
	d := &disk{filepath.Join(t.TempDir(), "image"), folder}
	t.Cleanup(func() { os.Remove(folder) })
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin") // where mkfs is
	if err := errors.Join(os.WriteFile(d.image, nil, 0o600), os.Truncate(d.image, size)); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("mkfs.ext4", "-q", "-F", d.image).CombinedOutput()
	if err == nil {
		out, err = exec.Command("mount", "-o", "loop", d.image, d.folder).CombinedOutput()
	}
	if err != nil {
		t.Skipf("no image here: %v %s", err, out)
	}
	t.Cleanup(func() { d.unmount(t) })
	return d
}

func (d *disk) unmount(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for err := syscall.Unmount(d.folder, 0); err != nil; err = syscall.Unmount(d.folder, 0) {
		if time.Now().After(deadline) {
			t.Fatalf("unmount: %v", err)
		}
		time.Sleep(10 * time.Millisecond) // until the last child of a server that was killed has ended
	}
}

// cut is a power cut.
func (d *disk) cut(t *testing.T) {
	t.Helper()
	err := d.open(t, func(fd int) error { return unix.IoctlSetPointerInt(fd, ext4Shutdown, withoutJournal) })
	if err != nil {
		t.Skipf("no image here that can be cut off: %v", err)
	}
}

func (d *disk) sync(t *testing.T) {
	t.Helper()
	if err := d.open(t, unix.Syncfs); err != nil {
		t.Fatal(err)
	}
}

func (d *disk) open(t *testing.T, do func(fd int) error) error {
	t.Helper()
	folder, err := os.Open(d.folder)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	return do(int(folder.Fd()))
}

// restore is what follows when power is back and all that ran has ended.
func (d *disk) restore(t *testing.T) {
	t.Helper()
	d.unmount(t)
	if out, err := exec.Command("mount", "-o", "loop", d.image, d.folder).CombinedOutput(); err != nil {
		t.Fatalf("mount again: %v %s", err, out)
	}
}

func cutSQLite(t *testing.T) {
	d := newDisk(t, 256<<20)
	path := filepath.Join(d.folder, "archive.db")
	w := newTold()
	cutRounds(t, d, path, w, func() {}, func() {})
	t.Logf("%d results acknowledged in %d rounds", len(w.filed), rounds(1))
}

func cutPostgres(t *testing.T) {
	d := newDisk(t, 512<<20)
	if err := os.Chmod(d.folder, 0o755); err != nil { // once it is mounted; for the server
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", d.folder)
	server, err := postgrestest.Start(t.Context(), "recovery_init_sync_method=syncfs")
	if errors.Is(err, postgrestest.ErrNone) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	url, err := server.Create(t.Context(), "archive")
	if err != nil {
		t.Fatal(err)
	}
	d.sync(t) // initdb was told not to
	w := newTold()
	cutRounds(t, d, url, w, server.Kill, func() {
		if err := server.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("%d results acknowledged in %d rounds", len(w.filed), rounds(1))
}

// cutRounds cuts power while a child puts, at some moment of each round, and looks what is there when it is back. What
// else runs on the disk is ended by end, and started again by begin.
func cutRounds(t *testing.T, d *disk, url string, w *told, end, begin func()) {
	t.Helper()
	when := dice(21)
	before := 0
	for round := range rounds(1) {
		c := startChild(t, url, 200+round, w)
		if round == 0 { // in the others it may strike before
			c.awaitFirst()
		}
		time.Sleep(time.Duration(when.Int64N(int64(400 * time.Millisecond)))) // when does not matter

		c.stop() // the kernel may still say that something is on disk when nothing gets there: nobody hears it
		d.cut(t)
		c.kill() // whatever it complained of
		end()
		d.restore(t)
		begin()
		a := open(t, url)
		w.check(t, a, never)
		closeIt(t, a) // which moves what is left
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
		fmt.Printf("round %d: %d results acknowledged before the cut, none lost\n", round, len(w.filed)-before)
		before = len(w.filed)
	}
	if len(w.filed) == 0 {
		t.Error("the children filed nothing")
	}
}
