package link

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// ParseSetting reads one change of a link, "KEY=VALUE" or "forward.KEY=VALUE" with the keys of Shape and the values of
// a lab file, such as "loss=1%" or "reverse.loss={every: 100}", into the shapes for the two directions. Both are valid.
// Errors are *document.Error without a place.
func ParseSetting(setting string) (forward, reverse Shape, err error) {
	key, value, ok := strings.Cut(setting, "=")
	if !ok {
		return forward, reverse, document.Errorf("%q: want KEY=VALUE, such as loss=1%%", setting)
	}
	way, name, both := "", key, true
	if before, after, dotted := strings.Cut(key, "."); dotted {
		way, name, both = before, after, false
	}
	shape, err := parseField(name, value)
	if err != nil {
		return forward, reverse, err
	}
	switch {
	case both:
		return shape, shape, nil
	case way == "forward":
		return shape, Shape{}, nil
	case way == "reverse":
		return Shape{}, shape, nil
	}
	return forward, reverse, document.Errorf("%q: want forward.%s or reverse.%s", key, name, name)
}

// parseField reads the value of one key.
func parseField(name, value string) (Shape, error) {
	var shape Shape
	known := -1
	for i := range reflect.TypeFor[Shape]().NumField() {
		if key(i) == name {
			known = i
		}
	}
	if known < 0 {
		return shape, document.Errorf("%q: want %s", name, keys())
	}
	if err := notation.Unmarshal([]byte("{"+name+": "+value+"}"), &shape); err != nil {
		problem := document.Placed(err).Problem // what the user wrote has no line and column
		if !strings.HasPrefix(problem, name) {
			problem = name + ": " + problem
		}
		return Shape{}, document.Errorf("%s", problem)
	}
	v := reflect.ValueOf(shape)
	for i := range v.NumField() {
		if v.Field(i).IsNil() == (i == known) { // a comma in the value may begin a second key
			return Shape{}, document.Errorf("%s: %q: want one value", name, value)
		}
	}
	return shape, shape.Validate()
}

// Back returns s with a change taken back: each key that the change from before to after set, replaced or took away, and
// that still is as it left it, is again as before. Keys that were changed since stay; all says that there are none.
func (s Shape) Back(before, after Shape) (back Shape, all bool) {
	all = true
	was, set, now := reflect.ValueOf(before), reflect.ValueOf(after), reflect.ValueOf(&s).Elem()
	for i := range now.NumField() {
		switch old := said(was.Field(i)); said(now.Field(i)) {
		case old:
		case said(set.Field(i)):
			now.Field(i).Set(was.Field(i))
		default:
			all = all && old == said(set.Field(i)) // the change did not touch it
		}
	}
	return s, all
}

// said is a field as text; "" if it is not set.
func said(field reflect.Value) string {
	if field.IsNil() {
		return ""
	}
	return fmt.Sprint(field.Elem().Interface())
}

// Without returns s without a key, so that its default holds; false if there is no such key.
func (s Shape) Without(name string) (Shape, bool) {
	for i := range reflect.TypeFor[Shape]().NumField() {
		if key(i) == name {
			reflect.ValueOf(&s).Elem().Field(i).SetZero()
			return s, true
		}
	}
	return s, false
}

// Settings returns what is set, as ParseSetting takes it: by key, the text of its value.
func (s Shape) Settings() map[string]string {
	all := map[string]string{}
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		if text := said(v.Field(i)); text != "" {
			all[key(i)] = text
		}
	}
	return all
}

// NamesFile reports whether the shape or one of its rules names a file.
func (s Shape) NamesFile() bool {
	if s.Trace != nil && s.Trace.File != "" || s.Jitter != nil && s.Jitter.TableFile != "" {
		return true
	}
	return s.Rules != nil && slices.ContainsFunc(*s.Rules, Rule.NamesFile)
}
