// Package knowledge is the knowledge base: what each finding, metric and formula means, and the words of the field, for people.
//
// Entries are text in this folder: a file for each finding, one for all formulas and one for each field of terms; those of metrics are
// made of the table in package measure. Package diagnose decides whether a finding holds; here stands what it is, how it shows itself and
// what cures it, wherever it holds, and what a diagnosis says where it does. An entry names others that help to understand it.
package knowledge

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/pathwise-net/pathwise/calc"
	"github.com/pathwise-net/pathwise/measure"
)

// Kind says what an entry is about.
type Kind string

const (
	Finding Kind = "finding" // that package diagnose gives
	Metric  Kind = "metric"  // of package measure
	Formula Kind = "formula" // of package calc
	Term    Kind = "term"    // a word of the field
	Setting Kind = "setting" // or count that package host judges; package web adds them, since this one knows nothing of hosts
	Fault   Kind = "fault"   // that the lab can play; package web adds them, since this one knows nothing of the lab
)

// Entry is one page of the knowledge base.
type Entry struct {
	ID     string   `json:"id" yaml:"id"`
	Kind   Kind     `json:"kind" yaml:"-"`
	Title  string   `json:"title" yaml:"title"`
	Also   []string `json:"also,omitempty" yaml:"also" doc:"Other names, abbreviations among them"`
	Field  string   `json:"field,omitempty" yaml:"-" doc:"Of a term: the heading that it stands under"`
	Text   string   `json:"text" yaml:"text" doc:"What it is"`
	Shows  string   `json:"shows" yaml:"shows" doc:"How it shows itself, or what to read from it"`
	Cure   string   `json:"cure" yaml:"cure"`
	See    []string `json:"see" yaml:"see" doc:"IDs of other entries"`
	Source string   `json:"source" yaml:"source"`

	Picture *Picture `json:"picture,omitempty" yaml:"-"`

	// Of a finding, a row of docs/diagnose.md: when it holds, with its severity where that is not a problem, and what to do, in short.
	When  string `json:"-" yaml:"when"`
	Short string `json:"-" yaml:"short"`

	// Of a finding, what a diagnosis says where it holds: texts and advice by what its rule calls them. Names between braces are
	// facts of package diagnose, words of the rule, or sender, receiver, target, address and host.
	Says   map[string]string `json:"-" yaml:"says"`
	Advice map[string]Advice `json:"-" yaml:"advice"`
}

// Advice is one thing to do.
type Advice struct {
	Host    string `yaml:"host"`    // on which host, or where
	Command string `yaml:"command"` // "": no command does it
	Why     string `yaml:"why"`
	Common  string `yaml:"common"` // Why, of what is at a part that many paths of a mesh have in common; "": the same
}

//go:embed *.yaml findings/*.yaml terms/*.yaml
var files embed.FS

// read is done once: the files are in this binary.
var read = sync.OnceValue(func() []Entry {
	var all []Entry
	for _, path := range paths("findings/*.yaml") {
		var e Entry
		decode(path, &e)
		e.Kind = Finding
		all = append(all, e)
	}
	var formulas []Entry
	decode("formulas.yaml", &formulas)
	for _, e := range formulas {
		all = append(all, named(e))
	}
	all = append(all, terms()...)
	for _, d := range measure.Definitions() {
		all = append(all, Entry{ID: string(d.Metric), Kind: Metric, Title: d.Label, Text: d.Text, Shows: d.Shows, See: d.See, Source: d.Source})
	}
	illustrate(all)
	return all
})

// paths are the files of this binary that match a pattern, in the order of their names.
func paths(pattern string) []string {
	found, err := fs.Glob(files, pattern)
	if err != nil {
		panic(err) // the pattern is a constant
	}
	return found
}

// decode reads a file that is in this binary, so that only a mistake in it, which the tests find, can fail.
func decode(path string, into any) {
	text, err := files.ReadFile(path)
	if err == nil {
		err = yaml.UnmarshalWithOptions(text, into, yaml.Strict())
	}
	if err != nil {
		panic(fmt.Errorf("read %s: %w", path, err))
	}
}

// OfFinding returns the entry of a finding, empty where there is none: the tests of package diagnose see to it that there is.
func OfFinding(id string) Entry {
	all := read()
	if i := slices.IndexFunc(all, func(e Entry) bool { return e.ID == id && e.Kind == Finding }); i >= 0 {
		return all[i]
	}
	return Entry{}
}

// verdicts are the outcomes of a diagnosis that are no finding: nothing holds the path back, that cannot be said, or nothing changed.
var verdicts = map[string]string{
	"healthy": "The path carries what it can",
	"unknown": "It cannot be said whether the path is slow",

	"unchanged": "Nothing changed", // of a history
}

// TitleOf is how a verdict of a diagnosis, or a finding, is called; "": there is no such one.
func TitleOf(verdict string) string {
	return cmp.Or(verdicts[verdict], OfFinding(verdict).Title)
}

// Titles are how all verdicts and findings are called, by ID.
func Titles() map[string]string {
	titles := maps.Clone(verdicts)
	for i := range read() {
		if e := &read()[i]; e.Kind == Finding {
			titles[e.ID] = e.Title
		}
	}
	return titles
}

// named gives the entry of a formula its kind, and the title and the source that the formula has.
func named(e Entry) Entry {
	e.Kind = Formula
	if f, err := calc.Find(e.ID); err == nil {
		e.Title, e.Source = f.Title, f.Source
	}
	return e
}

// Entries returns all entries but faults: findings, formulas, terms, metrics.
func Entries() []Entry { return append([]Entry{}, read()...) }

// fold makes names alike that people would take for the same: Receive Window is receive-window.
func fold(name string) string {
	return strings.NewReplacer(" ", "-", "_", "-").Replace(strings.ToLower(strings.TrimSpace(name)))
}
