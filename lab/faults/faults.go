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

	"github.com/pathwise-net/pathwise/lab/scenario"
)

//go:embed *.yaml
var files embed.FS

var library = scenario.NewLibrary(files, "fault")

// List returns all cases in the order of their names.
func List() []scenario.Entry { return library.List() }

// Read returns the text of a case. The error is a *scenario.UnknownError.
func Read(name string) ([]byte, error) { return library.Read(name) }
