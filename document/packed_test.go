package document

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPacked(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json.gz")
	want := []int{1, 2, 3}
	for range 2 { // the second one takes the place of the first
		if err := WritePacked(path, want); err != nil {
			t.Fatal(err)
		}
	}
	var got []int
	if err := ReadPacked(path, len("[1,2,3]\n"), &got); err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%v, %v in the folder, want one file", files, err)
	}
	var large *Error
	if err := ReadPacked(path, 3, &got); !errors.As(err, &large) {
		t.Errorf("beyond the bound: %v", err)
	}
}

func TestPackedFails(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"empty": "", "plain": "{}", "cut": "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\xaa"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := ReadPacked(path, most, new(any)); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	if err := ReadPacked(filepath.Join(dir, "none"), most, new(any)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	path := filepath.Join(dir, "function")
	if err := WritePacked(path, func() {}); err == nil {
		t.Error("a function was written")
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what could not be written left a file: %v", err)
	}
}
