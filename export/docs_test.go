package export

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const docs = "../docs/mesh-export.md"

// The page names every metric of a mesh, with the meaning that a scrape gives it. What tests measure is on a page of its own.
func TestDocsNameEachMetric(t *testing.T) {
	page, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{} // name to meaning
	files, _ := filepath.Glob("*.go")
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`(?s)(?:NewDesc\(prefix\+|\bshow\()"?(\w+)"?,\s*"(.*?)"[,)]`).FindAllSubmatch(source, -1) {
			name := strings.Replace(string(found[1]), "resultOK", resultOK, 1)
			want[prefix+name] = strings.ReplaceAll(string(found[2]), `\'`, `'`)
		}
		for _, found := range regexp.MustCompile(`desc\("(\w+)", "(.*?)"\)`).FindAllSubmatch(source, -1) {
			want[prefix+"remote_write_"+string(found[1])] = string(found[2])
		}
	}
	if len(want) < 20 {
		t.Fatalf("%d metrics found only", len(want))
	}
	rows := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(pathwise_\\w+)`[^|]*\\| (.*) \\|$").FindAllStringSubmatch(string(page), -1) {
		rows[row[1]] = row[2]
	}
	for name, meaning := range want {
		if rows[name] != meaning {
			t.Errorf("want the row: | `%s` | %s |", name, meaning)
		}
		delete(rows, name)
	}
	for name := range rows {
		t.Errorf("the page has %s, which does not exist", name)
	}
}

// What the page offers to copy into Prometheus' files is what promtool takes there.
func TestDocsForPrometheus(t *testing.T) {
	page, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	program := find(t, "promtool", "prometheus")
	checked := 0
	for i, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		kind := ""
		switch {
		case strings.HasPrefix(block[1], "scrape_configs:"):
			kind = "config"
		case strings.HasPrefix(block[1], "groups:"):
			kind = "rules"
		default:
			continue
		}
		folder := t.TempDir() // in place of Prometheus' own: files that a block names have to be there
		file, text := filepath.Join(folder, fmt.Sprint(i, ".yml")), strings.ReplaceAll(block[1], "/etc/prometheus", folder)
		for path, content := range map[string]string{file: text, filepath.Join(folder, "pathwise.token"): "pathwise_x\n"} {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := exec.CommandContext(t.Context(), program, "check", kind, file).CombinedOutput(); err != nil {
			t.Errorf("check %s: %v\n%s", kind, err, out)
		}
		checked++
	}
	if checked != 2 {
		t.Errorf("%d blocks checked", checked)
	}
}
