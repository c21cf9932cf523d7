// Package report makes the problem report that the operators of networks and hosts ask for: what is slow, against what was expected,
// between which hosts, over which routes, when; what a diagnosis found; and every measurement behind it. It is one file that needs
// nothing else: a page with drawings, Markdown for a ticket, or JSON for a program.
//
// It measures nothing and judges nothing: it shows what people told and what a diagnosis says. It is pure: one Problem gives the same
// bytes always.
//
// Source: PERT Performance Guides (2005), section 2.1.4, "Reporting the problem".
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/input"
)

// Schema names the JSON layout of a Problem.
const Schema = "pathwise.report/1"

// Problem is what a report is made of.
type Problem struct {
	Schema    string              `json:"schema"`
	Made      time.Time           `json:"made"`
	Version   string              `json:"version"` // of Pathwise
	Told      Told                `json:"told"`
	Hosts     []Host              `json:"hosts"`
	Diagnosis *diagnose.Diagnosis `json:"diagnosis"`
	Causes    []Cause             `json:"causes"`
	Masked    bool                `json:"masked"` // addresses and names of hosts are others than in truth
}

// Told is what the person who has the problem says of it, in their own words; each may be empty.
type Told struct {
	Observed    string `json:"observed"`    // what is unsatisfactory
	Expected    string `json:"expected"`    // what it should be, or once was
	Since       string `json:"since"`       // when it began
	Application string `json:"application"` // which program, of which version, over which protocol and ports
}

// Host is what is known of the system at one end beside what was measured.
type Host struct {
	Name    string `json:"name"`
	System  string `json:"system"`  // its distribution or release
	Kernel  string `json:"kernel"`  // with its version
	Machine string `json:"machine"` // kind of processor
}

// Cause is what came of one cause that was looked for.
type Cause struct {
	Of      string `json:"of"` // a way of the path, a host, or the path
	ID      string `json:"id"`
	Outcome string `json:"outcome"`
	Because string `json:"because"`
}

// New makes a Problem of a diagnosis.
func New(d *diagnose.Diagnosis, told Told, hosts []Host, version string, made time.Time) Problem {
	p := Problem{Schema: Schema, Made: made.UTC(), Version: version, Told: told, Hosts: hosts, Diagnosis: d, Causes: []Cause{}}
	if p.Hosts == nil {
		p.Hosts = []Host{}
	}
	for _, c := range d.Considered {
		of := strings.TrimSpace(string(c.Subject.Kind) + " " + string(c.Subject.Name))
		p.Causes = append(p.Causes, Cause{Of: of, ID: c.ID, Outcome: string(c.Outcome), Because: c.Because})
	}
	return p
}

// Format is how a report is written.
type Format string

const (
	HTML     Format = "html" // one page with drawings and the raw Results, for a browser; it loads nothing
	Markdown Format = "md"   // for a ticket or a mail, without the samples
	JSON     Format = "json" // a Problem, with all Results
)

// Formats are all of them.
var Formats = []Format{HTML, Markdown, JSON}

// FormatOf returns the format that the name of a file ends in. The error is bad input.
func FormatOf(path string) (Format, error) {
	f := Format(strings.ToLower(strings.TrimPrefix(filepath.Ext(path), ".")))
	if !slices.Contains(Formats, f) {
		return "", input.Errorf("%q: want a file whose name ends in .html, .md or .json", path)
	}
	return f, nil
}

// Write writes the report.
func (p Problem) Write(w io.Writer, f Format) error {
	switch f {
	case HTML:
		return p.writeHTML(w)
	case Markdown:
		return p.writeMarkdown(w)
	case JSON:
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		if err := enc.Encode(p); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
		return nil
	}
	return fmt.Errorf("write report: %q is no format", f)
}
