package scenario

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// maxWait bounds each wait and each program: a case that takes longer has gone wrong.
const maxWait = notation.Span(time.Hour)

// DefaultTimeout is how long a program may take unless it says otherwise: four times what a whole case should.
const DefaultTimeout = notation.Span(time.Minute)

// caseName is what a case may be called: as findings are.
var caseName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// validate checks what concerns the case alone, and begins with the key.
func (c *Case) validate() error {
	switch {
	case c.Name == "":
		return errors.New("name: missing; want one such as random-loss")
	case !caseName.MatchString(c.Name):
		return fmt.Errorf("name: %q: want small letters and digits, with hyphens between", c.Name)
	case c.Title == "":
		return errors.New("title: missing; want a line that says what is wrong")
	case c.Cause == "":
		return errors.New("cause: missing; want what is truly wrong, in words")
	case c.Finding != "" && !caseName.MatchString(c.Finding):
		return fmt.Errorf("finding: %q: want the name of a finding, such as random-loss", c.Finding)
	case len(c.Steps) == 0 && c.Skip == "":
		return errors.New("steps: none; want at least one, or skip: and why it cannot be played")
	}
	if i := slices.Index(c.Needs, ""); i >= 0 {
		return fmt.Errorf("needs: number %d is empty; want the name of a program", i+1)
	}
	if err := c.Lab.Validate(); err != nil {
		return fmt.Errorf("lab: %w", errors.New(document.Placed(err).Problem))
	}
	return nil
}

// validate reports a step that is none, or several.
func (s *Step) validate() error {
	set := 0
	parts := []bool{s.Set != nil, s.Exec != nil, s.Measure != nil, s.Diagnose != nil, s.Wait != nil, s.Stop != nil, s.Expect != nil}
	for _, there := range parts {
		if there {
			set++
		}
	}
	if set != 1 {
		return fmt.Errorf("a step of %d parts; want one of set, exec, measure, diagnose, wait, stop and expect", set)
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
		return errors.New("want between: and two nodes, host: and sysctl:, or route: to be there")
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

// documentName is what a program may be called in expectations.
var documentName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]*$`)

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
