package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/diagnose/knowledge"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/terminal"
)

// printDiagnosis writes a diagnosis: on a terminal what is wrong before anything else, into a pipe the verdict's name.
func (s *session) printDiagnosis(w io.Writer, d *diagnose.Diagnosis) {
	if s.live() {
		drawDiagnosis(w, s.screen(), d)
		return
	}
	printDiagnosis(w, d)
}

func printDiagnosis(w io.Writer, d *diagnose.Diagnosis) {
	if d.Acceptance != nil {
		printAcceptance(w, d.Acceptance)
		if d.Acceptance.Outcome == diagnose.Passes {
			return
		}
	}
	fmt.Fprintf(w, "verdict    %s\n", d.Verdict)
	if d.ExpectedBitsPerSecond != nil {
		fmt.Fprintf(w, "expected   %s\n", quantity.FormatRate(*d.ExpectedBitsPerSecond))
	}
	if d.AchievedBitsPerSecond > 0 {
		fmt.Fprintf(w, "achieved   %s\n", quantity.FormatRate(d.AchievedBitsPerSecond))
	}
	for _, f := range d.Findings {
		printFinding(w, &f)
	}
	printRest(w, d)
}

// printRest writes what a diagnosis says beside its findings.
func printRest(w io.Writer, d *diagnose.Diagnosis) {
	if d.Section != nil {
		printSection(w, d.Section)
	}
	if d.Segments != nil {
		printSegments(w, d.Segments)
	}
	for _, note := range d.Notes {
		fmt.Fprintln(w, "note:", note)
	}
	for _, r := range d.Results {
		probe.WriteNotes(w, r)
	}
}

func printFinding(w io.Writer, f *measure.Finding) {
	way := ""
	if f.Way != "" {
		way = ", " + string(f.Way)
	}
	fmt.Fprintf(w, "\n%s: %s%s (%s; confidence %.0f %%)\n", f.Severity, f.ID, way, f.Where, 100*f.Confidence)
	fmt.Fprintln(w, chart.Fold(f.Explanation, "  ", chart.Width))
	for _, e := range f.Evidence {
		fmt.Fprintf(w, "  - %-14s %s\n", quantity.Format(e.Value, e.Unit), e.Means)
	}
	for _, a := range f.Advice {
		printAdvice(w, a)
	}
	if p := f.Predicted; p != nil {
		fmt.Fprintf(w, "  = then expect %s\n%s\n", quantity.FormatRate(p.BitsPerSecond), chart.Fold(p.Basis, "      ", chart.Width))
	}
}

// sheet is where a diagnosis is drawn: lines end at width.
type sheet struct {
	io.Writer
	*terminal.Screen
	width int
}

// labelWidth is where texts behind labels begin.
const labelWidth = 11

// hung writes a text behind a label and a lead, whose lines all begin where the first does.
func (p *sheet) hung(label, lead, text string) {
	indent := strings.Repeat(" ", labelWidth+ansi.StringWidth(lead))
	first := "  " + p.Faint(label) + strings.Repeat(" ", labelWidth-2-len(label)) + lead
	fmt.Fprintln(p, first+strings.TrimPrefix(chart.Fold(text, indent, p.width), indent))
}

// drawDiagnosis writes a diagnosis for a terminal: of each finding what is wrong, why, by which evidence, the cure and what it brings.
func drawDiagnosis(w io.Writer, screen *terminal.Screen, d *diagnose.Diagnosis) {
	p := &sheet{w, screen, min(screen.Width(), chart.Width) - 1}
	fmt.Fprintln(w)
	if d.Acceptance != nil {
		printAcceptance(w, d.Acceptance)
		if d.Acceptance.Outcome == diagnose.Passes {
			return
		}
	}
	switch d.Verdict {
	case diagnose.Healthy:
		fmt.Fprintln(w, p.Good("Nothing is wrong with this path.")+p.speed(d))
	case diagnose.Unknown:
		fmt.Fprintln(w, p.Warn("No cause shows, and slow cannot be told from small.")+p.speed(d))
	default:
		if speed := p.speed(d); speed != "" {
			fmt.Fprintln(w, strings.TrimSpace(speed))
		}
	}
	for i := range d.Findings {
		p.finding(&d.Findings[i])
	}
	printRest(w, d)
}

// speed is how fast the path is, beside what it could be.
func (p *sheet) speed(d *diagnose.Diagnosis) string {
	switch {
	case d.AchievedBitsPerSecond <= 0:
		return ""
	case d.ExpectedBitsPerSecond == nil:
		return " " + p.Strong(quantity.FormatRate(d.AchievedBitsPerSecond)) + " came through."
	}
	return " " + p.Strong(quantity.FormatRate(d.AchievedBitsPerSecond)) + " of " + quantity.FormatRate(*d.ExpectedBitsPerSecond) + " came through."
}

func (p *sheet) finding(f *measure.Finding) {
	mark := map[measure.Severity]func(string) string{measure.Problem: p.Bad, measure.Warning: p.Warn}[f.Severity]
	if mark == nil {
		mark = p.Strong
	}
	where := f.Where
	if f.Way != "" {
		where += ", " + string(f.Way)
	}
	fmt.Fprintf(p, "\n%s\n%s\n\n", mark(cmp.Or(knowledge.OfFinding(f.ID).Title, f.ID)),
		p.Faint(p.Clipped(fmt.Sprintf("%s %s: %s; %.0f %% sure", f.Severity, f.ID, where, 100*f.Confidence), p.width)))
	fmt.Fprintln(p, chart.Fold(f.Explanation, "  ", p.width))
	fmt.Fprintln(p)
	label := "because"
	for _, e := range f.Evidence {
		p.hung(label, p.Strong(fmt.Sprintf("%-*s", valueWidth, quantity.Format(e.Value, e.Unit))), e.Means)
		label = ""
	}
	label = "cure"
	for _, a := range f.Advice {
		lead := "on " + a.Host + ": "
		if a.Command != "" { // whole, so that it can be copied
			p.hung(label, lead, p.Accent(a.Command))
			lead, label = "", ""
		}
		p.hung(label, "", lead+a.Why)
		label = ""
	}
	if then := f.Predicted; then != nil {
		p.hung("then", p.Good(fmt.Sprintf("%-*s", valueWidth, quantity.FormatRate(then.BitsPerSecond))), then.Basis)
	}
}

// valueWidth is the column of figures in front of what they mean.
const valueWidth = 13
