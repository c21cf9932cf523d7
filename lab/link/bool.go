package link

import (
	"github.com/goccy/go-yaml/ast"
	"github.com/pathwise-net/pathwise/document"
)

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
