// Package layouttest holds what a package reads of the files that earlier builds wrote to what it read of them when they were kept.
// It is for tests, and reads no file format by itself.
//
// A folder of testdata/layouts is named after the commit whose program wrote the files in it; its file "want" has what is read of
// them, a JSON line for each value.
package layouttest

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fewest is how many layouts a package keeps at least: with one alone nobody would notice that the others are gone.
const fewest = 2

var update = flag.Bool("update", false, "write anew what is read of testdata/layouts")

// Run gives read each layout's folder, and compares all that it returns with the file "want" there. With -update it writes that
// file instead.
func Run(t *testing.T, read func(t *testing.T, folder string) []any) {
	t.Helper()
	folders, err := filepath.Glob("testdata/layouts/*")
	if err != nil || len(folders) < fewest {
		t.Fatalf("%d layouts in testdata/layouts, want %d at least: %v", len(folders), fewest, err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) { compare(t, filepath.Join(folder, "want"), read(t, folder)) })
	}
}

func compare(t *testing.T, path string, read []any) {
	t.Helper()
	var got strings.Builder
	lines := json.NewEncoder(&got)
	for _, v := range read {
		if err := lines.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); err != nil || diff != "" {
		t.Errorf("%s: %v (-want +got):\n%s", path, err, diff)
	}
}

// Copy copies a file, for a package that writes where it reads.
func Copy(t *testing.T, from, folder string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, filepath.Base(from)), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
