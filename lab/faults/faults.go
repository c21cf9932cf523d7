// Package faults is the library of what goes wrong on real paths: one case for each finding that a diagnosis should know,
// and one for each further problem that the literature of network performance tells of. Each is a file that package
// scenario plays: a lab with the fault and one without (before, after, or beside it), so that what the case expects could
// fail; the true cause in words; and the condition under which it is the one that binds.
//
// The figures that a case expects are wide where they are times of this machine, and exact where the lab counts. They
// hold for the Linux TCP of the kernel that runs them.
package faults

import (
	"embed"
	"fmt"
	"strings"

	"github.com/pathwise-net/pathwise/lab/scenario"
)

//go:embed *.yaml
var files embed.FS

// Entry is what a case says about itself.
type Entry struct {
	Name      string `json:"name"` // that Read takes
	Title     string `json:"title"`
	Finding   string `json:"finding"` // what a diagnosis should call it; "": no finding of its own
	Source    string `json:"source"`  // which reference tells of it, and where
	Cause     string `json:"cause"`
	Condition string `json:"condition"`      // when it binds
	Skip      string `json:"skip,omitempty"` // why it cannot be played; "": it can
}

// List returns all cases in the order of their names.
func List() []Entry {
	names, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the files are in this binary
	}
	all := []Entry{}
	for _, file := range names {
		c := parse(file.Name())
		all = append(all, Entry{Name: c.Name, Title: c.Title, Finding: c.Finding, Source: c.Source, Cause: c.Cause,
			Condition: c.Condition, Skip: c.Skip})
	}
	return all
}

// parse reads a file that is in this binary, so that only a mistake in it, which the tests find, can fail.
func parse(file string) *scenario.Case {
	text, err := files.ReadFile(file)
	if err != nil {
		panic(err)
	}
	c, err := scenario.Parse(file, text)
	if err != nil {
		panic(err)
	}
	return c
}

// UnknownError is that there is no case of a name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	var names []string
	for _, one := range List() {
		names = append(names, one.Name)
	}
	return fmt.Sprintf("%q: no such fault; want one of %s", e.Name, strings.Join(names, ", "))
}

// BadInput marks the error as the caller's to mend.
func (e *UnknownError) BadInput() bool { return true }

// Read returns the text of a case. The error is an *UnknownError.
func Read(name string) ([]byte, error) {
	text, err := files.ReadFile(name + ".yaml")
	if err != nil {
		return nil, &UnknownError{name}
	}
	return text, nil
}
