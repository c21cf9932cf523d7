package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// check holds a value against what is right for it.
func (e *Expect) check(v any) (string, error) {
	ok := false
	switch v := v.(type) {
	case float64:
		ok = e.fits(v)
	case string:
		ok = e.fitsText(v)
	case bool:
		ok = e.Equal != nil && e.Equal.text == strconv.FormatBool(v)
	case []any:
		has := func(s *string) bool {
			return slices.ContainsFunc(v, func(one any) bool { return fmt.Sprint(one) == *s })
		}
		ok = (e.Contains != nil || e.Lacks != nil) && (e.Contains == nil || has(e.Contains)) && (e.Lacks == nil || !has(e.Lacks))
	}
	seen := e.seen(v) + ", wanted " + e.wanted()
	if !ok {
		return "", errors.New(seen)
	}
	return seen, nil
}

// seen prints a value: a number in the unit of the bounds.
func (e *Expect) seen(v any) string {
	switch v := v.(type) {
	case float64:
		return e.unit().format(v)
	case bool:
		return strconv.FormatBool(v)
	}
	return short(fmt.Sprint(v))
}

// fits holds a number against the bounds.
func (e *Expect) fits(v float64) bool {
	return (e.Above == nil || v > e.Above.number) && (e.Below == nil || v < e.Below.number) &&
		(e.Near == nil || math.Abs(v-e.Near.number) <= e.Within.number*math.Abs(e.Near.number)) &&
		(e.Equal == nil || e.Equal.isNumber && v == e.Equal.number) && e.Contains == nil && e.Lacks == nil && e.Verdict == ""
}

func (e *Expect) fitsText(v string) bool {
	return e.Above == nil && e.Below == nil && e.Near == nil && (e.Equal == nil || v == e.Equal.text) &&
		(e.Verdict == "" || v == e.Verdict) &&
		(e.Contains == nil || strings.Contains(v, *e.Contains)) && (e.Lacks == nil || !strings.Contains(v, *e.Lacks))
}

// unit returns the unit of the first bound that has one.
func (e *Expect) unit() unit {
	for _, b := range []*Bound{e.Near, e.Above, e.Below, e.Equal} {
		if b != nil && b.unit != noUnit {
			return b.unit
		}
	}
	return noUnit
}

// wanted says what is right.
func (e *Expect) wanted() string {
	var all []string
	add := func(word string, b *Bound) {
		if b != nil {
			text := b.text
			if b.isNumber {
				text = b.unit.format(b.number)
			}
			all = append(all, word+text)
		}
	}
	add("above ", e.Above)
	add("below ", e.Below)
	if e.Near != nil {
		add("", e.Near)
		add("to within ", e.Within)
	}
	add("", e.Equal)
	if e.Verdict != "" {
		all = append(all, e.Verdict)
	}
	if e.Contains != nil {
		all = append(all, strconv.Quote(*e.Contains)+" in it")
	}
	if e.Lacks != nil {
		all = append(all, "no "+strconv.Quote(*e.Lacks)+" in it")
	}
	return strings.Join(all, " and ")
}

// short keeps a text readable in a report of one line.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 120 {
		text = text[:120] + "…"
	}
	return strconv.Quote(text)
}

// expect looks whether something is so, says what was seen, and shows it where the case wants that.
func (p *play) expect(e *Expect, shown **Figure) (string, error) {
	if e.Figure != "" {
		*shown = &Figure{Name: e.Figure, Reference: e.Reference}
	}
	v, err := p.valueOf(e)
	if err == nil && e.Over != "" {
		v, err = p.divided(v, e)
	}
	if err == nil && *shown != nil {
		(*shown).Value, (*shown).Ours = v, strings.Trim(e.seen(v), `"`)
	}
	if e.Present != nil && (err == nil || errors.Is(err, errNoValue)) {
		if *e.Present == (err == nil) {
			return fmt.Sprint("present: ", err == nil), nil
		}
		return "", fmt.Errorf("present: %v, wanted %v", err == nil, *e.Present)
	}
	if err != nil {
		return "", err
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
	text := cmp.Or(e.OverValue, e.Value)
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
