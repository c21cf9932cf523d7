// Package scenario plays cases: a lab, what happens in it step by step, what must be seen then, and a verdict. A case is a
// YAML file that anyone can read:
//
//	name: random-loss
//	title: One packet in a hundred is lost on the wire
//	finding: random-loss                     # what a diagnosis should call it; may be left out
//	source: who described the problem
//	cause: what is truly wrong, in words
//	condition: when it binds, with the figures of this case
//	lab:                                     # a lab file
//	  hosts: {a: {}, b: {}}
//	  links: [{between: [a, b], rate: 50mbit, delay: 20ms}]
//	steps:
//	  - exec:    {on: b, run: [pathwise, respond], background: true, ready: answering}
//	  - measure: {on: a, run: [throughput, b, -t, 3], as: clean}
//	  - set:     {between: [a, b], loss: 1%}
//	  - wait:    500ms
//	  - measure: {on: a, run: [throughput, b, -t, 3], as: lossy}
//	  - expect:  {of: lossy, over: clean, value: metrics.throughput_bits_per_second, below: 0.3}
//	  - expect:  {of: truth, link: [a, b], value: dropped.loss, above: 0}
//
// It does not decide what a good case is, and it measures nothing by itself: programs on the lab's hosts do.
package scenario

import (
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// Case is a case file: see Parse. What Parse returns is valid.
type Case struct {
	Name      string   `yaml:"name"`
	Title     string   `yaml:"title"`
	Finding   string   `yaml:"finding"`   // what a diagnosis should call it; "": nothing
	Family    []string `yaml:"family"`    // findings that say the same less exactly, where what is measured cannot tell them apart
	Source    string   `yaml:"source"`    // who described the problem
	Cause     string   `yaml:"cause"`     // what is truly wrong
	Condition string   `yaml:"condition"` // when it binds, with the figures of this case
	Skip      string   `yaml:"skip"`      // why it cannot be played; "": it can
	Needs     []string `yaml:"needs"`     // programs that it runs beside Pathwise
	Lab       lab.Spec `yaml:"lab"`
	Steps     []Step   `yaml:"steps"`
}

// Step is one of its fields.
type Step struct {
	Set     *Set     `yaml:"set"`
	Exec    *Program `yaml:"exec"`    // any program; `pathwise` is the one under test
	Measure *Program `yaml:"measure"` // `pathwise RUN --json`
	Wait    *Wait    `yaml:"wait"`
	Stop    *string  `yaml:"stop"` // ends a program in the background, by its name
	Expect  *Expect  `yaml:"expect"`

	// Diagnose is where the fault can be diagnosed: `pathwise diagnose RUN --json`. It is played, as the last step, only where somebody
	// wants the diagnosis: see Options.Diagnosed.
	Diagnose *Program `yaml:"diagnose"`

	place place
}

// place is where a step stands in its file.
type place struct{ line, column int }

// Set changes the lab: the links between two nodes, a host's settings, or a route.
type Set struct {
	Between    []string `yaml:"between"`
	link.Shape `yaml:",inline"`
	Forward    *link.Shape       `yaml:"forward"` // from the first node of between to the second
	Reverse    *link.Shape       `yaml:"reverse"`
	Host       string            `yaml:"host"`
	Sysctl     map[string]string `yaml:"sysctl"`
	Route      *lab.Route        `yaml:"route"`
}

// Program is a program that runs on a host.
type Program struct {
	On         string        `yaml:"on"`
	Run        Words         `yaml:"run"`
	As         string        `yaml:"as"`         // what expectations call its document; "": nothing
	Background bool          `yaml:"background"` // go on at once; it ends with `wait`, with `stop` or with the case
	Ready      string        `yaml:"ready"`      // of one in the background: go on once it has printed this
	Status     Status        `yaml:"status"`     // the exit status that is right; default 0
	Timeout    notation.Span `yaml:"timeout"`    // interrupted after this; default DefaultTimeout
	Before     []string      `yaml:"before"`     // of a diagnosis: programs whose documents it is told of as earlier ones, by --before
}

// Wait is a time, or the end of a program in the background.
//
//	wait: 2s
//	wait: {for: bulk}
type Wait struct {
	Time notation.Span `yaml:"-"`
	For  string        `yaml:"for"`
}

// Words are a command line, each word as it stands in the file.
type Words []string

// Status is an exit status; AnyStatus takes all.
type Status int

// AnyStatus is written `any`.
const AnyStatus Status = -1

// Expect is something that must be so: a value, and what is right for it. The value is found by Of and Value:
//
//	of: NAME        the document of a program: what it printed, if that was JSON
//	of: truth       what the lab did by now; with link, flow or router one part of it
//	value: a.b.c    a way into it, see the package's paths
//
// With Figure the value is one that the report shows, whether it is right or not.
//
// With Over the value is divided by that of another program (or by another of the same, with OverValue).
type Expect struct {
	Of        string `yaml:"of"`
	Value     string `yaml:"value"`
	Over      string `yaml:"over"`
	OverValue string `yaml:"over_value"` // default: the same as value

	Link   []string `yaml:"link"`      // of truth: one way of a link, from the first node to the second
	Way    string   `yaml:"direction"` // "forward", the default, or "reverse": from the second node of link to the first
	Flow   string   `yaml:"flow"`      // of truth: "tcp a > b", "udp a > b:5201"; of several, the one with the most packets
	Router string   `yaml:"router"`    // of truth: what a router did besides routing
	Since  string   `yaml:"since"`     // of truth, with flow: packets sent since that program began

	Verdict  string  `yaml:"verdict"` // short for `value: verdict, equal: …`
	Above    *Bound  `yaml:"above"`
	Below    *Bound  `yaml:"below"`
	Near     *Bound  `yaml:"near"`
	Within   *Bound  `yaml:"within"` // of near: the share that it may be off
	Equal    *Bound  `yaml:"equal"`
	Contains *string `yaml:"contains"` // of a text, or of a list of texts
	Lacks    *string `yaml:"lacks"`
	Present  *bool   `yaml:"present"` // whether there is such a value

	Figure    string `yaml:"figure"`    // what the value is, in words, where people shall see it beside Reference
	Reference string `yaml:"reference"` // what Source says of it, with its unit
}

// truthName is what the lab's own account is called.
const truthName = "truth"
