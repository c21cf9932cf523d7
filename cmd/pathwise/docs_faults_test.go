package main

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/faults"
	"github.com/pathwise-net/pathwise/lab/gateway"
	"github.com/pathwise-net/pathwise/lab/scenario"
	"github.com/pathwise-net/pathwise/lab/topology"
	"github.com/pathwise-net/pathwise/lab/workload"
)

// readDoc reads a page of docs/.
func readDoc(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// docTable returns the rows of the table with a heading such as "| fault | finding |", without it and the line below.
func docTable(t *testing.T, page, heading string) (rows [][]string) {
	t.Helper()
	_, rest, found := strings.Cut(page, "\n"+heading+"\n")
	if !found {
		t.Fatalf("the page has lost its table %s", heading)
	}
	for i, line := range strings.Split(rest, "\n") {
		if !strings.HasPrefix(line, "|") {
			break
		}
		if i > 0 {
			rows = append(rows, strings.Split(strings.Trim(line, "| "), " | "))
		}
	}
	return rows
}

func code(text string) string { return "`" + text + "`" }

var update = flag.Bool("update", false, "write the table of docs/lab-faults.md anew")

// The page of faults lists the library as it is; -update writes its table anew.
func TestFaultsPage(t *testing.T) {
	const heading = "| fault | finding | what happens |"
	var want [][]string
	for _, e := range faults.List() {
		finding := "-"
		if e.Finding != "" {
			finding = code(e.Finding)
		}
		want = append(want, []string{code(e.Name), finding, strings.TrimSpace(e.Title)})
	}
	page := readDoc(t, "lab-faults.md")
	got := docTable(t, page, heading)
	if *update {
		writeTable(t, "lab-faults.md", page, heading, want)
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/lab-faults.md (-library +page):\n%s", diff)
	}
}

// writeTable writes the rows of a page's table anew, in place of those below its heading and the line below that.
func writeTable(t *testing.T, name, page, heading string, rows [][]string) {
	t.Helper()
	before, rest, _ := strings.Cut(page, heading+"\n")
	line, rest, _ := strings.Cut(rest, "\n")
	for strings.HasPrefix(rest, "|") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	text := before + heading + "\n" + line + "\n"
	for _, r := range rows {
		text += "| " + strings.Join(r, " | ") + " |\n"
	}
	if err := os.WriteFile(filepath.Join("../../docs", name), []byte(text+rest), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The page of faults tells which cases are never played.
func TestFaultsPageSkips(t *testing.T) {
	_, limits, _ := strings.Cut(readDoc(t, "lab-faults.md"), "\n## Limits\n")
	for _, e := range faults.List() {
		if says := strings.Contains(limits, code(e.Name)+" is skipped"); says != (e.Skip != "") {
			t.Errorf("%s: skipped because of %q; the page says so: %v", e.Name, e.Skip, says)
		}
	}
}

// The page of faults explains every key of a case file.
func TestCaseKeysPage(t *testing.T) {
	page := readDoc(t, "lab-faults.md")
	for _, part := range []reflect.Type{reflect.TypeFor[scenario.Case](), reflect.TypeFor[scenario.Step](), reflect.TypeFor[scenario.Set](),
		reflect.TypeFor[scenario.Program](), reflect.TypeFor[scenario.Wait](), reflect.TypeFor[scenario.Expect]()} {
		for i := range part.NumField() {
			key := part.Field(i).Tag.Get("yaml")
			if key == "" || key == "-" || strings.HasPrefix(key, ",") {
				continue // not a key, or those of a link
			}
			if !regexp.MustCompile("`([^`]*[{ ])?" + key + "[:`]").MatchString(page) {
				t.Errorf("%s: docs/lab-faults.md does not have the key %s", part.Name(), key)
			}
		}
	}
	for _, verdict := range []string{scenario.Pass, scenario.Fail, scenario.Skip, scenario.Cut} {
		if !strings.Contains(page, "\n| "+code(verdict)+" |") {
			t.Errorf("docs/lab-faults.md does not have the verdict %s", verdict)
		}
	}
}

// The page of faults has every role that a case can give a program.
func TestRolesPage(t *testing.T) {
	var want, got [][]string
	for _, r := range workload.Roles() {
		want = append(want, []string{code(r.Name), r.Summary})
	}
	for _, row := range docTable(t, readDoc(t, "lab-faults.md"), "| role | plays | flags of its own |") {
		got = append(got, row[:2])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/lab-faults.md (-program +page):\n%s", diff)
	}
}

// tripLine is a line of the table that each topology has in its comments; see the tests of package topology, which hold
// the network to it.
var tripLine = regexp.MustCompile(`(?m)^#   ((?:at \S+ )?\S+ > \S+) +([0-9.]+(?: - [0-9.]+)? ms) +(\d+ hops?)$`)

// The page of topologies lists them as they are, with figures that stand in their files, and a source for each.
func TestTopologiesPage(t *testing.T) {
	page := readDoc(t, "lab-topologies.md")
	rows := docTable(t, page, "| topology | title | round trips and hops |")
	var want, got, names, sourced [][]string
	for _, e := range topology.List() {
		want = append(want, []string{code(e.Name), e.Title})
		names = append(names, []string{code(e.Name)})
	}
	for _, row := range rows {
		got = append(got, row[:2])
		checkTrips(t, strings.Trim(row[0], "`"), row[2])
	}
	for _, row := range docTable(t, page, "| topology | where the figures come from |") {
		sourced = append(sourced, row[:1])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/lab-topologies.md (-package +page):\n%s", diff)
	}
	if diff := cmp.Diff(names, sourced); diff != "" {
		t.Errorf("docs/lab-topologies.md: sources (-package +page):\n%s", diff)
	}
}

// checkTrips looks for figures such as "a > b 20.0 ms, 1 hop; a > c 30.0 ms, 2 hops" in a topology's file.
func checkTrips(t *testing.T, name, figures string) {
	t.Helper()
	text, err := topology.Read(name)
	if err != nil {
		t.Error(err)
		return
	}
	there := map[string]bool{}
	for _, m := range tripLine.FindAllStringSubmatch(string(text), -1) {
		there[m[1]+" "+m[2]+", "+m[3]] = true
	}
	for _, figure := range strings.Split(figures, "; ") {
		if !there[figure] {
			t.Errorf("docs/lab-topologies.md: %s: %q is not in its file", name, figure)
		}
	}
}

// The link file that the gateway's page shows can be read.
func TestGatewayPage(t *testing.T) {
	files := readPage(readDoc(t, "lab-gateway.md")).files
	config, err := gateway.ParseConfig("satellite.yaml", []byte(files["satellite.yaml"]))
	if err != nil || config.Forward.String() == "" {
		t.Errorf("docs/lab-gateway.md: satellite.yaml: %v, %v", config, err)
	}
}
