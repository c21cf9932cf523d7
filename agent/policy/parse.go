package policy

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
)

// maxBytes bounds a policy file: a thousand assignments take 100 kB.
const maxBytes = 1 << 20

// Error says what is wrong with a policy file, where, and what would be right.
type Error struct {
	File         string
	Line, Column int // 0: of the file as a whole
	Problem      string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Problem
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Problem)
}

// BadInput marks the error as the owner's to mend.
func (e *Error) BadInput() bool { return true }

// Parse reads a policy file, strictly: a key that it does not know is an *Error. File is its name, for errors.
func Parse(file string, text []byte) (*Policy, error) {
	p := &Policy{}
	if err := document.StrictYAML(text, maxBytes, p); err != nil {
		return nil, located(file, err)
	}
	if len(p.Classes) == 0 && len(p.Assign) == 0 && p.Default == "" {
		p.Classes, p.Default = Default().Classes, Default().Default
	}
	if path, err := p.check(); err != nil {
		bad := &Error{File: file, Problem: path + ": " + err.Error()}
		bad.Line, bad.Column = find(text, path)
		return nil, bad
	}
	return p, nil
}

// check says what cannot be, and at which path of the document.
func (p *Policy) check() (path string, err error) {
	named := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(p.Classes)) {
		class, at := p.Classes[name], "classes."+name
		if _, ok := p.Classes[class.Parent]; class.Parent != "" && !ok {
			return at + ".parent", p.noClass(class.Parent)
		}
		if chain := p.Chain(name); p.Classes[chain[len(chain)-1]].Parent != "" {
			return at + ".parent", fmt.Errorf("%q: the parents go round in a circle", class.Parent)
		}
		if class.Opens != nil {
			if err := class.Opens.checkResponders(); err != nil {
				return at + ".opens", err
			}
		}
		if err := class.Programs.check(); err != nil {
			return at + ".programs", err
		}
	}
	for i, a := range p.Assign {
		at := fmt.Sprintf("assign[%d]", i)
		if _, ok := p.Classes[a.Class]; !ok {
			return at + ".class", p.noClass(a.Class)
		}
		who := slices.Clone(a.Hosts)
		for _, n := range a.Networks {
			who = append(who, netip.Prefix(n).String())
		}
		if len(who) == 0 {
			return at, errors.New("want hosts, networks or both")
		}
		for _, name := range who {
			if named[name] {
				return at, fmt.Errorf("%q: assigned twice", name)
			}
			named[name] = true
		}
	}
	if _, ok := p.Classes[p.Default]; !ok {
		return "default", p.noClass(p.Default)
	}
	if p.Limits.Program.Nice > 19 {
		return "limits.programs.nice", fmt.Errorf("%d: want 1 to 19", p.Limits.Program.Nice)
	}
	return "", nil
}

func (p *Policy) noClass(name string) error {
	return fmt.Errorf("%q: want one of the classes: %s", name, strings.Join(slices.Sorted(maps.Keys(p.Classes)), ", "))
}

// find returns the place of a part of the document, or of the nearest around it that is there.
func find(text []byte, path string) (line, column int) {
	file, err := document.YAML(text, maxBytes)
	if err != nil {
		return 1, 1
	}
	for ; path != ""; path = path[:max(0, strings.LastIndexAny(path, ".["))] {
		p, err := yaml.PathString("$." + path)
		if err != nil {
			continue
		}
		if node, err := p.FilterFile(file); err == nil && node != nil && node.GetToken() != nil && node.GetToken().Position != nil {
			return node.GetToken().Position.Line, node.GetToken().Position.Column
		}
	}
	return 1, 1
}

// located says in which file, and where in it, the error is.
func located(file string, err error) error {
	if own := (*Error)(nil); errors.As(err, &own) {
		return &Error{File: file, Line: own.Line, Column: own.Column, Problem: own.Problem}
	}
	bad := document.Placed(err)
	return &Error{File: file, Line: bad.Line, Column: bad.Column, Problem: bad.Problem}
}

// read parses a scalar into v; the error has its place and the key that it stands under.
func read[T any](node ast.Node, v *T, parse func(string) (T, error)) error {
	bad := &Error{}
	if t := node.GetToken(); t != nil && t.Position != nil {
		bad.Line, bad.Column = t.Position.Line, t.Position.Column
	}
	path := strings.TrimRight(node.GetPath(), "0123456789[]")
	key := strings.Trim(path[strings.LastIndex(path, ".")+1:], "'$")
	text, ok := scalar(node)
	if !ok {
		bad.Problem = key + ": want one value, not a list or a mapping; quote one with a colon"
		return bad
	}
	parsed, err := parse(text)
	if err != nil {
		bad.Problem = key + ": " + err.Error()
		return bad
	}
	*v = parsed
	return nil
}

func scalar(node ast.Node) (text string, ok bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case ast.ScalarNode:
		return n.GetToken().Value, true
	}
	return "", false
}
