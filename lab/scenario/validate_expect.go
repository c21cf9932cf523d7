package scenario

import (
	"errors"
	"fmt"
	"regexp"
)

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
	} else if e.Value == "" {
		return errors.New("value: missing; want a way into the document, such as metrics.loss_ratio")
	}
	for _, way := range []string{e.Value, e.OverValue} {
		if _, err := parsePath(way); way != "" && err != nil {
			return fmt.Errorf("value: %w", err)
		}
	}
	if e.Reference != "" && e.Figure == "" {
		return errors.New("reference: is of a figure; want figure: and what the value is, in words")
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
	some := e.Verdict != "" || e.Above != nil || e.Below != nil || e.Near != nil || e.Within != nil || e.Equal != nil ||
		e.Contains != nil || e.Lacks != nil
	switch {
	case some && e.Present != nil:
		return errors.New("present: stands alone; other bounds imply it")
	case !some && e.Present == nil:
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
