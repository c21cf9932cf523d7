// Package topology holds lab files to start from: whole networks, each a YAML with comments that say where its figures
// come from. Copy one, change it, and `pathwise lab up` it. The files are embedded; the package parses none of them.
//
// The first line of each file is its title. A table in the comments lists round trips and hops between pairs of
// nodes; the tests of this package hold the network to that table, in virtual time.
package topology

import (
	"embed"
	"fmt"
	"path"
	"strings"

	"github.com/pathwise-net/pathwise/document"
)

//go:embed labs/*.yaml
var files embed.FS

const folder, suffix = "labs", ".yaml"

// Entry is one lab file.
type Entry struct {
	Name  string // such as "dumbbell": what Read takes
	Title string // one line for a list
}

// List returns all lab files, by name.
func List() []Entry {
	found, err := files.ReadDir(folder)
	if err != nil {
		panic(err) // what is embedded can be read
	}
	entries := make([]Entry, 0, len(found))
	for _, f := range found {
		name := strings.TrimSuffix(f.Name(), suffix)
		text, err := Read(name)
		if err != nil {
			panic(err)
		}
		first, _, _ := strings.Cut(string(text), "\n")
		entries = append(entries, Entry{Name: name, Title: strings.TrimPrefix(first, "# ")})
	}
	return entries
}

// Read returns the text of a lab file. That there is none of that name is the caller's fault, a *document.Error.
func Read(name string) ([]byte, error) {
	if text, err := files.ReadFile(path.Join(folder, name+suffix)); err == nil {
		return text, nil
	}
	return nil, document.Errorf("lab file: %q: want one of %s", name, strings.Join(names(), ", "))
}

func names() []string {
	found, err := files.ReadDir(folder)
	if err != nil {
		panic(fmt.Sprintf("read embedded lab files: %v", err))
	}
	all := make([]string, len(found))
	for i, f := range found {
		all[i] = strings.TrimSuffix(f.Name(), suffix)
	}
	return all
}
