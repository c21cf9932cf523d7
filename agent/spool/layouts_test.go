package spool

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what is read of testdata/layouts beside it")

// The spool of each layout that earlier builds wrote is read whole: no Result is lost when a host gets a newer build. A folder of
// testdata/layouts is of the commit that it is named after.
func TestLayouts(t *testing.T) {
	folders, err := filepath.Glob("testdata/layouts/*")
	if err != nil || len(folders) < 2 {
		t.Fatal("no layouts", folders, err)
	}
	for _, layout := range folders {
		const file = "0000000000000001.log"
		text, err := os.ReadFile(filepath.Join(layout, file))
		dir := t.TempDir()
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(Config{Dir: dir})
		if err != nil {
			t.Errorf("%s: %v", layout, err)
			continue
		}
		all := []any{s.Mark(), s.Unfinished()}
		results, err := s.Due(1 << 20)
		if err != nil {
			t.Errorf("%s: %v", layout, err)
		}
		for _, r := range results {
			all = append(all, r)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		compare(t, filepath.Join(layout, "want"), all...)
	}
}

// compare holds what was read, a line each, against what stands in a file.
func compare(t *testing.T, path string, read ...any) {
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
