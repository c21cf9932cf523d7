package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/lab"
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

// check holds a value against what is right for it.
func (e *Expect) check(v any) (string, error) {
	var seen string
	ok := true
	switch v := v.(type) {
	case float64:
		seen, ok = e.unit().format(v), e.fits(v)
	case string:
		seen, ok = short(v), e.fitsText(v)
	case bool:
		seen, ok = strconv.FormatBool(v), e.Equal != nil && e.Equal.text == strconv.FormatBool(v)
	case []any:
		text, list := fmt.Sprint(v), v
		seen = short(text)
		has := func(s *string) bool {
			for _, one := range list {
				if fmt.Sprint(one) == *s {
					return true
				}
			}
			return false
		}
		ok = (e.Contains != nil || e.Lacks != nil) && (e.Contains == nil || has(e.Contains)) && (e.Lacks == nil || !has(e.Lacks))
	default:
		seen, ok = short(fmt.Sprint(v)), false
	}
	seen += ", wanted " + e.wanted()
	if !ok {
		return "", errors.New(seen)
	}
	return seen, nil
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

// unit is that of the first bound that has one.
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

// truthValue finds a value in what the lab did by now.
func (p *play) truthValue(e *Expect, way path) (any, error) {
	window := lab.Window{}
	if e.Since != "" {
		window.From = max(p.programs[e.Since].since, 1e-9) // 0 would be the beginning, and To is now
	}
	truth, err := p.lab.TruthOf(window)
	if err != nil {
		return nil, err
	}
	var part any = truth
	switch {
	case e.Link != nil:
		part, err = linkOf(truth, e.Link, e.Way == "reverse")
	case e.Flow != "":
		part, err = p.flowOf(truth, e.Flow)
	case e.Router != "":
		part, err = routerOf(truth, e.Router)
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(part)
	if err != nil {
		return nil, fmt.Errorf("write truth: %w", err)
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("read truth: %w", err)
	}
	return way.in(document)
}

// linkOf is one way of the link between two nodes; a list of them where there are parallel links.
func linkOf(t *lab.Truth, between []string, back bool) (any, error) {
	from, to := between[0], between[1]
	if back {
		from, to = to, from
	}
	var all []lab.LinkTruth
	for _, l := range t.Links {
		a, b := l.Between[0], l.Between[1]
		if l.Direction == "reverse" {
			a, b = b, a
		}
		if a == from && b == to {
			all = append(all, l)
		}
	}
	switch len(all) {
	case 0:
		return nil, fmt.Errorf("%w: no link joins %s and %s", errNoValue, from, to)
	case 1:
		return all[0], nil
	}
	return all, nil
}

// flowOf is the flow with the most packets among those that a text such as "tcp a > b:5201" fits.
func (p *play) flowOf(t *lab.Truth, text string) (any, error) {
	state, err := p.lab.State()
	if err != nil {
		return nil, err
	}
	owner := map[string]string{}
	for _, n := range state.Nodes {
		for _, address := range n.Addresses {
			owner[address] = n.Name
		}
	}
	want := flowName.FindStringSubmatch(text)
	best := -1
	for i, f := range t.Flows {
		fits := f.Protocol == want[1] && owner[f.Source] == want[2] && owner[f.Target] == want[4] &&
			(want[3] == "" || want[3] == strconv.Itoa(int(f.SourcePort))) && (want[5] == "" || want[5] == strconv.Itoa(int(f.TargetPort)))
		if fits && (best < 0 || f.Packets > t.Flows[best].Packets) {
			best = i
		}
	}
	if best < 0 {
		return nil, fmt.Errorf("%w: no packet of %s", errNoValue, text)
	}
	return t.Flows[best], nil
}

func routerOf(t *lab.Truth, name string) (any, error) {
	for _, r := range t.Routers {
		if r.Name == name {
			return r, nil
		}
	}
	return nil, fmt.Errorf("%w: router %s only routes", errNoValue, name)
}
