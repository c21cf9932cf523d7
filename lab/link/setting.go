package link

import (
	"reflect"
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
