package scenario

import (
	"fmt"
	"slices"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab"
)

// validateWhole checks that steps name hosts, links and programs that there are, and come in an order that can be.
func (c *Case) validateWhole() error {
	known := map[string]bool{} // names of programs so far; true: in the background
	for _, s := range c.Steps {
		if err := c.validateStep(&s, known); err != nil {
			return &document.Error{Line: s.place.line, Column: s.place.column, Problem: err.Error()}
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
	switch {
	case s.Measure != nil:
		key, p = "measure", s.Measure
	case s.Diagnose != nil:
		key, p = "diagnose", s.Diagnose
	}
	if p != nil {
		if _, ok := c.Lab.Hosts[p.On]; !ok {
			return fmt.Errorf("%s: on: %q: no such host in the lab", key, p.On)
		}
		if _, twice := known[p.As]; twice {
			return fmt.Errorf("%s: as: %q: is another program's name already", key, p.As)
		}
		for _, name := range p.Before {
			if _, ok := known[name]; !ok || s.Diagnose == nil {
				return fmt.Errorf("%s: before: %q: want names of programs before this, and a diagnosis", key, name)
			}
		}
		if p.As != "" {
			known[p.As] = p.Background
		}
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
		if one.name == "" || one.key == "of" && one.name == truthName {
			continue
		}
		if _, ok := known[one.name]; !ok {
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
