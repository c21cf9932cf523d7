package screen

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// docs/lab-live.md has the screen's keys and its columns.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/lab-live.md")
	if err != nil {
		t.Fatal(err)
	}
	if help := "```text\n" + strings.Join(keyHelp, "\n") + "\n```"; !strings.Contains(string(page), help) {
		t.Errorf("the page does not have the help of the screen:\n%s", help)
	}
	var want, got []string
	for _, c := range allColumns {
		want = append(want, c.title)
	}
	_, rest, _ := strings.Cut(string(page), "\n| column | shows |\n|---|---|\n")
	table, _, _ := strings.Cut(rest, "\n\n")
	for _, row := range regexp.MustCompile(`(?m)^\| (.*?) \|`).FindAllStringSubmatch(table, -1) {
		got = append(got, row[1])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("columns (-screen +page):\n%s", diff)
	}
}
