package edit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/secret"
)

// Outcome is what would come of a proposal.
type Outcome struct {
	Version  string    `json:"version" doc:"Of what is on disk, which it was compared with"`
	Errors   []Problem `json:"errors" doc:"Why it cannot be saved; none: it can"`
	Before   *Figures  `json:"before,omitempty" doc:"Of what is on disk; missing: that has errors, or too many pairs"`
	After    *Figures  `json:"after,omitempty" doc:"Of the proposal; missing: it has errors"`
	Changes  []string  `json:"changes" doc:"Which hosts and tests are new, and which gone"`
	Warnings []Warning `json:"warnings"`
	Diff     string    `json:"diff" doc:"Unified; empty: nothing changes"`
}

// Problem is one thing that is wrong, and where.
type Problem struct {
	File   string `json:"file" doc:"Empty: it is of all files together"`
	Line   int    `json:"line" doc:"From 1; 0: it has no one place"`
	Column int    `json:"column" doc:"From 1, in characters"`
	Text   string `json:"text" doc:"What would be right"`
}

// Figures are what the tests of a mesh add up to, as pathwise mesh check and mesh plan tell them.
type Figures struct {
	Hosts       int     `json:"hosts"`
	Tests       int     `json:"tests"`
	Pairs       int     `json:"pairs" doc:"Of all tests together"`
	RunsPerDay  float64 `json:"runs_per_day"`
	BytesPerDay float64 `json:"bytes_per_day" doc:"On the wire"`
	Cycle       float64 `json:"cycle_seconds" doc:"What once round all pairs of the tests that run alone takes"`
	LowerBound  float64 `json:"lower_bound_seconds" doc:"What no plan can be shorter than"`
	Archive     float64 `json:"archive_bytes_per_year" doc:"By what the archive grows, with nothing deleted"`
}

// Warning is what keeps nobody from saving.
type Warning struct {
	Text string `json:"text"`
	New  bool   `json:"new" doc:"What is on disk does not give it"`
}

// judged is a set of files as it was judged.
type judged struct {
	version  string
	rates    *control.Rates // that it was reckoned by
	mesh     *config.Mesh
	figures  *Figures
	warnings []string
	problems []Problem
}

// Check says what is wrong with a proposal, or what would come of it. It writes nothing. What is too much to look at, or has
// a name that cannot be, is bad input. refuseOutward is as in a Change.
func (b *Book) Check(ctx context.Context, files []File, refuseOutward bool) (*Outcome, error) {
	files, err := b.proposed(files)
	if err != nil {
		return nil, err
	}
	done, err := b.wait(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	now, before, err := b.known()
	if err != nil {
		return nil, err
	}
	if version := versionOf(now); before.version != version || before.rates != b.options.Rates() {
		if before, err = b.judge(ctx, now); err != nil {
			return nil, err
		}
		b.remember(before)
	}
	after := before
	if version := versionOf(files); version != before.version {
		if after, err = b.judge(ctx, files); err != nil {
			return nil, err
		}
	}
	o := &Outcome{Version: before.version, Errors: append([]Problem{}, after.problems...), Before: before.figures, After: after.figures,
		Changes: []string{}, Warnings: []Warning{}, Diff: diffOf(now, files)}
	if before.mesh != nil && after.mesh != nil {
		o.Changes = changed(before.mesh, after.mesh)
	}
	if refuseOutward && after.mesh != nil {
		if err := outward(before.mesh, after.mesh); err != nil {
			o.Errors = append(o.Errors, Problem{Text: err.Error()})
		}
	}
	for _, text := range after.warnings {
		o.Warnings = append(o.Warnings, Warning{text, !slices.Contains(before.warnings, text)})
	}
	return o, nil
}

// known is what is on disk, and what was judged last.
func (b *Book) known() ([]File, judged, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	now, err := b.read()
	return now, b.before, err
}

func (b *Book) remember(j judged) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.before = j
}

// judge reads a set of files and says what it adds up to. Its error is that nobody waits for it any more.
func (b *Book) judge(ctx context.Context, files []File) (judged, error) {
	j := judged{version: versionOf(files), rates: b.options.Rates()}
	m, err := config.Parse(parsed(files), b.options.Check)
	if err == nil {
		err = bounded(m, b.options.pairs)
	}
	var p *control.Preview
	if err == nil && ctx.Err() == nil {
		p, err = control.NewPreview(m, 1, j.rates.Among(m)) // any seed tells as much
	}
	if ctx.Err() != nil {
		return j, context.Cause(ctx)
	}
	if err != nil {
		j.problems = problems(err)
		return j, nil
	}
	if j.problems = b.misplaced(m); j.problems != nil {
		return j, nil
	}
	e := m.Estimate(b.options.Demand, j.rates.Among(m))
	cycle, bound := p.Cycle(b.options.Now())
	j.mesh = m
	j.figures = &Figures{Hosts: len(m.Hosts), Tests: len(m.Tests), Pairs: e.Total.Pairs, RunsPerDay: e.Total.RunsPerDay,
		BytesPerDay: e.Total.BytesPerDay, Cycle: cycle.Seconds(), LowerBound: bound.Seconds(), Archive: e.ArchiveBytesPerYear}
	for _, part := range [][]config.Usage{e.Hosts, e.Interfaces, e.Sites} {
		for _, u := range part {
			for _, x := range u.Over {
				j.warnings = append(j.warnings, "over budget: "+u.Name+" "+x.String())
			}
		}
	}
	for _, f := range p.Findings() {
		j.warnings = append(j.warnings, f.String())
	}
	j.warnings = append(j.warnings, atNextStart(&b.options.Started, &m.Controller)...)
	return j, nil
}

// misplaced are the secrets of a mesh that do not lie in the folder for them, by the keys that name them.
func (b *Book) misplaced(m *config.Mesh) (all []Problem) {
	secrets, folder := m.Secrets(), secret.In(b.options.Data)
	for _, key := range slices.Sorted(maps.Keys(secrets)) {
		if err := folder.Check(secrets[key]); err != nil {
			all = append(all, Problem{Text: key + ": " + err.Error()})
		}
	}
	return all
}

// MaxPairs is how many pairs the tests of a mesh may have together: each of 2,000 hosts with each, twice. They take some 10 s
// of a core and 250 MB to judge, beside what the controller itself has in hand.
const MaxPairs = 8 << 20

// bounded says whether a mesh is too much to judge: few lines can ask for very many pairs.
func bounded(m *config.Mesh, most int) error {
	n := 0
	for i := range m.Tests {
		if !m.Active(&m.Tests[i]) {
			continue
		}
		for range m.Pairs(&m.Tests[i]) {
			if n++; n > most {
				return refusal("tests", "", fmt.Sprintf("at most %d pairs in all; a larger mesh can be edited on the controller's machine", most))
			}
		}
	}
	return nil
}

// maxProblems is how many errors anybody reads: one indentation that is wrong can be the cause of thousands.
const maxProblems = 200

// problems are what an error says, in order of place.
func problems(err error) []Problem {
	var all config.Errors
	if !errors.As(err, &all) {
		return []Problem{{Text: err.Error()}}
	}
	var found []Problem
	for i, e := range all {
		if i == maxProblems {
			return append(found, Problem{Text: fmt.Sprintf("and %d more", len(all)-maxProblems)})
		}
		bare := *e
		bare.File, bare.Line = "", 0
		found = append(found, Problem{e.File, e.Line, e.Column, bare.Error()})
	}
	return found
}

// maxNamed is how many names a line has room for.
const maxNamed = 10

// changed says which hosts and tests come and go.
func changed(from, to *config.Mesh) []string {
	all := []string{}
	say := func(what string, have []string, known func(string) bool) {
		have = slices.DeleteFunc(have, known)
		more := ""
		if n := len(have) - maxNamed; n > 0 {
			have, more = have[:maxNamed], fmt.Sprintf(" and %d more", n)
		}
		if len(have) > 0 {
			all = append(all, what+": "+strings.Join(have, ", ")+more)
		}
	}
	hosts := func(m *config.Mesh) (names []string) {
		for _, h := range m.Hosts {
			names = append(names, h.Name)
		}
		return names
	}
	tests := func(m *config.Mesh) (names []string) {
		for _, t := range m.Tests {
			names = append(names, t.Name)
		}
		return names
	}
	hasHost := func(m *config.Mesh) func(string) bool { return func(n string) bool { _, has := m.Host(n); return has } }
	hasTest := func(m *config.Mesh) func(string) bool { return func(n string) bool { return m.Test(n) != nil } }
	say("new hosts", hosts(to), hasHost(from))
	say("hosts gone", hosts(from), hasHost(to))
	say("new tests", tests(to), hasTest(from))
	say("tests gone", tests(from), hasTest(to))
	return all
}
