package scenario

import (
	"errors"
	"fmt"
)

// expect looks whether something is so, and says what was seen.
func (p *play) expect(e *Expect) (string, error) {
	v, err := p.valueOf(e)
	if e.Present != nil && (err == nil || errors.Is(err, errNoValue)) {
		if *e.Present == (err == nil) {
			return fmt.Sprint("present: ", err == nil), nil
		}
		return "", fmt.Errorf("present: %v, wanted %v", err == nil, *e.Present)
	}
	if err != nil {
		return "", err
	}
	if e.Over != "" {
		if v, err = p.divided(v, e); err != nil {
			return "", err
		}
	}
	return e.check(v)
}

func (p *play) valueOf(e *Expect) (any, error) {
	text := e.Value
	if e.Verdict != "" {
		text = "verdict"
	}
	way, err := parsePath(text)
	if err != nil {
		return nil, err
	}
	if e.Of == truthName {
		return p.truthValue(e, way)
	}
	return p.programs[e.Of].value(way)
}

// divided divides a value by that of another document.
func (p *play) divided(v any, e *Expect) (any, error) {
	text := e.OverValue
	if text == "" {
		text = e.Value
	}
	way, err := parsePath(text)
	if err != nil {
		return nil, err
	}
	below, err := p.programs[e.Over].value(way)
	if err != nil {
		return nil, fmt.Errorf("over %s: %w", e.Over, err)
	}
	a, ok := v.(float64)
	b, also := below.(float64)
	if !ok || !also || b == 0 {
		return nil, fmt.Errorf("%v over %v is no number", v, below)
	}
	return a / b, nil
}
