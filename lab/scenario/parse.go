package scenario

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// Parse reads a case. Name is what the file is called in errors, which are *document.Error with line and column and say
// what would be right; unknown keys are errors. Rates that vary must stand in the case itself, not in a file beside it.
func Parse(name string, text []byte) (*Case, error) {
	var c Case
	if err := notation.Unmarshal(text, &c); err != nil {
		return nil, document.InFile(name, err)
	}
	for _, text := range []*string{&c.Title, &c.Source, &c.Cause, &c.Condition, &c.Skip} {
		*text = strings.TrimSpace(*text) // folded text ends in a line end
	}
	if c.Name == "" { // an empty file has nothing to decode, and so nothing that would complain
		return nil, document.InFile(name, c.validate())
	}
	if err := c.validateWhole(); err != nil {
		return nil, document.InFile(name, err)
	}
	return &c, nil
}

// read decodes a mapping into a value of a type without UnmarshalYAML, and gives a fault that validate finds the place of
// the key that it begins with.
func read(node ast.Node, into any, validate func() error) error {
	if _, ok := node.(ast.MapNode); !ok {
		return document.At(node, errors.New("want a mapping, such as {key: value}"))
	}
	if err := document.Decode(node, into); err != nil {
		return err
	}
	err := validate()
	if err == nil {
		return nil
	}
	for entries := node.(ast.MapNode).MapRange(); entries.Next(); {
		if strings.HasPrefix(err.Error(), entries.Key().String()+": ") {
			return document.At(entries.Value(), err)
		}
	}
	at := placeOf(node) // the step as a whole: it has no key of its own
	return &document.Error{Line: at.line, Column: at.column, Problem: err.Error()}
}

// placeOf is where a node begins.
func placeOf(node ast.Node) place {
	token := node.GetToken()
	if keyed, ok := node.(ast.MapNode); ok {
		if entries := keyed.MapRange(); entries.Next() {
			token = entries.Key().GetToken()
		}
	}
	if token == nil || token.Position == nil {
		return place{}
	}
	return place{token.Position.Line, token.Position.Column}
}

// UnmarshalYAML reads a case.
func (c *Case) UnmarshalYAML(node ast.Node) error {
	type plain Case
	return read(node, (*plain)(c), c.validate)
}

// UnmarshalYAML reads a step.
func (s *Step) UnmarshalYAML(node ast.Node) error {
	type plain Step
	s.place = placeOf(node)
	at := s.place
	if err := read(node, (*plain)(s), s.validate); err != nil {
		return err
	}
	s.place = at
	return nil
}

// UnmarshalYAML reads what to set.
func (s *Set) UnmarshalYAML(node ast.Node) error {
	type plain Set
	return read(node, (*plain)(s), s.validate)
}

// UnmarshalYAML reads a program.
func (p *Program) UnmarshalYAML(node ast.Node) error {
	type plain Program
	return read(node, (*plain)(p), p.validate)
}

// UnmarshalYAML reads an expectation.
func (e *Expect) UnmarshalYAML(node ast.Node) error {
	type plain Expect
	return read(node, (*plain)(e), e.validate)
}

// UnmarshalYAML reads a time, or a mapping.
func (w *Wait) UnmarshalYAML(node ast.Node) error {
	if _, one := document.Scalar(node); one {
		if err := w.Time.UnmarshalYAML(node); err != nil {
			return err
		}
		if w.Time > maxWait {
			return document.At(node, fmt.Errorf("%v: want at most %v", w.Time, maxWait))
		}
		return nil
	}
	type plain Wait
	return read(node, (*plain)(w), func() error {
		if w.For == "" {
			return errors.New("for: want the name of a program in the background")
		}
		return nil
	})
}

// UnmarshalYAML reads a list of words.
func (w *Words) UnmarshalYAML(node ast.Node) error {
	list, ok := node.(ast.ArrayNode)
	if !ok {
		return document.At(node, errors.New("want a list of words, such as [ping, b, -c, 10]"))
	}
	for entries := list.ArrayRange(); entries.Next(); {
		word, ok := document.Scalar(entries.Value())
		if !ok {
			return document.At(entries.Value(), errors.New("want a word"))
		}
		*w = append(*w, word)
	}
	return nil
}

// UnmarshalYAML reads a number, or any.
func (s *Status) UnmarshalYAML(node ast.Node) error {
	text, _ := document.Scalar(node)
	if text == "any" {
		*s = AnyStatus
		return nil
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < 0 || v > 255 {
		return document.At(node, fmt.Errorf("%q: want an exit status from 0 to 255, or any", text))
	}
	*s = Status(v)
	return nil
}
