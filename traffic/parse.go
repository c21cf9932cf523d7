package traffic

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/quantity"
)

// Captures gives the packets of a capture by the name that a script has for it. port, if above 0, is of the packets that are wanted.
type Captures func(name string, port int) ([]Recorded, error)

// Parse reads a script. captures may be nil: then a script that replays one is refused. Errors are of package input and name the line.
//
//	# all that follows on the line is a comment
//	seed 7
//	to HOST[:PORT]
//	flow NAME [reverse] start TIME end TIME PATTERN KEY VALUE …
//	at TIME NAME [PATTERN] KEY VALUE …
//
// A statement ends with its line, or with a semicolon.
func Parse(text string, captures Captures) (*Script, error) {
	if len(text) > MostText {
		return nil, input.Errorf("script: %d bytes, want at most %d", len(text), MostText)
	}
	p := parser{captures: captures}
	line := 0
	for one := range strings.Lines(text) {
		line++
		one, _, _ = strings.Cut(one, "#")
		for statement := range strings.SplitSeq(one, ";") {
			if err := p.statement(strings.Fields(statement)); err != nil {
				return nil, input.Errorf("script, line %d: %v", line, err)
			}
		}
	}
	if len(p.script.Flows) == 0 {
		return nil, input.Errorf("script: it has no flow; such as: flow voice end 10s constant rate 50/s size 200")
	}
	return &p.script, nil
}

type parser struct {
	script   Script
	captures Captures
}

func (p *parser) statement(words []string) error {
	if len(words) == 0 {
		return nil
	}
	switch words[0] {
	case "seed":
		return p.seed(words[1:])
	case "to":
		if len(words) != 2 || p.script.To != "" {
			return fmt.Errorf("want one host: to HOST[:PORT]")
		}
		p.script.To = words[1]
		return nil
	case "flow":
		return p.flow(words[1:])
	case "at":
		return p.change(words[1:])
	}
	return fmt.Errorf("%q: want seed, to, flow or at", words[0])
}

func (p *parser) seed(words []string) (err error) {
	if len(words) == 1 {
		p.script.Seed, err = strconv.ParseUint(words[0], 10, 64)
	}
	if len(words) != 1 || err != nil {
		return fmt.Errorf("seed: want a whole number")
	}
	return nil
}

// flow reads what follows the word of that name.
func (p *parser) flow(words []string) error {
	if len(words) == 0 || !isName(words[0]) {
		return fmt.Errorf("flow: want a name first, of letters, digits and -, up to %d of them", mostName)
	}
	f := Flow{Name: words[0]}
	if p.find(f.Name) != nil {
		return fmt.Errorf("flow %s: it is there already", f.Name)
	}
	if len(p.script.Flows) == MostFlows {
		return fmt.Errorf("flow %s: want at most %d flows", f.Name, MostFlows)
	}
	c := clause{flow: &f, shape: Shape{Pattern: ""}, captures: p.captures, whole: true}
	err := c.read(words[1:])
	if err == nil {
		err = f.complete(&c)
	}
	if err != nil {
		return fmt.Errorf("flow %s: %w", f.Name, err)
	}
	p.script.Flows = append(p.script.Flows, f)
	return nil
}

// change reads what follows the word at.
func (p *parser) change(words []string) error {
	if len(words) < 3 {
		return fmt.Errorf("at: want a time, a flow, and what changes: at 5s voice rate 100/s")
	}
	at, err := parseTime(words[0])
	if err != nil {
		return fmt.Errorf("at: %w", err)
	}
	f := p.find(words[1])
	if f == nil {
		return fmt.Errorf("at: %q: there is no such flow above", words[1])
	}
	last := f.Phases[len(f.Phases)-1]
	switch {
	case at <= last.At || at >= f.End:
		return fmt.Errorf("at %v: want a time after %v, when %s was last changed or began, and before its end at %v", at, last.At, f.Name, f.End)
	case last.Shape.Pattern == Replay:
		return fmt.Errorf("at: %s replays a capture, which does not change", f.Name)
	case len(f.Phases) > mostChanges:
		return fmt.Errorf("at: %s: want at most %d changes of a flow", f.Name, mostChanges)
	}
	c := clause{flow: f, shape: last.Shape, captures: nil}
	if err := c.read(words[2:]); err != nil {
		return fmt.Errorf("at %v %s: %w", at, f.Name, err)
	}
	if err := c.shape.check(); err != nil {
		return fmt.Errorf("at %v %s: %w", at, f.Name, err)
	}
	f.Phases = append(f.Phases, Phase{At: at, Shape: c.shape})
	return nil
}

func (p *parser) find(name string) *Flow {
	for i := range p.script.Flows {
		if p.script.Flows[i].Name == name {
			return &p.script.Flows[i]
		}
	}
	return nil
}

// mostName of a flow fits a column.
const mostName = 32

func isName(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return s != "" && len(s) <= mostName
}

// parseTime reads a time since the script began.
func parseTime(text string) (time.Duration, error) {
	d, err := quantity.ParseDuration(text)
	if err == nil && (d < 0 || d > MostTime) {
		err = fmt.Errorf("%v: want at most %v", d, MostTime)
	}
	return d, err
}
