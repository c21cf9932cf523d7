package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/document"
)

// Note says what of a pSConfig template has no counterpart in a mesh file, or has another one, and where it stands.
type Note struct {
	Where string // such as tests.bw.spec.zero-copy
	Text  string
}

func (n Note) String() string { return n.Where + ": " + n.Text }

// notCarried is the note of what is left behind.
const notCarried = "not carried over"

// FromPSConfig turns a perfSONAR pSConfig template into a mesh file. Whatever of it is not in the mesh file, or is
// something else there, is in the notes; so is what Parse finds wrong with the mesh file, to be mended by hand. An
// error is of a text that is no template at all.
//
// The format is that of perfSONAR 5's psconfig-schema.json and of the test specifications of pScheduler. Addresses of
// one host become its interfaces, groups and schedules stay what they are, each task becomes a test.
func FromPSConfig(text []byte) (mesh []byte, notes []Note, err error) {
	var template any
	if err := document.JSON(text, maxBytes, &template); err != nil {
		return nil, nil, fmt.Errorf("read pSConfig template: %w", err)
	}
	top, ok := template.(map[string]any)
	if !ok || top["addresses"] == nil && top["groups"] == nil && top["tasks"] == nil {
		return nil, nil, errors.New("read pSConfig template: want a JSON object of addresses, groups, tests and tasks")
	}
	i := newImporter()
	root := i.object("", top)
	i.hosts(root)
	i.groups(root)
	i.tests(root)
	i.schedules(root)
	i.tasks(root)
	root.close()
	mesh = i.write()
	if i.metas > 0 {
		i.note("_meta", "%d remarks for other programs: %s", i.metas, notCarried)
	}
	var wrong Errors
	if _, err := Parse([]File{{"", mesh}}, nil); errors.As(err, &wrong) {
		for _, e := range wrong {
			i.note("mesh file", "to be mended by hand: %v", e)
		}
	}
	return mesh, i.notes, nil
}

// importer holds what a template has said so far, under the names that it uses.
type importer struct {
	notes []Note
	metas int

	out       map[string][]pair // sections of the mesh file
	order     []string          // of hosts, by our name
	byName    map[string]*psHost
	addresses map[string]psAddress
	classes   map[string]any
	grouped   map[string]psGroup
	tools     map[string]psTool
	timed     map[string]psSchedule
	used      map[string]map[string]string // by section, our name to theirs
}

func newImporter() *importer {
	return &importer{
		out: map[string][]pair{}, byName: map[string]*psHost{}, addresses: map[string]psAddress{},
		grouped: map[string]psGroup{}, tools: map[string]psTool{}, timed: map[string]psSchedule{},
		used: map[string]map[string]string{},
	}
}

func (i *importer) note(where, text string, args ...any) {
	i.notes = append(i.notes, Note{where, fmt.Sprintf(text, args...)})
}

// name makes a name of a mesh file of one of the template's, another one for each other.
func (i *importer) name(section, theirs string) string {
	ours := strings.Map(func(c rune) rune {
		if c < 0x80 && (namePattern.MatchString(string(c)) || strings.ContainsRune("._-", c)) {
			return c
		}
		return '-'
	}, theirs)
	const room = 56 // of 63 letters, so that a number fits
	ours = strings.Trim(ours[:min(len(ours), room)], "._-")
	if ours == "" || ours == everyHost && section == "hosts" {
		ours = "the-" + section
	}
	if i.used[section] == nil {
		i.used[section] = map[string]string{}
	}
	base := ours
	for n := 2; ; n++ {
		if whose, taken := i.used[section][ours]; !taken || whose == theirs {
			break
		}
		ours = fmt.Sprintf("%s-%d", base, n)
	}
	_, known := i.used[section][ours]
	if interfaces := strings.Contains(section, " "); !known && ours != theirs && !interfaces {
		i.note(section+"."+theirs, "is called %s in the mesh file", ours)
	}
	i.used[section][ours] = theirs
	return ours
}

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

func (o *object) at(key string) string { return join(o.path, key) }

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

// texts takes a list of texts.
func (o *object) texts(key string) (all []string) {
	for _, v := range o.list(key) {
		if text, ok := v.(string); ok {
			all = append(all, text)
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
