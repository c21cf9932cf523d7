package scenario

import (
	"embed"
	"fmt"
	"strings"
)

// Library is cases that are built into the program, each in a file that is called as the case.
type Library struct {
	files embed.FS
	kind  string
}

// NewLibrary makes a library of the files NAME.yaml of a folder. Kind is what one of its cases is, for people: "fault".
func NewLibrary(files embed.FS, kind string) *Library { return &Library{files, kind} }

// Entry is what a case of a library says about itself.
type Entry struct {
	Name      string `json:"name"` // that Read takes
	Title     string `json:"title"`
	Finding   string `json:"finding"` // what a diagnosis should call it; "": no finding of its own
	Source    string `json:"source"`  // which reference tells of it, and where
	Cause     string `json:"cause"`
	Condition string `json:"condition"`      // when it binds
	Skip      string `json:"skip,omitempty"` // why it cannot be played; "": it can
}

// List returns all cases in the order of their names. A file that does not parse is a panic: it is in this binary, and tests
// read them all.
func (l *Library) List() []Entry {
	names, err := l.files.ReadDir(".")
	if err != nil {
		panic(err)
	}
	all := []Entry{}
	for _, file := range names {
		c, err := l.Case(strings.TrimSuffix(file.Name(), ".yaml"))
		if err != nil {
			panic(err)
		}
		all = append(all, Entry{Name: c.Name, Title: c.Title, Finding: c.Finding, Source: c.Source, Cause: c.Cause,
			Condition: c.Condition, Skip: c.Skip})
	}
	return all
}

// UnknownError is that a library has no case of a name.
type UnknownError struct {
	Name    string
	library *Library
}

func (e *UnknownError) Error() string {
	var names []string
	for _, one := range e.library.List() {
		names = append(names, one.Name)
	}
	return fmt.Sprintf("%q: no such %s; want one of %s", e.Name, e.library.kind, strings.Join(names, ", "))
}

// BadInput marks the error as the caller's to mend.
func (e *UnknownError) BadInput() bool { return true }

// Read returns the text of a case. The error is an *UnknownError.
func (l *Library) Read(name string) ([]byte, error) {
	text, err := l.files.ReadFile(name + ".yaml")
	if err != nil {
		return nil, &UnknownError{name, l}
	}
	return text, nil
}

// Case returns a case. The error is an *UnknownError, but for a file that does not parse.
func (l *Library) Case(name string) (*Case, error) {
	text, err := l.Read(name)
	if err != nil {
		return nil, err
	}
	return Parse(name+".yaml", text)
}
