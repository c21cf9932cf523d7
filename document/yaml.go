// Package document reads YAML and JSON that came from outside: files that people edit, messages, bodies of requests. It
// bounds what a text may cost before it is parsed, since a small text can ask for much: the YAML library takes time and
// memory by the square of the depth, and an alias stands for as much as its anchor.
//
// It knows no key of any document. Every other package reads YAML and JSON through it, but for what this program wrote
// in the same call.
package document

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// YAML parses a text of at most so many bytes. What is beyond the bounds of this package, or no YAML, is an *Error.
func YAML(text []byte, most int, options ...parser.Option) (file *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil { // the parser panics on some malformed input; fuzzing found such
			file, err = nil, unreadable(p)
		}
	}()
	if len(text) > most {
		return nil, tooLarge(most)
	}
	if marks(text) > maxNodes {
		return nil, tooMany()
	}
	tokens := lexer.Tokenize(string(text))
	if bad := tooDeepAt(tokens); bad != nil {
		return nil, bad
	}
	if file, err = parser.Parse(tokens, 0, options...); err != nil {
		return nil, Placed(err)
	}
	if bad := expandable(file); bad != nil {
		return nil, bad
	}
	return file, nil
}

// StrictYAML decodes the one document of a text of at most so many bytes, as Decode does. An empty text leaves into as it
// is. Every error is an *Error.
func StrictYAML(text []byte, most int, into any) error {
	file, err := YAML(text, most)
	if err != nil {
		return err
	}
	var body ast.Node
	for _, d := range file.Docs {
		switch {
		case d.Body == nil:
		case body != nil:
			return at(d.Body.GetToken(), "want one document, not several")
		default:
			body = d.Body
		}
	}
	if body == nil {
		return nil
	}
	return Decode(body, into)
}

// Decode decodes a part of what YAML returned. Every error is an *Error; that of a key that the value does not know names the nearest
// that it does know. A type whose UnmarshalYAML calls it for the full form must pass a type without that method.
func Decode(node ast.Node, into any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = unreadable(p)
		}
	}()
	if bad := unknownKey(node, into); bad != nil {
		return bad
	}
	if err = yaml.NodeToValue(node, into, yaml.Strict()); err != nil {
		return Placed(err)
	}
	return nil
}

func unreadable(panicked any) *Error {
	return &Error{Problem: fmt.Sprintf("not a YAML file that can be read: %v", panicked)}
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

// One reads a node that is one value, as parse does. The error has the node's place and the key that it stands under.
func One[T any](node ast.Node, into *T, parse func(string) (T, error)) error {
	text, ok := Scalar(node)
	if !ok && node.Type() == ast.SequenceType {
		return At(node, errors.New("want one value, not a list"))
	} else if !ok {
		return At(node, errors.New("want one value, not a mapping; quote one with a colon"))
	}
	parsed, err := parse(text)
	if err != nil {
		return At(node, err)
	}
	*into = parsed
	return nil
}

// Mapping reads a node that is a mapping such as example, as Decode does, and has what it read checked, as AtKey says.
func Mapping(node ast.Node, example string, into any, check func() error) error {
	if _, ok := node.(ast.MapNode); !ok {
		return At(node, fmt.Errorf("want a mapping such as %s", example))
	}
	if err := Decode(node, into); err != nil {
		return err
	}
	return AtKey(node, check())
}

// marks counts the characters that can make a node. It bounds what the lexer takes: some 300 bytes for each.
func marks(text []byte) (n int) {
	for _, c := range []byte("[]{},:-?&*!#") {
		n += bytes.Count(text, []byte{c})
	}
	return n
}

// tooDeepAt returns an *Error if what the tokens make lies deeper than MaxDepth, nil otherwise. Brackets count, and what
// is indented more than what is around it, which may be on the same line ("- - - a"), and tags and anchors in a row.
func tooDeepAt(tokens token.Tokens) *Error {
	var columns []int // of the block lists and mappings that are open
	brackets, properties := 0, 0
	for i, t := range tokens {
		column := 0
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets = max(0, brackets-1)
		case token.SequenceEntryType, token.MappingKeyType:
			column = t.Position.Column
		case token.MappingValueType:
			column = t.Position.Column
			if i > 0 {
				column = tokens[i-1].Position.Column // a mapping begins with its key
			}
		}
		if column > 0 && brackets == 0 {
			for len(columns) > 0 && columns[len(columns)-1] >= column {
				columns = columns[:len(columns)-1]
			}
			columns = append(columns, column)
		}
		if t.Type == token.AnchorType || t.Type == token.TagType {
			properties++
		} else if i == 0 || tokens[i-1].Type != token.AnchorType {
			properties = 0
		}
		if len(columns)+brackets > MaxDepth || properties > MaxDepth {
			return at(t, tooDeep().Problem)
		}
	}
	return nil
}

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
