package link

import (
	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
)

// Duplex says whether the two ends of an Ethernet link may send at the same time. It belongs to the link: both
// directions have the same, and share a Medium where it is not full.
//
//	duplex: full          each direction has a wire of its own
//	duplex: half          CSMA/CD on one wire
//	duplex: mismatch      the first node's end is set to full, the second's to half
type Duplex string

// The values of Duplex. Not set is Full.
const (
	Full     Duplex = "full"
	Half     Duplex = "half"
	Mismatch Duplex = "mismatch"
)

// duplex returns the shape's, or the default.
func (s *Shape) duplex() Duplex {
	if s.Duplex == nil {
		return Full
	}
	return *s.Duplex
}

// Validate returns what is wrong, as a *document.Error.
func (d *Duplex) Validate() error {
	switch *d {
	case Full, Half, Mismatch:
		return nil
	}
	return document.Errorf("%q: want full, half or mismatch", string(*d))
}

// UnmarshalYAML reads a name.
func (d *Duplex) UnmarshalYAML(node ast.Node) error { return name(node, d) }

// name reads a value that is one of a few names.
func name[N ~string, V interface {
	*N
	Validate() error
}](node ast.Node, into V) error {
	return document.One(node, (*N)(into), func(text string) (N, error) {
		v := N(text)
		return v, V(&v).Validate()
	})
}

// Bool is true or false in a lab file.
type Bool bool

// UnmarshalYAML reads true or false.
func (s *Bool) UnmarshalYAML(node ast.Node) error {
	switch text, _ := document.Scalar(node); text {
	case "true":
		*s = true
	case "false":
		*s = false
	default:
		return document.At(node, document.Errorf("%q: want true or false", text))
	}
	return nil
}
