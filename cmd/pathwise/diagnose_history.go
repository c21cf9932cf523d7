package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// pastFlags say that a diagnosis is of what a controller's archive holds of a pair, and of nothing that is measured now.
type pastFlags struct {
	pair   string
	mesh   *controller
	before []string // files of earlier Results, which those of now are compared with
}

func (p *pastFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&p.pair, "pair", "", "instead of HOST: measure nothing, and say what changed from one host of a mesh to another, SOURCE/TARGET")
	flags.StringArrayVar(&p.before, "before", nil,
		"what diagnose, ping or trace --json said of this path once: also say whether it has changed since; may be given several times")
	p.mesh = controllerFlag(flags)
	p.mesh.remoteFlags(flags)
	p.mesh.tokenFlag(flags)
}

// ofPast are the flags that hold with --pair, and ofPastOnly those that hold with it alone.
var (
	ofPast     = []string{"pair", "since", "fail-on", "json", "quiet", "verbose"}
	ofPastOnly = []string{"data", "controller", "ca-file", "token-file"}
)

// check says which flag does not fit: one that measures beside --pair, or one of a controller without it.
func (p *pastFlags) check(flags *pflag.FlagSet) error {
	on := p.pair != ""
	switch f := flagUnfit(flags, on, ofPast, ofPastOnly); {
	case f == nil:
		return nil
	case on:
		return badFlag(f.Name, errors.New("it is for what is measured now, and --pair measures nothing"))
	default:
		return badFlag(f.Name, errors.New("it goes with --pair SOURCE/TARGET, which asks a controller"))
	}
}

// diagnose asks the controller for the history of the pair.
func (p *pastFlags) diagnose(c *cobra.Command, s *session, since string) (*diagnose.Diagnosis, error) {
	source, target, cut := strings.Cut(p.pair, "/")
	if !cut || source == "" || target == "" || strings.Contains(target, "/") {
		return nil, badFlag("pair", fmt.Errorf("%q: want SOURCE/TARGET, two names of hosts of the mesh", p.pair))
	}
	query := url.Values{}
	if since != "" {
		from, err := readSince(since)
		if err != nil {
			return nil, badFlag("since", err)
		}
		query.Set("from", from)
	}
	var d diagnose.Diagnosis
	s.progress("looking at what is known of %s to %s…", source, target)
	err := p.mesh.get(c.Context(), "pairs/"+url.PathEscape(source)+"/"+url.PathEscape(target)+"/history", query, &d)
	s.progress("")
	if err == nil && d.History == nil {
		err = errors.New("the controller's answer has no history; it may be of an older version")
	}
	return &d, err
}

// diagnosePast prints what an archive holds of a pair.
func (s *session) diagnosePast(c *cobra.Command, past *pastFlags, since, failOn string) error {
	if err := checkFailOn(failOn); err != nil {
		return err
	}
	d, err := past.diagnose(c, s, since)
	if err != nil {
		return err
	}
	err = s.emit(d, func(w io.Writer) { printHistory(w, d) })
	if err == nil && isBad(d, failOn) {
		return errBadOutcome
	}
	return err
}

// readEarlier reads a file of at most a byte more than is taken.
func readEarlier(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, diagnose.MostBytes+1))
}

// earlier reads the Results of --before: of diagnoses, and single ones.
func (p *pastFlags) earlier() (all []*measure.Result, err error) {
	for _, path := range p.before {
		var one measure.Result
		var d struct {
			Schema  string            `json:"schema"`
			Results []*measure.Result `json:"results"`
		}
		text, err := readEarlier(path)
		if err == nil {
			err = document.JSON(text, diagnose.MostBytes, &d)
		}
		switch {
		case err == nil && d.Schema == diagnose.Schema:
			all = append(all, d.Results...)
		case err == nil && measure.ReadsSchema(d.Schema):
			if err = document.JSON(text, diagnose.MostBytes, &one); err == nil {
				all = append(all, &one)
			}
		case err == nil:
			err = errors.New("want what diagnose, ping or trace --json printed")
		}
		if err != nil {
			return nil, badFlag("before", fmt.Errorf("%s: %w", path, err))
		}
	}
	return all, nil
}

// readSince reads how far back to look as the API takes it: 7d is a week ago.
func readSince(text string) (string, error) {
	if _, err := quantity.ParseSpan(text); err == nil {
		return "-" + text, nil
	}
	if _, err := quantity.ParseMoment(text); err != nil {
		return "", fmt.Errorf("%q: want how far back to look, such as 7d, or a time such as 2026-11-20T10:00:00Z", text)
	}
	return text, nil
}

// printHistory writes what changed, event by event.
func printHistory(w io.Writer, d *diagnose.Diagnosis) {
	h := d.History
	const minute = "2006-01-02 15:04"
	fmt.Fprintf(w, "verdict    %s\n", d.Verdict)
	fmt.Fprintf(w, "pair       %s to %s, from %s to %s UTC\n", h.Source, h.Target, h.From.UTC().Format(minute), h.To.UTC().Format(minute))
	for i, one := range h.Series {
		title := "looked at"
		if i > 0 {
			title = ""
		}
		fmt.Fprintf(w, "%-10s %s of %s, %d values of %s each\n", title, one.Metric, one.Tool, one.Runs, quantity.FormatSeconds(one.StepSeconds))
	}
	next := 0
	for _, e := range h.Events {
		for range e.Findings {
			if next < len(d.Findings) {
				printFinding(w, &d.Findings[next])
			}
			next++
		}
		if e.Together != "" {
			fmt.Fprintln(w, chart.Fold(e.Together, "  ", chart.Width))
		}
	}
	for ; next < len(d.Findings); next++ { // of now, and of no event
		printFinding(w, &d.Findings[next])
	}
	for _, note := range d.Notes {
		fmt.Fprintln(w, "note:", note)
	}
}
