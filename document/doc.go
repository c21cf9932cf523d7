// Package document reads YAML and JSON that came from outside: files that people edit, messages, bodies of requests. It
// bounds what a text may cost before it is parsed, since a small text can ask for much: the YAML library takes time and
// memory by the square of the depth, and an alias stands for as much as its anchor.
//
// It knows no key of any document. Every other package reads YAML and JSON through it, but for what this program wrote
// in the same call.
package document

import "fmt"

const (
	// MaxDepth is how many lists and mappings may lie in each other: no document of ours has more than 12.
	MaxDepth = 64
	// maxNodes bounds the lists, mappings and values of a YAML document, with what its aliases stand for. The parser takes
	// about a kilobyte for each; a mesh file of 2 MiB with 16,000 hosts has 300,000.
	maxNodes = 1 << 19
)

func tooLarge(most int) *Error {
	return &Error{Problem: fmt.Sprintf("too large: want at most %d bytes", most)}
}

func tooDeep() *Error {
	return &Error{Problem: fmt.Sprintf("nested too deep: want at most %d lists and mappings in each other", MaxDepth)}
}

func tooMany() *Error {
	return &Error{Problem: fmt.Sprintf("too many values: want at most %d, with those that aliases stand for", maxNodes)}
}
