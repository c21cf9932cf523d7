// Package notation reads what a lab file says: values with units, values that are a scalar in the plain case and a
// mapping in the full one, and faults that name file, line, column, key, value and what would be right. It knows no key
// of the file; those belong to the packages that act on them.
package notation

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
)

// Error says what is wrong with a lab file: where, which value, and what would be right.
type Error struct {
	File         string // empty when the text did not come from a file
	Line, Column int    // 0 when the fault has no one place
	Path         string // what of the document it is about, such as links[0]; see Locate
	Problem      string
}

func (e *Error) Error() string {
	switch {
	case e.File != "" && e.Line > 0:
		return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Problem)
	case e.Line > 0:
		return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Problem)
	case e.File != "":
		return e.File + ": " + e.Problem
	}
	return e.Problem
}

// BadInput marks the error as the caller's to mend.
func (e *Error) BadInput() bool { return true }

// Errorf returns an *Error without a place.
func Errorf(format string, args ...any) error { return &Error{Problem: fmt.Sprintf(format, args...)} }

// About returns an *Error about a part of the document, such as links[0], that Locate can find.
func About(path, format string, args ...any) error {
	return &Error{Path: path, Problem: fmt.Sprintf(format, args...)}
}

// Locate gives an error that knows what it is about, but not where that stands, line and column in the text: those of
// the part itself, or of the nearest around it that is there.
func Locate(text []byte, err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Line > 0 {
		return err
	}
	placed := *e
	placed.Line, placed.Column = 1, 1
	file, parseErr := document.YAML(text, MaxBytes)
	if parseErr != nil {
		return &placed
	}
	for path := e.Path; path != ""; path = path[:max(0, strings.LastIndexAny(path, ".["))] {
		p, err := yaml.PathString("$." + path)
		if err != nil {
			continue
		}
		node, err := p.FilterFile(file)
		if err != nil || node == nil || node.GetToken() == nil || node.GetToken().Position == nil {
			continue
		}
		placed.Line, placed.Column = node.GetToken().Position.Line, node.GetToken().Position.Column
		break
	}
	return &placed
}

// At gives an error the place of a node, and the key that the node stands under; one that has a place keeps it.
func At(node ast.Node, err error) error {
	var placed *Error
	if errors.As(err, &placed) && placed.Line > 0 {
		return placed
	}
	e := &Error{Problem: err.Error()}
	if key := keyOf(node); key != "" && !strings.HasPrefix(e.Problem, key+":") {
		e.Problem = key + ": " + e.Problem
	}
	if t := node.GetToken(); t != nil && t.Position != nil {
		e.Line, e.Column = t.Position.Line, t.Position.Column
	}
	return e
}

// AtKey gives an error about a mapping the place of the value under the key that the error begins with.
func AtKey(node ast.Node, err error) error {
	if err == nil {
		return nil
	}
	if keyed, ok := node.(ast.MapNode); ok {
		for entries := keyed.MapRange(); entries.Next(); {
			if strings.HasPrefix(err.Error(), entries.Key().String()+": ") {
				return At(entries.Value(), err)
			}
		}
	}
	return At(node, err)
}

// keyOf returns the last key on the way to a node, without the indices of lists.
func keyOf(node ast.Node) string {
	path := strings.TrimRight(node.GetPath(), "0123456789[]")
	return strings.Trim(path[strings.LastIndex(path, ".")+1:], "'$")
}

// Scalar returns the text of a node that is one value; ok is false for mappings and lists.
func Scalar(node ast.Node) (text string, ok bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case ast.ScalarNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// MaxBytes bounds a lab, case or link file: 60 hosts take 10 kB, and a trace of rates may stand in a file of its own.
const MaxBytes = 1 << 20

// Decode reads a node into a value, strictly: a key that the value does not know is an error. A type whose
// UnmarshalYAML calls it for the full form must pass a type without that method, or it calls itself for ever.
func Decode(node ast.Node, into any) error { return located(document.Decode(node, into)) }

// Unmarshal reads a document of at most MaxBytes strictly. Errors are *Error, with line and column where there is a place.
func Unmarshal(text []byte, into any) error {
	return located(document.StrictYAML(text, MaxBytes, into))
}

// located keeps one line of the decoder's complaint, and its place.
func located(err error) error {
	var own *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return own
	}
	placed := document.Placed(err)
	return &Error{Line: placed.Line, Column: placed.Column, Problem: placed.Problem}
}
