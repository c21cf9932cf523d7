// Package calc is the catalogue of the calculators: each formula of package model with its inputs as people write them, its
// working step by step, and its drawings. The command line, the API and the pages stand on it, so that one call has one answer.
//
// It is pure, and works out nothing by itself: what a formula says is package model's, how a quantity is read and printed is
// package quantity's. Values are in SI units; the names of values end in theirs, as those of metrics do.
package calc

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/input"
)

// Formula is one calculator.
type Formula struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Source   string   `json:"source"`
	Examples []string `json:"examples" doc:"Inputs that show something, as the command line takes them"`
	Inputs   []Input  `json:"inputs"`

	work func(in values, w *worksheet) error
	draw func(in values) []Drawing // given inputs that work takes
}

// Line is one value of an answer. One with a Formula is a step of the working, which people read as
// "Label = Formula = Numbers = Text"; the others are figures by the way.
type Line struct {
	Name    string  `json:"name" doc:"Ends in its unit; empty where the value is only a step on the way"`
	Label   string  `json:"label"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit" doc:"Of SI, as in the names of metrics; empty for a number of round trips"`
	Text    string  `json:"text" doc:"The value as people read it"`
	Formula string  `json:"formula,omitempty" doc:"Where this is a step of the working"`
	Numbers string  `json:"numbers,omitempty" doc:"The formula with the numbers put in"`
}

// Answer is what a formula makes of its inputs.
type Answer struct {
	Inputs map[string]float64 // under names that end in their unit; without those that were left out
	Lines  []Line             // in the order of the working
}

// UnknownError is that there is no formula of a name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	var names []string
	for _, f := range All() {
		names = append(names, f.Name)
	}
	return fmt.Sprintf("%q: no such formula; want one of %s", e.Name, strings.Join(names, ", "))
}

// BadInput marks the error as the caller's to mend.
func (e *UnknownError) BadInput() bool { return true }

// InputError is that inputs cannot be used. Err says their value, and what would be right.
type InputError struct {
	Inputs []string // their names
	Err    error
}

func (e *InputError) Error() string { return strings.Join(e.Inputs, ", ") + ": " + e.Err.Error() }
func (e *InputError) Unwrap() error { return e.Err }

// BadInput marks the error as the caller's to mend.
func (e *InputError) BadInput() bool { return true }

// Find returns the formula of a name. The error is an *UnknownError.
func Find(name string) (Formula, error) {
	all := All()
	if i := slices.IndexFunc(all, func(f Formula) bool { return f.Name == name }); i >= 0 {
		return all[i], nil
	}
	return Formula{}, &UnknownError{name}
}

// Work works a formula out, from inputs as people write them, by name. An input that is not there has its default. The error
// is bad input.
func (f Formula) Work(given map[string]string) (Answer, error) {
	a, _, err := f.answer(given)
	return a, err
}

// Draw is Work with the drawings that show the answer among its neighbours.
func (f Formula) Draw(given map[string]string) (Answer, []Drawing, error) {
	a, in, err := f.answer(given)
	if err != nil {
		return a, nil, err
	}
	return a, f.draw(in), nil
}

// longest is where package model ends times that are a time.Duration: 292 years. No answer may pass for one that is cut off there.
var longest = time.Duration(math.MaxInt64).Seconds()

func (f Formula) answer(given map[string]string) (Answer, values, error) {
	a := Answer{Inputs: map[string]float64{}}
	in, err := f.read(given)
	if err != nil {
		return a, in, err
	}
	for _, i := range f.Inputs {
		if v, there := in.value[i.Name]; there {
			a.Inputs[i.number()] = v
		}
	}
	w := &worksheet{}
	if err := f.work(in, w); err != nil {
		return a, in, err
	}
	for _, l := range w.lines {
		if math.IsInf(l.Value, 0) || math.IsNaN(l.Value) || l.Unit == seconds && l.Value == longest {
			return a, in, input.Errorf("%s: the answer is out of range; want less extreme inputs", cmp.Or(l.Name, l.Label))
		}
	}
	a.Lines = w.lines
	return a, in, nil
}

// worksheet collects what a calculation puts out.
type worksheet struct{ lines []Line }

// step writes down a formula, the same with its numbers put in, and what comes out.
func (w *worksheet) step(o Line, formula, numbers string) {
	o.Formula, o.Numbers = formula, numbers
	w.lines = append(w.lines, o)
}

// aside writes down figures that are no step of the working.
func (w *worksheet) aside(all ...Line) { w.lines = append(w.lines, all...) }
