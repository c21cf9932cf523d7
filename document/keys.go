package document

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// unknownKey returns an *Error at the first key of a document, in its order, that has no place in the value: nil if there
// is none. What a type with UnmarshalYAML reads itself is not looked at.
func unknownKey(node ast.Node, into any) *Error {
	return unknownIn(node, reflect.TypeOf(into))
}

func unknownIn(node ast.Node, t reflect.Type) *Error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if readsItself(t) {
		return nil
	}
	switch n := node.(type) {
	case *ast.AnchorNode:
		return unknownIn(n.Value, t)
	case *ast.SequenceNode:
		if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
			return nil
		}
		for _, v := range n.Values {
			if bad := unknownIn(v, t.Elem()); bad != nil {
				return bad
			}
		}
	case *ast.MappingNode:
		return unknownOf(n, t)
	}
	return nil
}

// unknownOf looks at the keys of a mapping, and below each.
func unknownOf(n *ast.MappingNode, t reflect.Type) *Error {
	known, complete := map[string]reflect.Type{}, true
	if t.Kind() == reflect.Struct {
		complete = keysOf(t, known)
	} else if t.Kind() != reflect.Map {
		return nil
	}
	for _, v := range n.Values {
		if v.Key.Type() == ast.MergeKeyType {
			continue
		}
		key := v.Key.GetToken().Value
		below, has := known[key]
		switch {
		case t.Kind() == reflect.Map:
			below = t.Elem()
		case !has && !complete:
			continue
		case !has:
			return at(v.Key.GetToken(), fmt.Sprintf("unknown field %q%s", key, Meant(key, slices.Sorted(maps.Keys(known)))))
		}
		if bad := unknownIn(v.Value, below); bad != nil {
			return bad
		}
	}
	return nil
}

// keysOf adds the keys that a struct knows, and their types. It says false if they are not all: a part reads itself.
func keysOf(t reflect.Type, known map[string]reflect.Type) (complete bool) {
	complete = true
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		inner := f.Type
		for inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case options != "inline":
			if name == "" {
				name = strings.ToLower(f.Name)
			}
			known[name] = f.Type
		case inner.Kind() != reflect.Struct || readsItself(inner):
			complete = false
		default:
			complete = keysOf(inner, known) && complete
		}
	}
	return complete
}

// readsItself says whether the decoder leaves a type to a method of its own.
func readsItself(t reflect.Type) bool {
	switch reflect.New(t).Interface().(type) {
	case yaml.NodeUnmarshaler, yaml.BytesUnmarshaler, yaml.InterfaceUnmarshaler:
		return true
	}
	return false
}

// Meant is the hint that ends an error about a name that is not there: "; did you mean reach?", or "" if no name is near.
func Meant(written string, names []string) string {
	if name := Nearest(written, names); name != "" {
		return "; did you mean " + name + "?"
	}
	return ""
}

// Nearest returns the name that was probably meant, or "" if none is near: a third of its letters, and one at least, may be wrong,
// missing or too many, or all be there in another order. With half of them, short words that have nothing in common would be near.
func Nearest(written string, names []string) string {
	written = strings.ToLower(written)
	best, least := "", len(written)+1
	for _, name := range names {
		lower := strings.ToLower(name)
		d := levenshtein.ComputeDistance(written, lower)
		if sameLetters(written, lower) && d > 0 {
			d = 1 // one slip, however many letters it moved
		}
		near := d <= max(1, (len(name)+1)/3)
		if near && d < least && d < len(name) {
			best, least = name, d
		}
	}
	return best
}

func sameLetters(a, b string) bool {
	return slices.Equal(slices.Sorted(slices.Values([]rune(a))), slices.Sorted(slices.Values([]rune(b))))
}
