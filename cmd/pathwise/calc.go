package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/calc"
	"github.com/pathwise-net/pathwise/diagnose/knowledge"
	"github.com/pathwise-net/pathwise/input"
)

// calcDoc is the JSON document of a calculation.
type calcDoc struct {
	Schema  string             `json:"schema"`
	Name    string             `json:"name"`
	Inputs  map[string]float64 `json:"inputs"`
	Outputs map[string]float64 `json:"outputs"` // names end in their unit
	Formula string             `json:"formula"`
	Source  string             `json:"source"`
}

func calcCommand(s *session) *cobra.Command {
	c := &cobra.Command{
		Use:   "calc NAME",
		Short: "Work out a formula: what a path, a window, a loss rate or a header allows",
		Long: "Each calculator prints its formula, the formula with the numbers put in, and the answer.\n" +
			"Rates are bit/s in powers of ten (100mbit); sizes are bytes (1448, 50MB, 4MiB; K, M and G alone are powers of 1024);\n" +
			"times are 50ms, 1.5s or 2m; ratios are 0.0001 or 0.01%.",
		Example: "  pathwise calc bdp --rate 100mbit --rtt 50ms",
	}
	for _, f := range calc.All() {
		c.AddCommand(calcFormula(s, f))
	}
	return c
}

func calcFormula(s *session, f calc.Formula) *cobra.Command {
	call := "  pathwise calc " + f.Name + " "
	c := &cobra.Command{
		Use:     f.Name,
		Short:   f.Title,
		Long:    f.Title + ".\n\nSource: " + f.Source + ".",
		Example: call + strings.Join(f.Examples, "\n"+call),
	}
	flags := make(map[string]*string, len(f.Inputs))
	for _, i := range f.Inputs {
		flags[i.Name] = c.Flags().String(i.Name, i.Default, i.Usage)
	}
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := setInputs(c, f, args); err != nil {
			return err
		}
		given := make(map[string]string, len(flags))
		for name, text := range flags {
			given[name] = *text
		}
		answer, drawings, err := f.Draw(given)
		if err != nil && c.Flags().NFlag() == 0 {
			return input.Errorf("%s: wants %s, such as pathwise calc %s %s", f.Name, inputNames(f, false), f.Name, f.Examples[0])
		}
		if err != nil {
			return asFlags(err)
		}
		doc, lines := calcOutcome(f, answer)
		return s.emit(doc, func(w io.Writer) {
			fmt.Fprintln(w, strings.Join(lines, "\n"))
			if s.live() {
				s.drawCalc(w, drawings)
			}
		})
	}
	return c
}

// setInputs takes inputs that are written as NAME=VALUE, as flags are.
func setInputs(c *cobra.Command, f calc.Formula, args []string) error {
	for _, arg := range args {
		name, value, is := strings.Cut(arg, "=")
		if !is || !slices.ContainsFunc(f.Inputs, func(i calc.Input) bool { return i.Name == name }) {
			return input.Errorf("%q: no input of %s, which has %s; write --NAME VALUE or NAME=VALUE", arg, f.Name, inputNames(f, true))
		}
		if c.Flags().Changed(name) {
			return badFlag(name, fmt.Errorf("%q: it is given twice", value))
		}
		if err := c.Flags().Set(name, value); err != nil {
			return badFlag(name, err)
		}
	}
	return nil
}

// inputNames are a formula's inputs as flags: all, or those that have no default.
func inputNames(f calc.Formula, all bool) string {
	var names []string
	for _, i := range f.Inputs {
		if i.Default != "" && !all {
			continue
		}
		names = append(names, "--"+i.Name)
	}
	return strings.Join(names, ", ")
}

// drawCalc draws an answer among its neighbours, for a terminal.
func (s *session) drawCalc(w io.Writer, drawings []calc.Drawing) {
	for _, d := range drawings {
		picture := knowledge.Picture{Drawing: d, Marked: "the answer"}
		fmt.Fprintf(w, "\n%s\n%s\n", s.screen().Strong(d.Title), plotted(picture))
	}
}

// asFlags names inputs as the command line does.
func asFlags(err error) error {
	var bad *calc.InputError
	if errors.As(err, &bad) {
		return badFlag(strings.Join(bad.Inputs, ", --"), bad.Err)
	}
	return err
}

// calcOutcome is an answer as a document and as the lines of its working.
func calcOutcome(f calc.Formula, a calc.Answer) (doc calcDoc, lines []string) {
	doc = calcDoc{Schema: "pathwise.calc/1", Name: f.Name, Inputs: a.Inputs, Outputs: map[string]float64{}, Source: f.Source}
	var formulas []string
	for _, l := range a.Lines {
		if l.Name != "" {
			doc.Outputs[l.Name] = l.Value
		}
		if l.Formula != "" {
			formulas = append(formulas, l.Label+" = "+l.Formula)
			lines = append(lines, strings.Join([]string{l.Label, l.Formula, l.Numbers, l.Text}, " = "))
		}
	}
	doc.Formula = strings.Join(formulas, "; ")
	return doc, lines
}
