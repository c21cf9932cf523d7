// Package casebook is the stories that the literature of network performance tells, each played again: a case of package
// scenario with the path as the story describes it, what was done about it, and the figures of the story beside those that
// come out here. A case names its source, and its condition says where a path was scaled down and where the kernel of today
// does other than that of the story.
//
// It differs from package faults in its aim: that has one case for each cause, this has one for each story, which may have
// three causes behind each other.
package casebook

import (
	"context"
	"embed"
	"fmt"

	"github.com/pathwise-net/pathwise/lab/scenario"
)

//go:embed *.yaml
var files embed.FS

var library = scenario.NewLibrary(files, "case in the casebook")

// List returns all cases in the order of their names.
func List() []scenario.Entry { return library.List() }

// Read returns the text of a case. The error is a *scenario.UnknownError.
func Read(name string) ([]byte, error) { return library.Read(name) }

// Schema names the JSON layout of a Book.
const Schema = "pathwise.casebook/1"

// Book is what came of playing cases, in their order.
type Book struct {
	Schema string   `json:"schema"`
	Cases  []Played `json:"cases"`
	Passed int      `json:"passed"`
	Failed int      `json:"failed"` // not as expected, or not played to the end
	Left   int      `json:"left"`   // not played: the case, or this machine, does not allow it
}

// Played is what came of one case.
type Played struct {
	Name      string   `json:"name"`
	Title     string   `json:"title"`
	Source    string   `json:"source"`
	Condition string   `json:"condition"`
	Verdict   string   `json:"verdict"` // of package scenario: pass, fail, skip or cut
	Why       string   `json:"why,omitempty"`
	Figures   []Figure `json:"figures"`
	Seconds   float64  `json:"seconds"`
}

// Figure is one that the case was to show.
type Figure struct {
	scenario.Figure
	OK  bool   `json:"ok"`
	Why string `json:"why,omitempty"` // why it is not: what was seen, and what was wanted
}

// Play plays the cases of these names; none: all there are. Told is told of each that ended; nil: nobody. A case whose lab was
// more than this machine could carry at the moment is played once more. A case that fails, or cannot be played, keeps none
// after it from being played. The error is a *scenario.UnknownError, before anything is played, or that ctx ended; there is a
// Book of what was played until then.
func Play(ctx context.Context, names []string, o scenario.Options, told func(*Played)) (*Book, error) {
	book := &Book{Schema: Schema, Cases: []Played{}}
	if len(names) == 0 {
		for _, one := range List() {
			names = append(names, one.Name)
		}
	}
	var cases []*scenario.Case
	for _, name := range names {
		c, err := library.Case(name)
		if err != nil {
			return book, err
		}
		cases = append(cases, c)
	}
	for _, c := range cases {
		r, err := scenario.Run(ctx, c, o)
		if r.Verdict == scenario.Fail && r.Truth != nil && r.Truth.Emulator.Bottleneck {
			r, err = scenario.Run(ctx, c, o)
		}
		if ctx.Err() != nil {
			return book, fmt.Errorf("play casebook: %w", context.Cause(ctx))
		}
		if err != nil {
			r.Verdict, r.Why = scenario.Cut, err.Error()
		}
		played := sum(c, r)
		book.add(played)
		if told != nil {
			told(played)
		}
	}
	return book, nil
}

func (b *Book) add(p *Played) {
	b.Cases = append(b.Cases, *p)
	switch p.Verdict {
	case scenario.Pass:
		b.Passed++
	case scenario.Skip:
		b.Left++
	default:
		b.Failed++
	}
}

// sum puts what a case was to show beside what its report has.
func sum(c *scenario.Case, r *scenario.Report) *Played {
	p := &Played{Name: c.Name, Title: c.Title, Source: c.Source, Condition: c.Condition, Verdict: r.Verdict, Why: r.Why,
		Figures: []Figure{}, Seconds: r.Duration}
	seen := map[int]*scenario.StepReport{}
	for i := range r.Steps {
		seen[r.Steps[i].Number] = &r.Steps[i]
	}
	for i, step := range c.Steps {
		if step.Expect == nil || step.Expect.Figure == "" {
			continue
		}
		f := Figure{Figure: scenario.Figure{Name: step.Expect.Figure, Reference: step.Expect.Reference}, Why: "was not reached"}
		if s := seen[i+1]; s != nil && s.Figure != nil {
			f = Figure{Figure: *s.Figure, OK: s.OK}
			if !s.OK {
				f.Why = s.Seen
			}
		}
		p.Figures = append(p.Figures, f)
	}
	return p
}
