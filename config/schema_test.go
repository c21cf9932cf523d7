package config

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// schema returns every key that a mesh file can have, as a path in which * is a name: it asks each key whether it has keys
// itself, by one that none has.
func schema(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	var walk func(path []string)
	walk = func(path []string) {
		for _, inside := range []string{"{zz: 1}", "[{zz: 1}]", "{x: {zz: 1}}"} {
			names := path
			if strings.HasPrefix(inside, "{x") {
				names = append(slices.Clone(path), "*")
			}
			text := inside
			for _, key := range slices.Backward(path) {
				if key == "*" {
					key = "x"
				}
				text = "{" + key + ": " + text + "}"
			}
			_, err := Parse([]File{{"", []byte(text)}}, nil)
			for _, key := range keysOf(err, strings.ReplaceAll(strings.Join(append(slices.Clone(names), "zz"), "."), "*", "x")) {
				if form := strings.Join(append(slices.Clone(names), key), "."); !found[form] {
					found[form] = true
					walk(append(slices.Clone(names), key))
				}
			}
		}
	}
	walk(nil)
	return slices.Sorted(maps.Keys(found))
}

var indexes = regexp.MustCompile(`\[\d+\]`)

// keysOf returns the keys that an error lists as those which may stand in place of one.
func keysOf(err error, field string) []string {
	var all Errors
	errors.As(err, &all)
	for _, e := range all {
		keys, listed := strings.CutPrefix(e.Want, "one of ")
		if listed && e.Value == "zz" && indexes.ReplaceAllString(e.Field, "") == field {
			keys, _, _ = strings.Cut(keys, "; ")
			return strings.Split(keys, ", ")
		}
	}
	return nil
}
