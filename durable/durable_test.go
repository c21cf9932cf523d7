package durable_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/pathwise-net/pathwise/durable"
)

func TestWriteReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan.json")
	for _, want := range []string{"a long first content", "short", ""} {
		if err := durable.Write(path, []byte(want)); err != nil {
			t.Fatal(err)
		}
		expect(t, path, want)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 {
		t.Errorf("mode %v, want one for the owner alone", info.Mode())
	}
}

// Whoever may read a file that is rewritten may at any time.
func TestRewriteKeepsTheMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mesh.yaml")
	wantMode := func(want fs.FileMode) {
		t.Helper()
		info, err := os.Stat(path)
		if err != nil {
			t.Error(err)
		} else if info.Mode() != want {
			t.Errorf("mode %v, want %v", info.Mode(), want)
		}
	}
	if err := durable.Rewrite(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	wantMode(0o600)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		var err error
		for i := 0; i < 100 && err == nil; i++ {
			err = durable.Rewrite(path, []byte("again"))
		}
		done <- err
	}()
	for {
		wantMode(0o640)
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			expect(t, path, "again")
			return
		default:
		}
	}
}

func TestFailureKeepsTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan.json")
	if err := durable.Write(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no more room")
	err := durable.Replace(path, func(w io.Writer) error {
		if _, err := io.WriteString(w, "half"); err != nil {
			return err
		}
		return full
	})
	if !errors.Is(err, full) {
		t.Errorf("%v, want %v", err, full)
	}
	expect(t, path, "old")
}

func TestFullDiskKeepsTheOldFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "plan.json")
	if err := durable.Write(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", filepath.Join(folder, ".plan.json.new")); err != nil {
		t.Fatal(err)
	}
	if err := durable.Write(path, []byte("new")); err == nil {
		t.Error("a full disk is no error")
	}
	expect(t, path, "old")
}

func TestDraftOfAKilledProcessIsOverwritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan.json")
	draft := filepath.Join(filepath.Dir(path), ".plan.json.new")
	if err := os.WriteFile(draft, []byte("a draft longer than the content"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := durable.Write(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	expect(t, path, "new")
}

func TestNoFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "plan.json")
	if err := durable.Write(path, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want that there is no such folder", err)
	}
}

// expect compares the file's content, and that nothing is beside it.
func expect(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 {
		t.Errorf("%v: only the file itself is to be there", files)
	}
}
