package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/measure"
)

// maxBytes bounds a mesh file: some 16,000 hosts. The time that the YAML parser takes grows by the square: 5 s here.
const maxBytes = 2 << 20

// File is one mesh file.
type File struct {
	Name string // as errors call it
	Text []byte
}

// A Checker knows the kinds of probe.
type Checker interface {
	// Validate says whether a task's kind exists and its parameters are right. Its error says what would be right: an
	// *Error, or a line such as `count "0": give a whole number from 1`, which is placed at that parameter. It is asked
	// once for each tool, and once more for each host that overrides parameters of it.
	Validate(task measure.Task) error
	// Outward says whether a parameter of a kind runs a program, names a file of a host, or says to which port data goes.
	Outward(kind, parameter string) bool
	// Itself says whether a kind measures the host that it runs on, and has no target.
	Itself(kind string) bool
}

// Load reads a mesh file, or all *.yaml and *.yml files of a folder as one, and checks it. With a nil check the kinds of tasks and
// their parameters are not checked, and every parameter counts as leading out. What is wrong with the files is an Errors; any other
// error is of reading.
func Load(path string, check Checker) (*Mesh, error) {
	names := []string{path}
	if info, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("read mesh file: %w", err)
	} else if info.IsDir() {
		names = nil
		for _, pattern := range []string{"[^.]*.yaml", "[^.]*.yml"} {
			found, _ := filepath.Glob(filepath.Join(glob(path), pattern)) // these patterns are well formed
			names = append(names, found...)
		}
		slices.Sort(names)
	}
	if len(names) == 0 {
		return nil, Errors{{File: path, Want: "a folder with at least one file *.yaml"}}
	}
	var files []File
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read mesh file: %w", err)
		}
		files = append(files, File{name, text})
	}
	return Parse(files, check)
}

// glob escapes what means something to filepath.Glob.
func glob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// Parse is Load of files that are in memory. Hosts come in the order of the files, and in them of the text. A panic of
// whatever reads them, check too, becomes an Errors: a controller that reads a file again must outlive it.
func Parse(files []File, check Checker) (m *Mesh, err error) {
	defer func() {
		if p := recover(); p != nil {
			m, err = nil, Errors{{Want: fmt.Sprintf("files that can be read; these stop the reader: %v", p)}}
		}
	}()
	r := &reader{mesh: newMesh(), check: check}
	sections := map[string][]node{}
	for _, f := range files {
		r.open(f, sections)
	}
	r.read(sections)
	if len(r.errs) == 0 && len(r.mesh.Hosts) == 0 {
		missing := &Error{Field: "hosts", Want: "at least one host, such as `hosts: {a: 192.0.2.1}`"}
		if len(files) == 1 {
			missing.File = files[0].Name
		}
		r.errs = append(r.errs, missing)
	}
	if len(r.errs) > 0 {
		r.errs.sort()
		return nil, r.errs
	}
	return r.mesh, nil
}

// reader gathers what the files say, and what is wrong with them.
type reader struct {
	mesh   *Mesh
	check  Checker
	errs   Errors
	places map[string]place // of each name that is defined, by the path of its definition

	sitesNamed bool              // there is a section sites
	groups     map[string]*draft // by name, until they are resolved
	groupOrder []string
	schedules  map[string]Schedule
	testNodes  map[string]node // by name
}

// open parses a file and files its sections under their names.
func (r *reader) open(f File, sections map[string][]node) {
	if len(f.Text) > maxBytes {
		want := fmt.Sprintf("at most %d bytes, and several files beyond", maxBytes)
		r.errs = append(r.errs, &Error{File: f.Name, Want: want})
		return
	}
	docs, err := parseYAML(f.Text)
	if err != nil {
		err.File = f.Name
		r.errs = append(r.errs, err)
		return
	}
	for i, doc := range docs {
		if doc.Body == nil {
			continue
		}
		n := node{r, f.Name, "", "", doc.Body}
		if i > 0 {
			n.fail("---", "one document in a file; the rest may stand in a file of its own")
			return
		}
		known := fields{}
		for _, name := range sectionNames {
			known[name] = func(n node) { sections[name] = append(sections[name], n) }
		}
		n.fields("{hosts: {a: 192.0.2.1}}", known)
	}
}

// sectionNames are the keys of a file's top level, in the order in which they are read: each needs only those before.
var sectionNames = []string{
	"sites", "tools", "hosts", "schedules", "phases", "groups", "tests", "exclude", "budgets", "controller",
}

// read reads all sections, those of one name in the order of the files.
func (r *reader) read(sections map[string][]node) {
	r.places = map[string]place{}
	r.groups = map[string]*draft{}
	r.schedules, r.testNodes = map[string]Schedule{}, map[string]node{}
	read := map[string]func(node){
		"sites": r.site, "tools": r.tool, "hosts": r.host, "schedules": r.schedule, "phases": r.phase,
		"groups": r.group, "tests": r.test, "exclude": r.exclusion, "budgets": r.budget, "controller": r.controller,
	}
	for _, name := range sectionNames {
		for _, n := range sections[name] {
			read[name](n)
		}
		switch name {
		case "groups":
			r.resolveGroups()
		case "exclude":
			r.checkTests()
		}
	}
}

// define notes where a name is defined. It says false, and records both places, if it is defined elsewhere already.
func (r *reader) define(n node) bool {
	if first, twice := r.places[n.path]; twice {
		n.fail("", "each name once; it is defined at %s as well", first)
		return false
	}
	r.places[n.path] = n.place()
	return true
}

// parseYAML parses a file; keys that stand twice are found later, with both places.
func parseYAML(text []byte) ([]*ast.DocumentNode, *Error) {
	file, err := document.YAML(text, maxBytes, parser.AllowDuplicateMapKey())
	if err != nil {
		bad := document.Placed(err)
		return nil, &Error{Line: bad.Line, Column: bad.Column, Want: "YAML: " + bad.Problem}
	}
	return file.Docs, nil
}
