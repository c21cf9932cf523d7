package respond

import "github.com/pathwise-net/pathwise/measure"

// commandKind is a program that a mesh file names, such as a tool's own server. It knows of no secret, and whom it answers is its
// own to say; the agent of its host starts it, away from what the agent keeps, and ends it.
func commandKind() Kind {
	return Kind{
		Name: measure.ResponderCommand, Meaning: "tests of a tool, by the program that the mesh file names as its server",
		Probes: []string{"command"}, Program: true,
	}
}
