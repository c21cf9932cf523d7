// Package knowledge is the knowledge base: what each finding, metric and formula means, and the words of the field, for people.
//
// Entries of findings, formulas and terms are text in this folder, a file for each kind; those of metrics are made of the table
// in package measure. Package diagnose decides whether a finding holds; here stands what
// it is, how it shows itself and what cures it, wherever it holds. An entry names others that help to understand it.
package knowledge

import (
	"embed"
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
	Fault   Kind = "fault"   // that the lab can play; package web adds them, since this one knows nothing of the lab
)

// Entry is one page of the knowledge base.
type Entry struct {
	ID     string   `json:"id" yaml:"id"`
	Kind   Kind     `json:"kind" yaml:"-"`
	Title  string   `json:"title" yaml:"title"`
	Text   string   `json:"text" yaml:"text" doc:"What it is"`
	Shows  string   `json:"shows" yaml:"shows" doc:"How it shows itself, or what to read from it"`
	Cure   string   `json:"cure" yaml:"cure"`
	See    []string `json:"see" yaml:"see" doc:"IDs of other entries"`
	Source string   `json:"source" yaml:"source"`
}

//go:embed *.yaml
var files embed.FS

// read is done once: the files are in this binary.
var read = sync.OnceValue(func() []Entry {
	var all []Entry
	for _, f := range []struct {
		file string
		kind Kind
	}{{"findings.yaml", Finding}, {"formulas.yaml", Formula}, {"terms.yaml", Term}} {
		text, err := files.ReadFile(f.file)
		if err != nil {
			panic(err) // it is in this binary
		}
		var entries []Entry
		if err := yaml.UnmarshalWithOptions(text, &entries, yaml.Strict()); err != nil {
			panic(err) // likewise; the tests read it
		}
		for _, e := range entries {
			e.Kind = f.kind
			all = append(all, named(e))
		}
	}
	for _, d := range measure.Definitions() {
		all = append(all, Entry{ID: string(d.Metric), Kind: Metric, Title: d.Label, Text: d.Text, Shows: d.Shows, See: d.See, Source: d.Source})
	}
	return all
})

// named gives the entry of a formula the title and the source that the formula has.
func named(e Entry) Entry {
	if e.Kind != Formula {
		return e
	}
	if f, err := calc.Find(e.ID); err == nil {
		e.Title, e.Source = f.Title, f.Source
	}
	return e
}

// Entries returns all entries but faults: findings, formulas, metrics, terms.
func Entries() []Entry { return append([]Entry{}, read()...) }

// fold makes names alike that people would take for the same: Receive Window is receive-window.
func fold(name string) string {
	return strings.NewReplacer(" ", "-", "_", "-").Replace(strings.ToLower(strings.TrimSpace(name)))
}
