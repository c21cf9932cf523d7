package pathwise_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The list at the end of `make test` has what failed first and passed then, and nothing else.
func TestRerunsAreListed(t *testing.T) {
	for reports, want := range map[string]string{
		"":                                    "  none\n",
		"a/b.TestTwice: 2 runs, 2 failures\n": "  none\n",
		"a/b.TestSoft: 2 runs, 1 failures\na/c.TestTwice/x y: 2 runs, 2 failures\n": "  a/b.TestSoft: 2 runs, 1 failures\n",
		"a.TestSoft/part_1: 2 runs, 1 failures\n\nb.TestSoft: 3 runs, 1 failures\n": "  a.TestSoft/part_1: 2 runs, 1 failures\n  b.TestSoft: 3 runs, 1 failures\n",
	} {
		c := exec.Command(".ci/rerun")
		c.Stdin = strings.NewReader(reports)
		if got, err := c.CombinedOutput(); string(got) != want || err != nil {
			t.Errorf("%q: %v\ngot\n%swant\n%s", reports, err, got, want)
		}
	}
}

// While another program holds the lists of packages, they are asked for again; whatever else fails is shown at once.
func TestPackagesWaitForLists(t *testing.T) {
	for said, want := range map[string]string{
		"E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1": "update update install ",
		"E: Unable to fetch some archives":                                       "update ",
	} {
		folder := t.TempDir()
		for name, text := range map[string]string{
			"apt-get": `for word; do case $word in update|install) echo -n "$word " >>log;; esac; done
				[[ " $* " == *" install "* || $(<log) == *update\ update* ]] || { echo "` + said + `" >&2; exit 100; }`,
			"id": "echo 0", "sleep": "", "tee": "", "chmod": "", "rm": "",
		} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/bash\n"+text+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		packages, err := filepath.Abs(".ci/packages")
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command("/bin/bash", packages)
		c.Dir, c.Env = folder, []string{"PATH=" + folder} // no other program is there, so that some are missing
		out, err := c.CombinedOutput()
		log, _ := os.ReadFile(filepath.Join(folder, "log"))
		if string(log) != want || (err == nil) != strings.HasSuffix(want, "install ") || err != nil && !strings.Contains(string(out), said) {
			t.Errorf("%s: %v\n%sit called %q, want %q", said, err, out, log, want)
		}
	}
}

// notLong are switches of tests that make pictures, look at what runs elsewhere, start themselves
// again, or repeat what was drawn before.
var notLong = regexp.MustCompile(`^PATHWISE_(SCREENSHOTS|PAGE.*|TEST_.*|.*_SEED)$`)

// Every switch that makes a test longer is one of `make test-long`.
func TestLongFormsAreRun(t *testing.T) {
	long, err := os.ReadFile(".ci/test-long")
	if err != nil {
		t.Fatal(err)
	}
	asked := regexp.MustCompile(`os\.Getenv\("(PATHWISE_[A-Z_]+)"\)`)
	seen := 0
	err = filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range asked.FindAllStringSubmatch(string(text), -1) {
			if seen++; !notLong.MatchString(found[1]) && !strings.Contains(string(long), found[1]+"=") {
				t.Errorf("%s: %s is not one of .ci/test-long", path, found[1])
			}
		}
		return err
	})
	if err != nil || seen < 5 {
		t.Errorf("%d switches found, %v", seen, err)
	}
}

// docs/README.md leads to every page of docs.
func TestEveryPageIsInTheIndex(t *testing.T) {
	index, err := os.ReadFile("docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		name := filepath.Base(page)
		if name != "README.md" && !strings.Contains(string(index), "]("+name+")") {
			t.Errorf("docs/README.md does not lead to %s", name)
		}
	}
	for _, found := range regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllStringSubmatch(string(index), -1) {
		if _, err := os.Stat(filepath.Join("docs", found[1])); err != nil {
			t.Errorf("docs/README.md leads nowhere: %v", err)
		}
	}
}
