package scenario

import (
	"fmt"
	"strings"
)

// describe says what kind of step it is, and what it does in one line.
func (s *Step) describe() (kind, what string) {
	switch {
	case s.Set != nil:
		return "set", s.Set.String()
	case s.Exec != nil:
		return "exec", s.Exec.String()
	case s.Measure != nil:
		return "measure", s.Measure.String()
	case s.Diagnose != nil:
		return "diagnose", s.Diagnose.String()
	case s.Wait != nil && s.Wait.For != "":
		return "wait", "for " + s.Wait.For
	case s.Wait != nil:
		return "wait", s.Wait.Time.String()
	case s.Stop != nil:
		return "stop", *s.Stop
	}
	return "expect", s.Expect.String()
}

func (s *Set) String() string {
	switch {
	case s.Route != nil:
		return fmt.Sprintf("route at %s to %s via %s", s.Route.At, s.Route.To, s.Route.Via)
	case s.Host != "":
		return fmt.Sprintf("%s: %s", s.Host, strings.TrimPrefix(fmt.Sprint(s.Sysctl), "map"))
	}
	return fmt.Sprintf("%s - %s: %s", s.Between[0], s.Between[1], strings.Join(s.settings(), " "))
}

func (p *Program) String() string {
	text := fmt.Sprintf("%s: %s", p.On, strings.Join(p.Run, " "))
	if p.As != "" {
		text += " (" + p.As + ")"
	}
	return text
}

func (e *Expect) String() string {
	what := []string{e.Of}
	for _, text := range []string{strings.Join(e.Link, " > "), e.Way, e.Flow, e.Router, e.Value} {
		if text != "" {
			what = append(what, text)
		}
	}
	if e.Verdict != "" {
		what = append(what, "verdict")
	}
	if e.Over != "" {
		what = append(what, "over "+e.Over, e.OverValue)
	}
	return strings.TrimSpace(strings.Join(what, " "))
}
