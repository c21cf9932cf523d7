package scenario

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/pathwise-net/pathwise/lab"
)

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
		if a, b := l.Ends(); a == from && b == to {
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
	owner := state.NodeNames()
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
