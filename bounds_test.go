package pathwise_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	mostFileLines     = 300 // beyond that a file has more than one idea
	mostFunctionLines = 70  // what a screen shows
)

// beyond says which bounds a source file exceeds.
func beyond(name, text string) (all []string, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if n := strings.Count(text, "\n"); n > mostFileLines {
		all = append(all, fmt.Sprintf("%s: %d lines, want %d at most", name, n, mostFileLines))
	}
	line := func(p token.Pos) int { return files.Position(p).Line }
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			if n := line(f.End()) - line(f.Pos()) + 1; n > mostFunctionLines {
				all = append(all, fmt.Sprintf("%s: %s has %d lines, want %d at most", name, f.Name.Name, n, mostFunctionLines))
			}
		}
	}
	return all, nil
}

// Files and functions of the program keep to the bounds. Those of tests, which list cases, are not held to them.
func TestBounds(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		seen++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found, err := beyond(path, string(text))
		for _, f := range found {
			t.Error(f)
		}
		return err
	})
	if err != nil || seen < 300 {
		t.Errorf("%d files were seen: %v", seen, err)
	}
}

func TestBeyond(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("\n", n) }
	for text, want := range map[string][]string{
		"package p\n" + lines(299):                                        nil,
		"package p\n" + lines(300):                                        {"f.go: 301 lines, want 300 at most"},
		"package p\nfunc (t T) F() {" + lines(69) + "}\n":                 nil,
		"package p\n// F is.\nfunc F() {" + lines(69) + "}\n":             nil, // its comment is not counted
		"package p\nfunc (t T) F() {" + lines(70) + "}\n":                 {"f.go: F has 71 lines, want 70 at most"},
		"package p\nfunc T() []int { return []int{" + lines(80) + "} }\n": {"f.go: T has 81 lines, want 70 at most"},
		"package p\nvar f = func() {" + lines(80) + "}\n":                 nil,
		"package p\nfunc F() {" + lines(300) + "}\nfunc G(){}\n":          {"f.go: 303 lines, want 300 at most", "f.go: F has 301 lines, want 70 at most"},
	} {
		if got, err := beyond("f.go", text); err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("%v (-want +got):\n%s", err, cmp.Diff(want, got))
		}
	}
}
