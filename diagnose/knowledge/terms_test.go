package knowledge

import (
	"bufio"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The bounds of a term in words: less explains nothing, more is not read.
const (
	fewestWords = 14
	mostWords   = 110
	longestName = 60 // of a title, in letters: it is a line of a list
)

// Every term is as long as one reads, and in a field whose file there is.
func TestTerms(t *testing.T) {
	for _, e := range terms() {
		if words := len(strings.Fields(e.Text + " " + e.Shows + " " + e.Cure)); words < fewestWords || words > mostWords {
			t.Errorf("%s has %d words, want %d to %d", e.ID, words, fewestWords, mostWords)
		}
		if len(e.Title) > longestName || e.Field == "" || e.ID != fold(e.ID) {
			t.Errorf("%s: title %q, field %q", e.ID, e.Title, e.Field)
		}
	}
	var listed, there []string
	for _, f := range fields {
		listed = append(listed, f.file+".yaml")
	}
	files, err := fs.Glob(files, "terms/*")
	for _, f := range files {
		there = append(there, path.Base(f))
	}
	slices.Sort(listed)
	if diff := cmp.Diff(listed, there); diff != "" || err != nil {
		t.Errorf("files of terms (-listed +there): %v\n%s", err, diff)
	}
}

// A name leads to one entry. A metric and a finding may have the title of a term, as Find looks at IDs first.
func TestNamesAreOfOneEntry(t *testing.T) {
	of := map[string]string{}
	for _, e := range Entries() {
		if e.Kind == Metric {
			continue
		}
		for _, name := range names(e) {
			if other := of[name]; other != "" {
				t.Errorf("%q is %s and %s", name, other, e.ID)
			}
			of[name] = e.ID
		}
	}
}

// What the references explain, and what an engineer would look up after reading them, has an entry: the list is of names, a field a line.
func TestGlossary(t *testing.T) {
	list, err := os.Open("testdata/glossary.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	all, looked := Entries(), 0
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		_, line, _ := strings.Cut(lines.Text(), ": ")
		for name := range strings.SplitSeq(line, ", ") {
			looked++
			if _, err := Find(all, name); err != nil {
				t.Errorf("%v", err)
			}
		}
	}
	if err := lines.Err(); err != nil || looked < 400 {
		t.Errorf("%d names were looked up: %v", looked, err)
	}
}
