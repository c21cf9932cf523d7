package diagnose

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/diagnose/knowledge"
)

// page is made of the rules and the knowledge base in two places: the table of findings, and how many verdicts are right.
const page = "../docs/diagnose.md"

var (
	findingsInPage = regexp.MustCompile(`(?s)<!-- findings -->\n.*<!-- end -->`)
	countsInPage   = regexp.MustCompile(`(?s)Of the \d+\s+verdicts\s.*?name\s+no\s+cause,\s+and\s+none`)
)

// docs/diagnose.md says what the rules and the table of recordings do; -update writes it anew. This test stands in a file behind that of
// TestFaultsReplayed, so that it runs behind it and counts the table as it is by then.
func TestPage(t *testing.T) {
	rows, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	count := func(truth Truth) int { return strings.Count(string(rows), " "+string(truth)+"\n") }
	counts := fmt.Sprintf("Of the %d\nverdicts %d are right, %d name a finding that says the same less exactly (a bad cable is told as random loss),\n"+
		"%d name no cause, and none", strings.Count(string(rows), "\n"), count(Right), count(Kin), count(Missed))
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !findingsInPage.Match(got) || !countsInPage.Match(got) {
		t.Fatalf("%s has no place for the table of findings, or for the counts", page)
	}
	want := findingsInPage.ReplaceAllLiteralString(string(got), findingsTable())
	want = countsInPage.ReplaceAllLiteralString(want, counts)
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("the page is not what the rules say; -update writes it anew (-want +got):\n%s", diff)
	}
}

// findingsTable has a row for each rule, by the entry of the knowledge base.
func findingsTable() string {
	var b strings.Builder
	b.WriteString("<!-- findings -->\n| finding | it holds when | advice |\n|---|---|---|\n")
	for i, r := range rules {
		if slices.ContainsFunc(rules[:i], func(before Rule) bool { return before.ID == r.ID }) {
			continue // of another kind of subject
		}
		e := knowledge.OfFinding(r.ID)
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.ID, e.When, e.Short)
	}
	return b.String() + "<!-- end -->"
}
