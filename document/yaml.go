package document

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

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
// is. What is beyond the bounds or no YAML is an *Error; see Decode for the rest.
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

// Decode decodes a part of what YAML returned. A key that the value does not know is an *Error with the nearest that it
// does know. Other errors are those of the YAML library and of UnmarshalYAML methods: see Placed.
func Decode(node ast.Node, into any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = unreadable(p)
		}
	}()
	if bad := unknownKey(node, into); bad != nil {
		return bad
	}
	return yaml.NodeToValue(node, into, yaml.Strict())
}

func unreadable(panicked any) *Error {
	return &Error{Problem: fmt.Sprintf("not a YAML file that can be read: %v", panicked)}
}

// Placed keeps one line of an error of the YAML library, and its place in the text.
func Placed(err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	var known yaml.Error
	if errors.As(err, &known) {
		return at(known.GetToken(), known.GetMessage())
	}
	return &Error{Problem: strings.SplitN(err.Error(), "\n", 2)[0]}
}

func at(t *token.Token, problem string) *Error {
	e := &Error{Problem: problem}
	if t != nil && t.Position != nil {
		e.Line, e.Column = t.Position.Line, t.Position.Column
	}
	return e
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
