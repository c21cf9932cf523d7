package agent

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

// The plan and the count of bytes of each layout that earlier builds wrote are read whole. A folder of testdata/layouts is of the
// commit that it is named after. Package spool has the spools.
func TestLayouts(t *testing.T) {
	folders, err := filepath.Glob("testdata/layouts/*")
	if err != nil || len(folders) < 2 {
		t.Fatal("no layouts", folders, err)
	}
	for _, layout := range folders {
		p, err := loadPlan(filepath.Join(layout, "plan"))
		if err != nil {
			t.Errorf("%s: %v", layout, err)
			continue
		}
		l, err := openDailyBytes(filepath.Join(layout, "bytes.json"))
		if err != nil {
			t.Errorf("%s: %v", layout, err)
		}
		head := p.Plan
		head.Runs, head.Opens = nil, nil
		all := []any{head, p.done, l.day, l.bytes}
		for _, r := range p.Runs {
			all = append(all, r)
		}
		for _, o := range p.Opens {
			all = append(all, o)
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
