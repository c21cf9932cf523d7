package main

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/casebook"
	"github.com/pathwise-net/pathwise/lab/faults"
	"github.com/pathwise-net/pathwise/lab/scenario"
)

func TestPrintCasebook(t *testing.T) {
	figure := func(name, reference, ours, why string) casebook.Figure {
		return casebook.Figure{Figure: scenario.Figure{Name: name, Reference: reference, Ours: ours}, OK: why == "", Why: why}
	}
	slow := casebook.Played{Name: "slow-copy", Verdict: scenario.Pass, Seconds: 20, Figures: []casebook.Figure{
		figure("copy as found", "18 min", "39.8 s", ""), figure("finding", "", "duplex-mismatch", "")}}
	wrong := casebook.Played{Name: "wrong", Verdict: scenario.Fail, Why: "x: 2 s, wanted 1 s", Seconds: 1, Figures: []casebook.Figure{
		figure("copy", "1 s", "2 s", "2 s, wanted 1 s"), figure("later", "3 s", "", "was not reached")}}
	broken := casebook.Played{Name: "broken", Verdict: scenario.Fail, Why: "a: x: exit status 1", Seconds: 1,
		Figures: []casebook.Figure{figure("copy", "1 s", "1 s", "")}}
	left := casebook.Played{Name: "left", Verdict: scenario.Skip, Why: "no such kernel"}
	for _, test := range []struct {
		book casebook.Book
		want string
	}{
		{casebook.Book{Cases: []casebook.Played{slow}, Passed: 1}, `
case       figure         reference  ours
slow-copy  copy as found  18 min     39.8 s           ok
           finding        -          duplex-mismatch  ok
1 case: 1 as expected; 20.0 s
`},
		{casebook.Book{Cases: []casebook.Played{slow, wrong, broken, left}, Passed: 1, Failed: 2, Left: 1}, `
case       figure         reference  ours
slow-copy  copy as found  18 min     39.8 s           ok
           finding        -          duplex-mismatch  ok
wrong      copy           1 s        2 s              2 s, wanted 1 s
           later          3 s        -                was not reached
broken     copy           1 s        1 s              ok
                                     fail             a: x: exit status 1
left                                 skip             no such kernel
4 cases: 1 as expected, 2 not, 1 not played; 22.0 s
`},
	} {
		var out strings.Builder
		printCasebook(&out, &test.book)
		if wrong := diff.Diff(strings.TrimPrefix(test.want, "\n"), out.String()); wrong != "" {
			t.Errorf("(-want +got):\n%s", wrong)
		}
	}
}

// `pathwise lab run NAME` takes a fault or a case of the casebook, so that no name is of both.
func TestCasesHaveNamesOfTheirOwn(t *testing.T) {
	for _, one := range casebook.List() {
		if _, err := faults.Read(one.Name); err == nil {
			t.Errorf("%s is in the library of faults and in the casebook", one.Name)
		}
	}
}

// The page of the casebook has every figure of every case with its reference. With -update and PATHWISE_TEST_CASEBOOK, a file that
// `pathwise lab casebook --json` printed, it is written anew with the figures that came out there.
func TestCasebookPage(t *testing.T) {
	const heading = "| case | figure | reference | ours |"
	page := readDoc(t, "casebook.md")
	if path := os.Getenv("PATHWISE_TEST_CASEBOOK"); *update && path != "" {
		text, err := os.ReadFile(filepath.Clean(path))
		if err != nil {
			t.Fatal(err)
		}
		var book casebook.Book
		if err := document.JSON(text, diagnose.MostBytes, &book); err != nil {
			t.Fatal(err)
		}
		writeTable(t, "casebook.md", page, heading, casebookRows(&book))
		return
	}
	var want, got [][]string
	for _, one := range casebook.List() {
		want = append(want, casebookFigures(t, one.Name)...)
	}
	for _, row := range docTable(t, page, heading) {
		if len(row) != 4 || row[3] == "" || row[3] == "-" {
			t.Fatalf("docs/casebook.md: row %q: want four columns, the last with what came out", row)
		}
		got = append(got, row[:3])
	}
	if wrong := diff.Diff(want, got); wrong != "" {
		t.Errorf("docs/casebook.md (-casebook +page):\n%s", wrong)
	}
}

// casebookFigures are the rows that a case has on its page, without what came out.
func casebookFigures(t *testing.T, name string) (rows [][]string) {
	t.Helper()
	c, err := readCase(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Steps {
		if s.Expect != nil && s.Expect.Figure != "" {
			rows = append(rows, casebookRow(c.Name, s.Expect.Figure, s.Expect.Reference))
		}
	}
	return rows
}

func casebookRows(book *casebook.Book) (rows [][]string) {
	for _, p := range book.Cases {
		for _, f := range p.Figures {
			rows = append(rows, append(casebookRow(p.Name, f.Name, f.Reference), f.Ours))
		}
	}
	return rows
}

func casebookRow(name, figure, reference string) []string {
	return []string{code(name), figure, cmp.Or(reference, "-")}
}
