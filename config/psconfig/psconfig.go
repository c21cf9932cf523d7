// Package psconfig turns a perfSONAR pSConfig template into a mesh file.
//
// The format is that of perfSONAR 5's psconfig-schema.json, with test specifications as pScheduler has them. Addresses of one host
// become its interfaces, groups and schedules stay what they are, a test becomes a tool, and a task a test.
//
//	template -> object (what nobody took is noted) -> hosts, groups, tests, schedules, tasks -> write -> mesh file
//
// It fetches no template and none of the templates that one includes, runs none of pSConfig's jq scripts, and writes no file. It
// checks no mesh file either: package config does, and what it finds wrong is in the notes.
package psconfig

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/config"
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

// MaxBytes bounds a template: those of the largest communities are a few hundred kB.
const MaxBytes = 2 << 20

// Import turns a template, a JSON text of at most MaxBytes, into a mesh file. Whatever of it is not in the mesh file, or is something
// else there, is in the notes; so is what config.Parse finds wrong with the mesh file, to be mended by hand. The mesh file begins with
// the notes as comments. An error is of a text that is no template at all.
func Import(text []byte) (mesh []byte, notes []Note, err error) {
	var template any
	if err := document.JSON(text, MaxBytes, &template); err != nil {
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
	if i.metas > 0 {
		i.note("_meta", "%d remarks for other programs: %s", i.metas, notCarried)
	}
	body := i.write()
	lines := len(comments(slices.Concat(i.notes, make([]Note, len(faults(body, 0))))))
	for _, e := range faults(body, lines) {
		i.note("mesh file", "to be mended by hand: %v", e)
	}
	return append([]byte(strings.Join(comments(i.notes), "")), body...), i.notes, nil
}

// faults is what is wrong with a mesh file that so many lines of comments go before.
func faults(mesh []byte, before int) (wrong config.Errors) {
	text := append(bytes.Repeat([]byte("#\n"), before), mesh...)
	_, err := config.Parse([]config.File{{Text: text}}, nil)
	errors.As(err, &wrong)
	return wrong
}

// importer holds what a template has said so far, under the names that it uses.
type importer struct {
	notes []Note
	metas int

	out       map[string][]pair // sections of the mesh file
	order     []string          // of hosts, by our name
	byName    map[string]*host
	addresses map[string]address
	classes   map[string]any
	grouped   map[string]group
	tools     map[string]tool
	timed     map[string]schedule
	used      map[string]map[string]string // by section, our name to theirs
}

func newImporter() *importer {
	return &importer{
		out: map[string][]pair{}, byName: map[string]*host{}, addresses: map[string]address{},
		grouped: map[string]group{}, tools: map[string]tool{}, timed: map[string]schedule{},
		used: map[string]map[string]string{},
	}
}

func (i *importer) note(where, text string, args ...any) {
	i.notes = append(i.notes, Note{where, fmt.Sprintf(text, args...)})
}

// name makes a name of a mesh file of one of the template's, another one for each other.
func (i *importer) name(section, theirs string) string {
	ours := strings.Map(func(c rune) rune {
		if c < 0x80 && (config.CheckName(string(c)) == nil || strings.ContainsRune("._-", c)) {
			return c
		}
		return '-'
	}, theirs)
	const room = 56 // of 63 letters, so that a number fits
	ours = strings.Trim(ours[:min(len(ours), room)], "._-")
	if ours == "" || ours == config.EveryHost && section == "hosts" {
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
