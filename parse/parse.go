// Package parse finds metrics in what an external program printed.
//
// It reads text and returns numbers in SI base units. It runs nothing and keeps nothing: package probe runs programs
// and keeps their output whole, so that Apply can read it again by better rules, years later.
//
// A number is read with the unit that stands beside it ("941 Mbits/sec", "12.3 ms", "0.5%"), and turned into the unit
// that the metric's name ends in. See convert for the units, and for what tools disagree about.
package parse

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// Rule says where in an output one metric stands. Exactly one of Regex, JSON and Key is set.
type Rule struct {
	// Metric is any name that ends in one of measure.Units.
	Metric measure.Metric `json:"metric"`

	// Regex is a regular expression (RE2, see package regexp) in which ^ and $ match at lines. Its group named "value", or
	// else its first group, holds the number, with or without a unit; a group named "unit" may hold the unit. Where it
	// matches more than once, the last match counts, since programs sum up at their end.
	Regex string `json:"regex,omitempty"`
	// JSON is a JSON path (RFC 9535) that names one value, such as $.end.sum_received.bits_per_second, or
	// $.report.hubs[-1].Avg for the last of a list. Where the output holds several documents, the last counts.
	JSON string `json:"json,omitempty"`
	// Key is what stands left of "=" or ":" in a line of its own, such as "Throughput: 941 Mbit/s", whatever its case and
	// spaces. The last such line counts, and in it the number and the word right after it.
	Key string `json:"key,omitempty"`

	// Unit is what the number is in, whatever the output says. "": the unit that is printed, or the metric's own if there
	// is none.
	Unit string `json:"unit,omitempty"`
	// Binary says that the K, M, G that are printed are powers of 1024, as those of bbcp, globus-url-copy and wget are.
	Binary bool `json:"binary,omitempty"`
	// Scale multiplies the number; 0: 1.
	Scale float64 `json:"scale,omitempty"`
}

// Parser finds metrics by a set of Rules. It may be used by several goroutines at once.
type Parser struct {
	rules []compiled
}

// compiled is a Rule with what finds its text.
type compiled struct {
	Rule
	finder
}

// finder finds what a rule looks for: the number's text, and the unit's if that stands apart.
type finder interface {
	find(o *output) (number, unit string, err error)
	String() string // for errors: "regex …"
}

// Compile checks rules and makes a Parser of them. The error is a *RuleError.
func Compile(rules []Rule) (*Parser, error) {
	p := &Parser{}
	seen := map[measure.Metric]bool{}
	for _, r := range rules {
		f, err := r.compile()
		if err == nil && seen[r.Metric] {
			err = &RuleError{r.Metric, "metric", string(r.Metric), "give each metric one rule"}
		}
		if err != nil {
			return nil, err
		}
		seen[r.Metric] = true
		p.rules = append(p.rules, compiled{r, f})
	}
	return p, nil
}

// Metrics are those that the Parser looks for, in the order of its rules.
func (p *Parser) Metrics() []measure.Metric {
	var names []measure.Metric
	for _, r := range p.rules {
		names = append(names, r.Metric)
	}
	return names
}

// Read returns the metrics that the text holds, and a *NotFound that names the others, or nil if there are none. Of a
// text longer than MaxInput only the end is read.
func (p *Parser) Read(text string) (map[measure.Metric]float64, error) {
	return p.read(newOutput(text))
}

// ReadOutput is Read of a program's standard output, and then, for what it does not hold, of its standard error.
func (p *Parser) ReadOutput(o *measure.Output) (map[measure.Metric]float64, error) {
	return p.read(newOutput(o.Stdout), newOutput(o.Stderr))
}

func (p *Parser) read(outputs ...*output) (map[measure.Metric]float64, error) {
	found := map[measure.Metric]float64{}
	var missing NotFound
	for _, r := range p.rules {
		v, err := r.read(outputs)
		if err != nil {
			missing.add(r.Metric, err)
			continue
		}
		found[r.Metric] = v
	}
	if len(missing.Metrics) > 0 {
		return found, &missing
	}
	return found, nil
}

// read returns the metric from the first of the outputs that holds it. What is there but cannot be read is an error
// that later outputs do not hide.
func (r *compiled) read(outputs []*output) (float64, error) {
	for _, o := range outputs {
		number, unit, err := r.find(o)
		if errors.Is(err, errNothing) {
			continue
		}
		if err != nil {
			return 0, err
		}
		return r.value(number, unit)
	}
	return 0, fmt.Errorf("%s matches nothing", r.finder)
}

// Apply reads the output that a Result holds again, and says whether that changed it. The metrics that the rules name
// are replaced, or removed where they are not found any more; others stay. A Result of a program that ended well is
// then ok if everything was found, and says what was not.
func Apply(p *Parser, r *measure.Result) (changed bool) {
	if r.Samples.Output == nil {
		return false
	}
	found, err := p.ReadOutput(r.Samples.Output)
	for _, m := range p.Metrics() {
		v, now := found[m]
		old, before := r.Metrics[m]
		changed = changed || now != before || v != old
		delete(r.Metrics, m)
		if now {
			r.Metrics[m] = v
		}
	}
	return judge(r, err) || changed
}

// judge sets the Result's status and error by what was found, and says whether they changed.
func judge(r *measure.Result, missing error) bool {
	status, text := r.Status, ""
	if r.Error != nil {
		text = *r.Error
	}
	if r.Samples.Output.ExitCode != 0 && r.Error != nil { // the program's own failure stays the error
		missing = errors.New(text)
	}
	r.Status, r.Error = measure.StatusOK, nil
	r.Fail(missing)
	return status != r.Status || r.Error == nil && text != "" || r.Error != nil && text != *r.Error
}

// RuleError is a Rule that cannot be.
type RuleError struct {
	Metric measure.Metric
	Field  string // of Rule, in lower case
	Value  string
	Remedy string
}

func (e *RuleError) Error() string {
	if e.Field == "metric" {
		return fmt.Sprintf("metric %q: %s", e.Value, e.Remedy)
	}
	return fmt.Sprintf("%s: %s %s: %s", e.Metric, e.Field, quote(e.Value), e.Remedy)
}

// BadInput marks the error as one of the caller's making.
func (e *RuleError) BadInput() bool { return true }

// NotFound names the metrics that an output does not hold, or holds in a form that cannot be read, and why each.
type NotFound struct {
	Metrics []measure.Metric
	Why     []string // of each
}

func (e *NotFound) add(m measure.Metric, err error) {
	e.Metrics, e.Why = append(e.Metrics, m), append(e.Why, err.Error())
}

func (e *NotFound) Error() string {
	var each []string
	for i, m := range e.Metrics {
		each = append(each, fmt.Sprintf("%s: %s", m, e.Why[i]))
	}
	return "read what the program printed: " + strings.Join(each, "; ")
}

// errNothing means that the rule matches nothing in an output.
var errNothing = errors.New("nothing found")
