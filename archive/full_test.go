package archive_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// The disk of this child is a small one in memory, in a mount namespace of its own, where a ballast takes most of it.
const fullFolder = "PATHWISE_ARCHIVE_FULL"

// A full disk: Put says so, what was acknowledged is there, and when there is space again the archive goes on.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fullFolder+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, syscall.EPERM) || strings.Contains(string(out), "cannot mount"):
		t.Skipf("no namespaces here: %v %s", err, out)
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	}
	t.Log(string(out))
}

func runFullIfAsked() {
	if folder := os.Getenv(fullFolder); folder != "" {
		if err := runFull(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

func runFull(folder string) error {
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=8m"); err != nil {
		return fmt.Errorf("cannot mount: %w", err)
	}
	ballast := filepath.Join(folder, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 5<<20), 0o600); err != nil {
		return err
	}
	a, err := archive.Open(context.Background(), filepath.Join(folder, "archive.db"), archive.Options{MoveValues: 400})
	if err != nil {
		return err
	}
	f := &filler{archive: a}
	for err = nil; err == nil; err = f.put() {
		if len(f.filed) > 200_000 {
			return errors.New("the disk does not fill")
		}
	}
	if !errors.Is(err, archive.ErrFull) {
		return fmt.Errorf("on a full disk: %w, want ErrFull", err)
	}
	whenFull := len(f.filed)
	for range 3 { // it stays so
		if err := f.put(); !errors.Is(err, archive.ErrFull) {
			return fmt.Errorf("on a disk that is still full: %v, want ErrFull", err)
		}
	}
	if err := os.Remove(ballast); err != nil {
		return err
	}
	for range 5 {
		if err := f.put(); err != nil {
			return fmt.Errorf("with space again: %w", err)
		}
	}
	fmt.Printf("full after %d results, %d in the end", whenFull, len(f.filed))
	return errors.Join(f.check(), a.Close())
}

// filler files Results and knows which were acknowledged.
type filler struct {
	archive archive.Archive
	filed   []*measure.Result
}

func (f *filler) put() error {
	var batch []*measure.Result
	for i := range 20 {
		r := ping("a", string(rune('b'+i%5)), now.Add(-time.Duration(len(f.filed)+i)*time.Second), float64(i))
		r.Notes = []string{noise(2000)}
		batch = append(batch, r)
	}
	err := f.archive.Put(context.Background(), batch)
	if err == nil {
		f.filed = append(f.filed, batch...)
	}
	return err
}

func (f *filler) check() error {
	for _, r := range f.filed {
		if _, err := f.archive.Result(context.Background(), r.ID); err != nil {
			return fmt.Errorf("acknowledged: %w", err)
		}
	}
	s, err := f.archive.Series(context.Background(), archive.SeriesQuery{Match: archive.Match{Metric: "rtt_mean_seconds"},
		From: now.Add(-1000 * time.Hour).Truncate(time.Hour), To: now.Add(time.Hour), Step: time.Hour})
	if err != nil {
		return err
	}
	count := uint64(0)
	for _, b := range s.Buckets {
		count += b.Count
	}
	if count != uint64(len(f.filed)) {
		return fmt.Errorf("rollups count %d values of %d results", count, len(f.filed))
	}
	return nil
}
