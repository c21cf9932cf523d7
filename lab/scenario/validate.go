package scenario

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// maxWait bounds each wait and each program: a case that takes longer has gone wrong.
const maxWait = notation.Span(time.Hour)

// DefaultTimeout is how long a program may take unless it says otherwise: four times what a whole case should.
const DefaultTimeout = notation.Span(time.Minute)

// validate reports a step that is none, or several.
func (s *Step) validate() error {
	set := 0
	for _, there := range []bool{s.Set != nil, s.Exec != nil, s.Measure != nil, s.Wait != nil, s.Stop != nil, s.Expect != nil} {
		if there {
			set++
		}
	}
	if set != 1 {
		return fmt.Errorf("a step of %d parts; want one of set, exec, measure, wait, stop and expect", set)
	}
	return nil
}

func (s *Set) validate() error {
	kinds := 0
	for _, there := range []bool{s.Between != nil, s.Host != "", s.Route != nil} {
		if there {
			kinds++
		}
	}
	changes := s.Shape.String() != "" || s.Forward != nil || s.Reverse != nil
	switch {
	case kinds != 1:
		return errors.New("want one of: between: and two nodes, host: and sysctl:, a route: to change")
	case s.Between != nil && len(s.Between) != 2:
		return fmt.Errorf("between: %d nodes; want two, such as [a, b]", len(s.Between))
	case s.Between != nil && !changes:
		return errors.New("between: nothing to set; want a key of a link, such as loss: 1%")
	case s.Between == nil && changes:
		return errors.New("want between: and two nodes for what is of a link")
	case (s.Host == "") != (s.Sysctl == nil):
		return errors.New("want host: and sysctl: together, such as {host: a, sysctl: {net.ipv4.tcp_sack: 0}}")
	}
	return nil
}

func (p *Program) validate() error {
	switch {
	case p.On == "":
		return errors.New("on: missing; want the name of a host")
	case len(p.Run) == 0 || p.Run[0] == "":
		return errors.New("run: missing; want a list of words, such as [ping, b, -c, 10]")
	case p.As == truthName:
		return fmt.Errorf("as: %q: is the lab's own account; want another name", p.As)
	case p.As != "" && !documentName.MatchString(p.As):
		return fmt.Errorf("as: %q: want letters, digits, hyphens and underscores", p.As)
	case p.Ready != "" && !p.Background:
		return errors.New("ready: means nothing unless background is true")
	case p.Timeout > maxWait:
		return fmt.Errorf("timeout: %v: want at most %v", p.Timeout, maxWait)
	}
	return nil
}

// flowName is "tcp a > b", with a port after either node if need be.
var flowName = regexp.MustCompile(`^([a-z0-9]+) ([a-zA-Z0-9-]+)(?::([0-9]+))? > ([a-zA-Z0-9-]+)(?::([0-9]+))?$`)

func (e *Expect) validate() error {
	if e.Of == "" {
		return errors.New("of: missing; want the name of a program before, or truth")
	}
	if err := e.validatePart(); err != nil {
		return err
	}
	if e.Verdict != "" {
		if e.Value != "" {
			return errors.New("verdict: stands for a value of its own; want either")
		}
		return nil
	}
	if e.Value == "" {
		return errors.New("value: missing; want a way into the document, such as metrics.loss_ratio")
	}
	for _, way := range []string{e.Value, e.OverValue} {
		if _, err := parsePath(way); way != "" && err != nil {
			return fmt.Errorf("value: %w", err)
		}
	}
	return e.validateBounds()
}

// validatePart checks what chooses a part of the truth.
func (e *Expect) validatePart() error {
	parts := 0
	for _, there := range []bool{e.Link != nil, e.Flow != "", e.Router != ""} {
		if there {
			parts++
		}
	}
	switch {
	case parts > 0 && e.Of != truthName:
		return fmt.Errorf("of: %q: want truth for a link, flow or router", e.Of)
	case parts > 1:
		return errors.New("of: truth: want one of link, flow and router")
	case e.Link != nil && len(e.Link) != 2:
		return fmt.Errorf("link: %d nodes; want two, such as [a, b]", len(e.Link))
	case e.Way != "" && e.Link == nil:
		return errors.New("direction: is of a link; want link: and two nodes")
	case e.Way != "" && e.Way != "forward" && e.Way != "reverse":
		return fmt.Errorf("direction: %q: want forward or reverse", e.Way)
	case e.Flow != "" && !flowName.MatchString(e.Flow):
		return fmt.Errorf("flow: %q: want one such as tcp a > b, or udp a > b:5201", e.Flow)
	case e.Since != "" && e.Flow == "":
		return errors.New("since: is of a flow; want flow: too")
	case e.OverValue != "" && e.Over == "":
		return errors.New("over_value: want over: and the name of a program")
	case e.Over == truthName:
		return errors.New("over: want the name of a program before")
	}
	return nil
}

func (e *Expect) validateBounds() error {
	for _, one := range []struct {
		key string
		*Bound
	}{{"above", e.Above}, {"below", e.Below}, {"near", e.Near}, {"within", e.Within}} {
		if one.Bound != nil && !one.isNumber {
			return fmt.Errorf("%s: %q: want a number, alone or with a unit, such as 12mbit, 40ms, 250kB or 1%%", one.key, one.text)
		}
	}
	some := e.Above != nil || e.Below != nil || e.Near != nil || e.Equal != nil || e.Contains != nil || e.Lacks != nil || e.Present != nil
	switch {
	case !some:
		return errors.New("nothing is expected of the value; want above, below, near, equal, contains, lacks or present")
	case (e.Near == nil) != (e.Within == nil):
		return errors.New("want near: and within: together, such as {near: 12.5mbit, within: 5%}")
	case e.Above != nil && e.Below != nil && e.Above.number >= e.Below.number:
		return fmt.Errorf("above: %s: no value is above that and below %s", e.Above.text, e.Below.text)
	case e.Over != "" && (e.Contains != nil || e.Lacks != nil || e.Present != nil):
		return errors.New("over: gives a number; want above, below, near or equal")
	}
	return nil
}

// validateWhole checks that steps name hosts, links and programs that there are, and come in an order that can be.
func (c *Case) validateWhole() error {
	known := map[string]bool{} // names of programs so far; true: in the background
	for _, s := range c.Steps {
		if err := c.validateStep(&s, known); err != nil {
			return &notation.Error{Line: s.place.line, Column: s.place.column, Problem: err.Error()}
		}
	}
	return nil
}

func (c *Case) validateStep(s *Step, known map[string]bool) error {
	background := func(key, name string) error {
		if !known[name] {
			return fmt.Errorf("%s: %q: no program before this runs in the background under that name", key, name)
		}
		return nil
	}
	switch {
	case s.Set != nil:
		return c.validateSet(s.Set)
	case s.Wait != nil && s.Wait.For != "":
		return background("wait", s.Wait.For)
	case s.Stop != nil:
		return background("stop", *s.Stop)
	case s.Expect != nil:
		return c.validateExpect(s.Expect, known)
	}
	key, p := "exec", s.Exec
	if s.Measure != nil {
		key, p = "measure", s.Measure
	}
	if p != nil {
		if _, ok := c.Lab.Hosts[p.On]; !ok {
			return fmt.Errorf("%s: on: %q: no such host in the lab", key, p.On)
		}
		if _, twice := known[p.As]; twice && p.As != "" {
			return fmt.Errorf("%s: as: %q: is another program's name already", key, p.As)
		}
		known[p.As] = p.Background
	}
	return nil
}

func (c *Case) validateSet(s *Set) error {
	if s.Host != "" {
		if _, ok := c.Lab.Hosts[s.Host]; !ok {
			return fmt.Errorf("set: host: %q: no such host in the lab", s.Host)
		}
	}
	if r := s.Route; r != nil && !c.joined(r.At, r.Via) {
		return fmt.Errorf("set: route: no link joins %q and %q", r.At, r.Via)
	}
	if s.Between != nil && !c.joined(s.Between[0], s.Between[1]) {
		return fmt.Errorf("set: between: no link joins %q and %q", s.Between[0], s.Between[1])
	}
	return nil
}

func (c *Case) joined(a, b string) bool {
	return slices.ContainsFunc(c.Lab.Links, func(l lab.Link) bool {
		return l.Between[0] == a && l.Between[1] == b || l.Between[0] == b && l.Between[1] == a
	})
}

func (c *Case) validateExpect(e *Expect, known map[string]bool) error {
	for _, one := range []struct{ key, name string }{{"of", e.Of}, {"over", e.Over}, {"since", e.Since}} {
		if _, ok := known[one.name]; one.name != "" && one.name != truthName && !ok {
			return fmt.Errorf("expect: %s: %q: no program before this has that name", one.key, one.name)
		}
	}
	if e.Link != nil && !c.joined(e.Link[0], e.Link[1]) {
		return fmt.Errorf("expect: link: no link joins %q and %q", e.Link[0], e.Link[1])
	}
	if e.Flow != "" {
		parts := flowName.FindStringSubmatch(e.Flow)
		for _, node := range []string{parts[2], parts[4]} {
			if !c.isNode(node) {
				return fmt.Errorf("expect: flow: %q: no such host or router in the lab", node)
			}
		}
	}
	if e.Router != "" && !slices.ContainsFunc(c.Lab.Routers, func(r lab.Router) bool { return r.Name == e.Router }) {
		return fmt.Errorf("expect: router: %q: no such router in the lab", e.Router)
	}
	return nil
}

func (c *Case) isNode(name string) bool {
	_, host := c.Lab.Hosts[name]
	return host || slices.ContainsFunc(c.Lab.Routers, func(r lab.Router) bool { return r.Name == name })
}
