package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
)

// node is a part of a file, with the place and the name by which errors speak of it.
type node struct {
	r    *reader
	file string
	path string // such as hosts.ucl.reach
	form string // path with * for each name: hosts.*.reach
	ast  ast.Node
}

// entry is one key of a mapping and what stands under it.
type entry struct {
	key   string
	at    node // the key itself
	value node
}

// place is a position in a file.
type place struct {
	file         string
	line, column int
}

func (p place) String() string { return fmt.Sprintf("%s:%d:%d", p.file, p.line, p.column) }

// place is where the node begins: of a block mapping its first key, for its own token is the colon after that.
func (n node) place() place {
	token := n.ast.GetToken()
	if m, ok := n.ast.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		token = m.Values[0].Key.GetToken()
	}
	if token == nil || token.Position == nil {
		return place{n.file, 0, 0}
	}
	return place{n.file, token.Position.Line, token.Position.Column}
}

// fail records what would be right in place of a value.
func (n node) fail(value, want string, args ...any) {
	at := n.place()
	if value == reference {
		want += "; anchors, aliases and tags are not read"
	}
	n.r.errs = append(n.r.errs, &Error{at.file, at.line, at.column, n.path, value, fmt.Sprintf(want, args...)})
}

// isNull says that nothing stands there.
func (n node) isNull() bool { return n.ast.Type() == ast.NullType }

// isMapping says that keys with values stand there.
func (n node) isMapping() bool { return n.ast.Type() == ast.MappingType }

// isScalar says that one value stands there.
func (n node) isScalar() bool {
	switch n.ast.(type) {
	case *ast.LiteralNode:
		return true
	case *ast.NullNode, *ast.AliasNode, *ast.AnchorNode, *ast.TagNode:
		return false
	case ast.ScalarNode:
		return true
	}
	return false
}

// text is a scalar as written: 1.50 stays 1.50.
func (n node) text() string { return scalarText(n.ast) }

func scalarText(n ast.Node) string {
	switch s := n.(type) {
	case *ast.StringNode:
		return s.Value
	case *ast.LiteralNode:
		return s.Value.Value
	}
	return n.GetToken().Value
}

// reference is the kind of what stands for something else. A file that is read strictly does without.
const reference = "a reference or tag"

// kind is what errors call the node.
func (n node) kind() string {
	switch n.ast.(type) {
	case *ast.MappingNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	case *ast.AliasNode, *ast.AnchorNode, *ast.TagNode:
		return reference
	}
	return n.text()
}

// scalar returns the text of one value, or records that it is something else.
func (n node) scalar(want string) (string, bool) {
	if n.isScalar() {
		return n.text(), true
	}
	n.fail(n.kind(), "%s", want)
	return "", false
}

// entries returns the keys of a mapping in the file's order. A key that stands twice is an error.
func (n node) entries(example string) []entry {
	m, ok := n.ast.(*ast.MappingNode)
	if !ok {
		if !n.isNull() {
			n.fail(n.kind(), "a mapping such as %s", example)
		}
		return nil
	}
	var all []entry
	seen := map[string]node{}
	for _, v := range m.Values {
		key := scalarText(v.Key)
		at := node{n.r, n.file, join(n.path, key), join(n.form, "*"), v.Key}
		if first, twice := seen[key]; twice {
			at.fail(key, "each key once; it stands at %s as well", first.place())
			continue
		}
		seen[key] = at
		all = append(all, entry{key, at, node{n.r, n.file, at.path, at.form, v.Value}})
	}
	return all
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// items returns the elements of a list. One that is not in a list stands for a list of one.
func (n node) items() []node {
	s, ok := n.ast.(*ast.SequenceNode)
	if !ok {
		if n.isNull() {
			return nil
		}
		return []node{n}
	}
	all := make([]node, len(s.Values))
	for i, v := range s.Values {
		if text, ok := joined(v); ok {
			key := v.(*ast.MappingNode).Values[0].Key.GetToken()
			v = &ast.StringNode{BaseNode: &ast.BaseNode{}, Token: key, Value: text}
		}
		all[i] = node{n.r, n.file, n.path + "[" + strconv.Itoa(i) + "]", n.form, v}
	}
	return all
}

// joined mends what the YAML parser makes of a colon with nothing after it, as in {mesh: [site:London]} or
// {address: [fd00::1]}: a mapping, where YAML 1.2 (7.3.3) has one text. It does so in a list within braces only.
func joined(n ast.Node) (text string, ok bool) {
	m, ok := n.(*ast.MappingNode)
	if !ok || m.IsFlowStyle || len(m.Values) != 1 {
		return "", false
	}
	key, value := m.Values[0].Key.GetToken(), m.Values[0].Value.GetToken()
	colon := m.Start.Position
	if value.Position == nil || value.Position.Line != colon.Line || value.Position.Column != colon.Column+1 ||
		strings.HasSuffix(key.Origin, " ") {
		return "", false
	}
	switch m.Values[0].Value.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return scalarText(m.Values[0].Key) + ":" + value.Value, true
	}
	return "", false
}

// fields is what each key of a mapping does with its value.
type fields map[string]func(node)

// fields reads a mapping strictly: a key that is not in f is an error. It returns which keys were there.
func (n node) fields(example string, f fields) (given map[string]node) {
	given = map[string]node{}
	for _, e := range n.entries(example) {
		read, known := f[e.key]
		if !known {
			names := slices.Sorted(maps.Keys(f))
			e.at.fail(e.key, "one of %s%s", strings.Join(names, ", "), document.Meant(e.key, names))
			continue
		}
		e.value.form = join(n.form, e.key)
		given[e.key] = e.value
		if leads[e.value.form] == outward {
			e.value.noteOutward()
		}
		read(e.value)
	}
	return given
}
