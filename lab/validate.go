package lab

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/traffic"
)

// ends checks the two nodes that something is between.
func ends(between []string, known map[string]string) error {
	if len(between) != 2 {
		return fmt.Errorf("between: %d nodes; want two, such as [a, b]", len(between))
	}
	for _, name := range between {
		if known[name] == "" {
			return fmt.Errorf("between: %q: no such host or router; name it under hosts or routers", name)
		}
	}
	if between[0] == between[1] {
		return fmt.Errorf("between: %q twice; a link joins two nodes", between[0])
	}
	return nil
}

func (l *Link) validate(known map[string]string) error {
	if err := ends(l.Between, known); err != nil {
		return err
	}
	return checkLink(l.Shape, l.Forward, l.Reverse)
}

// checkLink checks what holds each way on a link.
func checkLink(both link.Shape, forward, reverse *link.Shape) error {
	return link.CheckPair(both.Over(forward), both.Over(reverse))
}

// joined reports whether a link joins two nodes.
func (s *Spec) joined(a, b string) bool { return s.linksBetween(a, b) > 0 }

func (s *Spec) linksBetween(a, b string) int {
	n := 0
	for _, l := range s.Links {
		if l.Between[0] == a && l.Between[1] == b || l.Between[0] == b && l.Between[1] == a {
			n++
		}
	}
	return n
}

func (r *Route) validate(s *Spec, known map[string]string) error {
	for _, name := range []struct{ key, value string }{{"at", r.At}, {"to", r.To}, {"via", r.Via}} {
		if known[name.value] == "" {
			return fmt.Errorf("%s: %q: no such host or router; name it under hosts or routers", name.key, name.value)
		}
	}
	n := s.linksBetween(r.At, r.Via)
	if n == 0 {
		return fmt.Errorf("via: %q: no link joins it and %s", r.Via, r.At)
	}
	if r.Link < 0 || r.Link > n {
		return fmt.Errorf("link: %d: want 1 to %d, the links between %s and %s", r.Link, n, r.At, r.Via)
	}
	return nil
}

func (e *Change) validate(s *Spec, known map[string]string) error {
	if len(e.Between) == 0 && e.Route == nil {
		return fmt.Errorf("between: want the two nodes of a link, or a route")
	}
	if e.Route != nil {
		if err := e.Route.validate(s, known); err != nil {
			return fmt.Errorf("route: %w", err)
		}
		if known[e.Route.At] == "host" {
			return fmt.Errorf("route: at: %q: is a host; its routes are its kernel's", e.Route.At)
		}
	}
	if len(e.Between) == 0 {
		return nil
	}
	if err := ends(e.Between, known); err != nil {
		return err
	}
	if !s.joined(e.Between[0], e.Between[1]) {
		return fmt.Errorf("between: no link joins %s and %s", e.Between[0], e.Between[1])
	}
	for _, change := range []link.Shape{e.Shape.Over(e.Forward), e.Shape.Over(e.Reverse)} {
		if err := change.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// validateChanges follows the timeline and checks that each change leaves a link that can be.
func (s *Spec) validateChanges() error {
	ways := make([][2]link.Shape, len(s.Links))
	for i, l := range s.Links {
		ways[i] = [2]link.Shape{l.Shape.Over(l.Forward), l.Shape.Over(l.Reverse)}
	}
	order := make([]int, len(s.Timeline))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.Timeline[a].At, s.Timeline[b].At) })
	for _, k := range order {
		e := &s.Timeline[k]
		for i, l := range s.Links {
			forward, reverse := e.Shape.Over(e.Forward), e.Shape.Over(e.Reverse)
			switch {
			case len(e.Between) == 0:
				continue
			case l.Between[0] == e.Between[1] && l.Between[1] == e.Between[0]:
				forward, reverse = reverse, forward
			case l.Between[0] != e.Between[0] || l.Between[1] != e.Between[1]:
				continue
			}
			ways[i] = [2]link.Shape{ways[i][0].Over(&forward), ways[i][1].Over(&reverse)}
			if err := link.CheckPair(ways[i][0], ways[i][1]); err != nil {
				return document.About(fmt.Sprintf("timeline[%d]", k), "timeline: number %d: %v", k+1, err)
			}
		}
	}
	return nil
}

func (s *Spec) validateTraffic(c *traffic.Config, known map[string]string) error {
	if err := c.Validate(); err != nil {
		return err
	}
	for _, end := range []struct{ key, value string }{{"from", c.From}, {"to", c.To}} {
		kind := known[end.value]
		if kind == "" {
			return fmt.Errorf("%s: %q: no such host or router; name it under hosts or routers", end.key, end.value)
		}
		if c.Kind == traffic.TCP && kind != "host" {
			return fmt.Errorf("%s: %q: is a router; TCP flows run between hosts", end.key, end.value)
		}
	}
	if c.From == c.To {
		return fmt.Errorf("to: %q: is where it comes from; want another node", c.To)
	}
	joins := func(l Link) bool { return slices.Contains(l.Between, c.From) && slices.Contains(l.Between, c.To) }
	if c.Broadcast && !slices.ContainsFunc(s.Links, joins) {
		return fmt.Errorf("to: %q: broadcasts end at a router; want a neighbour of %s", c.To, c.From)
	}
	return nil
}
