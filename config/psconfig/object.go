package psconfig

import (
	"fmt"
	"maps"
	"slices"
)

// object is one JSON object, which knows what nobody took out of it.
type object struct {
	i      *importer
	path   string
	fields map[string]any
	taken  map[string]bool
}

// object makes one of a value; of one that is none it notes so, and returns an empty one.
func (i *importer) object(path string, v any) *object {
	fields, ok := v.(map[string]any)
	if !ok && v != nil {
		i.note(path, "is no JSON object: %s", notCarried)
	}
	return &object{i, path, fields, map[string]bool{}}
}

// at is where the value of a key stands.
func (o *object) at(key string) string {
	if o.path == "" {
		return key
	}
	return o.path + "." + key
}

func (o *object) take(key string) any {
	o.taken[key] = true
	return o.fields[key]
}

// child is the object under a key.
func (o *object) child(key string) *object { return o.i.object(o.at(key), o.take(key)) }

// keys are all keys, sorted, but those that speak to other programs.
func (o *object) keys() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(o.fields)), func(k string) bool { return k == "_meta" })
}

// typed returns the value of a key if it is of type T. If it is of another type, that is noted, and the zero value returned.
func typed[T any](o *object, key string) (v T) {
	raw, has := o.take(key), o.fields[key] != nil
	v, ok := raw.(T)
	if has && !ok {
		o.i.note(o.at(key), "is not of the type that it should be: %s", notCarried)
	}
	return v
}

func (o *object) text(key string) string { return typed[string](o, key) }
func (o *object) yes(key string) bool    { return typed[bool](o, key) }
func (o *object) list(key string) []any  { return typed[[]any](o, key) }

// texts takes a list of texts, and notes what in it is none.
func (o *object) texts(key string) (all []string) {
	for n, v := range o.list(key) {
		if text, ok := v.(string); ok {
			all = append(all, text)
		} else {
			o.i.note(fmt.Sprintf("%s[%d]", o.at(key), n), "is no text: %s", notCarried)
		}
	}
	return all
}

// close notes what nobody took.
func (o *object) close() {
	for _, key := range slices.Sorted(maps.Keys(o.fields)) {
		switch {
		case o.taken[key]:
		case key == "_meta":
			o.i.metas++
		default:
			o.i.note(o.at(key), notCarried)
		}
	}
}
