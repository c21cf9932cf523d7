package knowledge

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/calc"
)

func ofKind(kind Kind) []string {
	var ids []string
	for _, e := range Entries() {
		if e.Kind == kind {
			ids = append(ids, e.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// Each entry is whole, stands once, and leads somewhere: to another of these, or to a fault, which package web checks.
func TestEntries(t *testing.T) {
	ids := map[string]bool{}
	for _, e := range Entries() {
		if ids[fold(e.ID)] {
			t.Errorf("%s stands twice", e.ID)
		}
		ids[fold(e.ID)] = true
	}
	for _, e := range Entries() {
		if e.Title == "" || !strings.HasSuffix(e.Text, ".") || len(e.See) == 0 || e.Kind == Finding && (e.Shows == "" || e.Cure == "") {
			t.Errorf("%s is not whole: %+v", e.ID, e)
		}
		for _, see := range e.See {
			if !ids[fold(see)] && !strings.HasPrefix(see, "fault-") || see == e.ID {
				t.Errorf("%s leads to %s, which is nowhere", e.ID, see)
			}
		}
	}
}

// Every finding that package diagnose can give has an entry, and so has each formula; and there are no others.
func TestEverythingIsExplained(t *testing.T) {
	var formulas []string
	for _, f := range calc.All() {
		formulas = append(formulas, f.Name)
	}
	for kind, want := range map[Kind][]string{Formula: formulas, Finding: findings(t)} {
		slices.Sort(want)
		if want = slices.Compact(want); len(want) < 7 {
			t.Errorf("only %d of kind %s were found in the code", len(want), kind)
		}
		if diff := cmp.Diff(want, ofKind(kind)); diff != "" {
			t.Errorf("entries of kind %s (-code +entries):\n%s", kind, diff)
		}
	}
}

// findings are the IDs that the code of package diagnose gives to a measure.Finding: as a word, or as what a function is called with.
func findings(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	var functions []*ast.FuncDecl
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				functions = append(functions, f)
			}
		}
	}
	var ids []string
	takers := map[string]bool{} // functions that take an ID as their first argument
	word := func(e ast.Expr) bool {
		l, ok := e.(*ast.BasicLit)
		if ok {
			id, _ := strconv.Unquote(l.Value) // the parser has read it
			ids = append(ids, id)
		}
		return ok
	}
	for _, f := range functions {
		ast.Inspect(f, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if of, ok := literal.Type.(*ast.SelectorExpr); !ok || of.Sel.Name != "Finding" {
				return true
			}
			for _, e := range literal.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && kv.Key.(*ast.Ident).Name == "ID" && !word(kv.Value) {
					takers[f.Name.Name] = true
				}
			}
			return true
		})
	}
	for _, f := range functions {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if of, ok := call.Fun.(*ast.SelectorExpr); ok && takers[of.Sel.Name] && (len(call.Args) == 0 || !word(call.Args[0])) {
				t.Errorf("%s calls %s without a word for the ID", f.Name.Name, of.Sel.Name)
			}
			return true
		})
	}
	return ids
}

// What people type leads to the entry, or to those that they may have meant.
func TestFind(t *testing.T) {
	all := Entries()
	for name, want := range map[string]string{"random-loss": "random-loss", "Receive Window": "receive-window", "RTT_min_seconds": "rtt_min_seconds",
		"Loss by congestion": "congestion-loss", " bdp ": "bdp"} {
		if e, err := Find(all, name); err != nil || e.ID != want {
			t.Errorf("%q: %s, %v", name, e.ID, err)
		}
	}
	for name, want := range map[string]string{"random-los": "random-loss", "recieve-window": "receive-window", "bufferbloats": "bufferbloat", "duplex": "duplex-mismatch",
		"black hole": "pmtu-blackhole", "retransmit": "retransmits_packets", "jiter": "jitter"} {
		_, err := Find(all, name)
		var unknown *UnknownError
		if !errors.As(err, &unknown) || !unknown.BadInput() || !slices.Contains(unknown.Near, want) || len(unknown.Near) > fewNear {
			t.Errorf("%q: %v, want %s among what is near", name, err, want)
		}
	}
	if _, err := Find(all, "xyzzy-plugh-quux"); err == nil || !strings.Contains(err.Error(), "want a finding, a metric") {
		t.Errorf("nothing near: %v", err)
	}
}

func TestRelated(t *testing.T) {
	all := []Entry{{ID: "a", See: []string{"b", "nowhere"}}, {ID: "b", See: []string{"a"}}, {ID: "c", See: []string{"a"}}, {ID: "d"}}
	if diff := cmp.Diff([]Entry{all[1], all[2]}, Related(all, all[0])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
