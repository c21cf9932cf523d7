package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/model"
)

// A calculator is one formula of package model on the command line. Its work reads the inputs and writes down its steps;
// flags, checks and printing are the same for all.
type calculator struct {
	name, short, source string
	examples            []string // arguments after "pathwise calc NAME"
	flags               []calcFlag
	work                func(in calcInputs, w *worksheet) error
}

// calcFlag is one input. Without a value it must be given, unless it is optional: then it is 0 in the inputs.
type calcFlag struct {
	name     string
	kind     calcKind
	value    string
	optional bool
	usage    string
}

// calcKind is how an input is read and shown, and the unit that its JSON name ends in.
type calcKind struct {
	unit  string
	parse func(string) (float64, error)
	show  func(float64) string
}

// calcInputs holds the inputs in SI base units under the names of their flags, and as text to put into formulas.
type calcInputs struct {
	value map[string]float64
	text  map[string]string
}

func (in calcInputs) duration(name string) time.Duration { return model.Seconds(in.value[name]) }

// worksheet collects what a calculation puts out.
type worksheet struct {
	outputs  map[string]float64 // names end in their unit
	formulas []string
	lines    []string
}

// step writes down one formula, the same with its numbers put in, and what comes out.
func (w *worksheet) step(formula, numbers, result string) {
	w.formulas = append(w.formulas, formula)
	w.lines = append(w.lines, formula+" = "+numbers+" = "+result)
}

// calcDoc is the JSON document of a calculation.
type calcDoc struct {
	Schema  string             `json:"schema"`
	Name    string             `json:"name"`
	Inputs  map[string]float64 `json:"inputs"`
	Outputs map[string]float64 `json:"outputs"`
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
	for _, k := range calculators() {
		c.AddCommand(k.command(s))
	}
	return c
}

func (k calculator) command(s *session) *cobra.Command {
	call := "  pathwise calc " + k.name + " "
	c := &cobra.Command{
		Use:     k.name,
		Short:   k.short,
		Long:    k.short + ".\n\nSource: " + k.source + ".",
		Example: call + strings.Join(k.examples, "\n"+call),
		Args:    cobra.NoArgs,
	}
	given := make(map[string]*string, len(k.flags))
	for _, f := range k.flags {
		given[f.name] = c.Flags().String(f.name, f.value, f.usage)
	}
	c.RunE = func(*cobra.Command, []string) error {
		doc, lines, err := k.calculate(given)
		if err != nil {
			return err
		}
		return s.emit(doc, func(w io.Writer) { fmt.Fprintln(w, strings.Join(lines, "\n")) })
	}
	return c
}

// longest is where package model ends its times: 292 years. No answer may pass for one that is cut off there.
var longest = time.Duration(math.MaxInt64).Seconds()

// calculate reads the flags, does the work and returns the document and the lines for people.
func (k calculator) calculate(given map[string]*string) (calcDoc, []string, error) {
	in := calcInputs{value: map[string]float64{}, text: map[string]string{}}
	doc := calcDoc{Schema: "pathwise.calc/1", Name: k.name, Inputs: map[string]float64{}, Source: k.source}
	for _, f := range k.flags {
		text := *given[f.name]
		if text == "" && f.optional {
			continue
		}
		v, err := f.kind.parse(text)
		if err != nil {
			return doc, nil, badFlag(f.name, err)
		}
		in.value[f.name], in.text[f.name] = v, f.kind.show(v)
		doc.Inputs[strings.ReplaceAll(f.name, "-", "_")+f.kind.unit] = v
	}
	sheet := &worksheet{outputs: map[string]float64{}}
	if err := k.work(in, sheet); err != nil {
		return doc, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(sheet.outputs)) {
		v := sheet.outputs[name]
		if math.IsInf(v, 0) || math.IsNaN(v) || strings.HasSuffix(name, "_seconds") && v >= longest {
			return doc, nil, &badCall{fmt.Errorf("%s: the answer is out of range; want less extreme inputs", name)}
		}
	}
	doc.Outputs, doc.Formula = sheet.outputs, strings.Join(sheet.formulas, "; ")
	return doc, sheet.lines, nil
}
