package document

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Error says what is wrong with a document: where, which value, and what would be right, in one line.
type Error struct {
	File         string // empty when the text did not come from a file
	Line, Column int    // from 1; 0: the fault has no one place
	Path         string // what of the document it is about, such as links[0]; see Locate
	Problem      string
}

func (e *Error) Error() string {
	where := e.File
	if e.Line > 0 {
		where = strings.TrimPrefix(fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column), ":")
	}
	if where == "" {
		return e.Problem
	}
	return where + ": " + e.Problem
}

// BadInput marks the error as the caller's to mend.
func (e *Error) BadInput() bool { return true }

// Errorf returns an *Error without a place.
func Errorf(format string, args ...any) error { return &Error{Problem: fmt.Sprintf(format, args...)} }

// About returns an *Error about a part of the document, such as links[0], that Locate can find.
func About(path, format string, args ...any) error {
	return &Error{Path: path, Problem: fmt.Sprintf(format, args...)}
}

// Locate gives an error that knows what it is about, but not where that stands, line and column in a text of at most so many bytes: those
// of the part itself, or of the nearest around it that is there.
func Locate(text []byte, most int, err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Line > 0 {
		return err
	}
	placed := *e
	placed.Line, placed.Column = 1, 1
	file, parseErr := YAML(text, most)
	if parseErr != nil {
		return &placed
	}
	for path := e.Path; path != ""; path = path[:max(0, strings.LastIndexAny(path, ".["))] {
		p, err := yaml.PathString("$." + path)
		if err != nil {
			continue
		}
		if node, err := p.FilterFile(file); err == nil && node != nil && placed.put(node.GetToken()) {
			break
		}
	}
	return &placed
}

// InFile gives a fault the name of the file that it is in.
func InFile(name string, err error) error {
	placed := *Placed(err)
	placed.File = name
	return &placed
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

// At gives an error the place of a node, and the key that the node stands under; one that has a place keeps it. Of nil it makes nil.
func At(node ast.Node, err error) error {
	if err == nil {
		return nil
	}
	var placed *Error
	if errors.As(err, &placed) && placed.Line > 0 {
		return placed
	}
	e := at(node.GetToken(), err.Error())
	if key := keyOf(node); key != "" && !strings.HasPrefix(e.Problem, key+":") {
		e.Problem = key + ": " + e.Problem
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

func at(t *token.Token, problem string) *Error {
	e := &Error{Problem: problem}
	e.put(t)
	return e
}

// put gives the error the place of a token, and says whether there is one.
func (e *Error) put(t *token.Token) bool {
	if t == nil || t.Position == nil {
		return false
	}
	e.Line, e.Column = t.Position.Line, t.Position.Column
	return true
}
